//! Several rules at once, one thread: what a check costs beside those of a limiter alone.
//!
//! `cargo bench --bench limits` measures; `cargo bench --bench limits -- --test` runs each once.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tollgate::{DirectLimiter, Limiter, Limits, ManualClock, Quota, Rule};

/// Never denied within a run.
const AMPLE: Quota = Quota::per_second(1_000_000_000);

/// Denied from the second call on.
const SCARCE: Quota = Quota::per_day(1);

const KEYS: u64 = 1_000;

type Rules = Limits<u64, ManualClock>;

/// So many rules by key, all but the last ample.
fn by_key(rules: usize, last: Quota) -> Rules {
    let quota = |index| if index + 1 == rules { last } else { AMPLE };
    let rule = |index: usize| Rule::new(&index.to_string(), quota(index), |key: &u64| Some(*key));
    (0..rules)
        .fold(Limits::builder().clock(ManualClock::new(0)), |all, index| all.rule(rule(index)))
        .build()
        .unwrap()
}

fn checks(c: &mut Criterion) {
    let mut group = c.benchmark_group("limits");
    for (what, quota) in [("admit", AMPLE), ("deny", SCARCE)] {
        let limiter = Limiter::<u64>::builder(quota).build().unwrap();
        let (mut next, mut now_ns) = (sequence(), 0);
        group.bench_function(BenchmarkId::new(what, "a limiter"), |b| {
            b.iter(|| {
                now_ns += 20;
                limiter.check_at(&next(), now_ns)
            });
        });
        for rules in [1, 2, 3, 8] {
            let limits = by_key(rules, quota);
            let (mut next, mut now_ns) = (sequence(), 0);
            group.bench_function(BenchmarkId::new(what, format!("{rules} rules")), |b| {
                b.iter(|| {
                    now_ns += 20;
                    limits.check_at(&next(), now_ns)
                });
            });
        }
    }
    group.finish();
}

/// Two quotas on one key: two words in two steps, which is the least that a check of both can do, and one word.
fn words(c: &mut Criterion) {
    let mut group = c.benchmark_group("words");
    let one = DirectLimiter::new(AMPLE).unwrap();
    let two = DirectLimiter::new(AMPLE).unwrap();
    let mut now_ns = 0;
    group.bench_function("one", |b| {
        b.iter(|| {
            now_ns += 20;
            one.check_at(now_ns)
        });
    });
    group.bench_function("two", |b| {
        b.iter(|| {
            now_ns += 20;
            (one.check_at(now_ns), two.check_at(now_ns))
        });
    });
    group.finish();
}

/// Keys in an order that no prefetcher guesses.
fn sequence() -> impl FnMut() -> u64 {
    let mut state = 0_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % KEYS
    }
}

criterion_group!(benches, checks, words);
criterion_main!(benches);
