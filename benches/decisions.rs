//! One decision at a time, one thread: what a check costs, and what it is made of.
//!
//! `cargo bench` measures; `cargo bench -- --test` runs each once.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tollgate::{Clock, DirectLimiter, Limiter, ManualClock, Quota, StdClock, TscClock};

/// Never denied within a run: the cost of an admission, which writes.
const AMPLE: Quota = Quota::per_second(1_000_000_000);

/// The same for many keys, each of which stays in use: a key that is idle at once gives its place to the next.
const LASTING: Quota = Quota::new(1, Duration::from_secs(100)).burst(10_000_000);

/// Denied from the second call on: the cost of a refusal, which only reads.
const SCARCE: Quota = Quota::per_day(1);

fn clocks(c: &mut Criterion) {
    let mut group = c.benchmark_group("clock");
    let (tsc, std) = (TscClock::new(), StdClock::new());
    group.bench_function("tsc", |b| b.iter(|| tsc.now_ns()));
    group.bench_function("std", |b| b.iter(|| std.now_ns()));
    group.finish();
}

fn direct(c: &mut Criterion) {
    let mut group = c.benchmark_group("direct");
    let ample = DirectLimiter::new(AMPLE).unwrap();
    group.bench_function("admit", |b| b.iter(|| ample.check()));
    let mut lease = ample.lease();
    group.bench_function("admit, leased", |b| b.iter(|| lease.check()));
    let scarce = DirectLimiter::new(SCARCE).unwrap();
    group.bench_function("deny", |b| b.iter(|| scarce.check()));
    let mut lease = scarce.lease();
    group.bench_function("deny, leased", |b| b.iter(|| lease.check()));
    group.finish();
}

/// `check_at`, so that the clock is left out.
fn algorithms(c: &mut Criterion) {
    let mut group = c.benchmark_group("algorithm");
    // Seven in a second do not divide it: the arithmetic without shortcuts.
    for (name, quota) in [
        ("gcra", Quota::per_second(1_000)),
        ("gcra", Quota::per_second(7)),
        ("fixed_window", Quota::per_second(1_000)),
        ("sliding_window_counter", Quota::per_second(1_000)),
    ] {
        let limiter =
            DirectLimiter::builder(quota).algorithm(name).clock(ManualClock::new(0)).build().unwrap();
        let mut now_ns = 0;
        let step_ns = 1_100_000_000 / quota.rate().map_or(1, |rate| rate.limit());
        group.bench_function(BenchmarkId::new(name, quota), |b| {
            b.iter(|| {
                now_ns += step_ns;
                limiter.check_at(black_box(now_ns))
            });
        });
    }
    group.finish();
}

/// A log that is full, at a steady rate: each admission finds one unit expired; and what a refusal of much costs.
fn log(c: &mut Criterion) {
    let mut group = c.benchmark_group("sliding_window_log");
    for limit in [1_u64, 10, 1_000, 100_000, 1_000_000] {
        let step_ns = 1_000;
        let quota = Quota::new(limit, Duration::from_nanos(limit * step_ns));
        let limiter = DirectLimiter::builder(quota)
            .algorithm("sliding_window_log")
            .clock(ManualClock::new(0))
            .build()
            .unwrap();
        let mut now_ns = 0;
        let mut admit = || {
            now_ns += step_ns;
            (limiter.check_at(black_box(now_ns)), now_ns)
        };
        for _ in 0..2 * limit {
            assert!(admit().0.is_allowed());
        }
        group.bench_function(BenchmarkId::new("admit", limit), |b| b.iter(&mut admit));
        let (_, now_ns) = admit();
        for (name, cost) in [("deny 1 of", 1), ("deny half of", limit.div_ceil(2)), ("deny all of", limit)] {
            group.bench_function(BenchmarkId::new(name, limit), |b| {
                b.iter(|| limiter.check_n_at(black_box(cost), black_box(now_ns)));
            });
        }
    }
    group.finish();
}

fn keyed(c: &mut Criterion) {
    let mut group = c.benchmark_group("keyed");
    for keys in [1_u64, 1_000, 1_000_000] {
        let ample = if keys == 1 { AMPLE } else { LASTING };
        let limiter = Limiter::<u64>::builder(ample).capacity(1_000_000).build().unwrap();
        let mut next = sequence(keys);
        group.bench_function(BenchmarkId::new("admit", keys), |b| b.iter(|| limiter.check(&next())));
        let mut decisions = Vec::with_capacity(BATCH);
        group.bench_function(BenchmarkId::new("admit 32 at once", keys), |b| {
            b.iter(|| {
                let batch: [u64; BATCH] = std::array::from_fn(|_| next());
                decisions.clear();
                limiter.check_many(&batch, &mut decisions);
                black_box(&decisions).len()
            });
        });
        let limiter = Limiter::<u64>::builder(SCARCE).capacity(1_000_000).build().unwrap();
        let mut next = sequence(keys);
        group.bench_function(BenchmarkId::new("deny", keys), |b| b.iter(|| limiter.check(&next())));
    }
    let limiter = Limiter::<u64>::builder(LASTING).build().unwrap();
    let mut next = sequence(1_000);
    let mut now_ns = 0;
    group.bench_function("admit_at/1000", |b| {
        b.iter(|| {
            now_ns += 20;
            limiter.check_at(&next(), now_ns)
        });
    });
    group.finish();
}

const BATCH: usize = 32;

/// Keys in an order that no prefetcher guesses.
fn sequence(keys: u64) -> impl FnMut() -> u64 {
    let mut state = 0_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % keys
    }
}

criterion_group!(benches, clocks, direct, algorithms, log, keyed);
criterion_main!(benches);
