//! Decisions to be counted by the instruction, which `scripts/instructions` does under valgrind.
//!
//! `instructions MODE COUNT` makes so many of them. What only the first one takes, such as a place for its key, drops out
//! of the difference of two counts. Keys are hashed alike in every run.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use ahash::RandomState;
use tollgate::{DirectLimiter, Limiter, LimiterBuilder, ManualClock, Quota};

/// Never denied.
const AMPLE: Quota = Quota::per_second(1_000_000_000);
/// Denied from the second call on.
const SCARCE: Quota = Quota::per_day(1);

const STEP_NS: u64 = 1_000;
const KEY: u64 = 42;
const BATCH: usize = 32;
/// Units in a log.
const LOGGED: u64 = 10;

/// Makes so many decisions.
type Mode = fn(u64);

const MODES: [(&str, Mode); 5] =
    [("check", check), ("denied", denied), ("direct", direct), ("batch", batch), ("log", log)];

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).collect();
    // From cargo, which adds options of its own: that everything runs.
    if args.iter().any(|arg| arg.starts_with("--")) {
        MODES.iter().for_each(|(_, run)| run(BATCH as u64));
        println!("scripts/instructions counts the instructions of these decisions");
        return ExitCode::SUCCESS;
    }
    let mode = |name: &str| MODES.iter().find(|(mode, _)| *mode == name);
    let asked = match &args[..] {
        [name, count] => mode(name).zip(count.parse().ok()),
        _ => None,
    };
    let Some(((_, run), count)) = asked else {
        eprintln!("usage: instructions {} COUNT", MODES.map(|(name, _)| name).join("|"));
        return ExitCode::from(2);
    };
    run(count);
    ExitCode::SUCCESS
}

/// The loop. `scripts/instructions` collects in this function only: what comes before it reads clocks until they agree.
#[inline(never)]
fn counted(count: u64, mut decide: impl FnMut(u64)) {
    for step in 1..=count {
        decide(black_box(step * STEP_NS));
    }
}

fn builder(quota: Quota) -> LimiterBuilder<u64, ManualClock, RandomState> {
    let hasher = RandomState::with_seeds(1, 2, 3, 4);
    Limiter::<u64>::builder(quota).capacity(1_000).clock(ManualClock::new(0)).hasher(hasher)
}

fn check(count: u64) {
    let limiter = builder(AMPLE).build().unwrap();
    counted(count, |now_ns| assert!(limiter.check_at(black_box(&KEY), now_ns).is_allowed()));
}

fn denied(count: u64) {
    let limiter = builder(SCARCE).build().unwrap();
    assert!(limiter.check_at(&KEY, 0).is_allowed());
    counted(count, |now_ns| assert!(limiter.check_at(black_box(&KEY), now_ns).is_denied()));
}

fn direct(count: u64) {
    let limiter = DirectLimiter::builder(AMPLE).clock(ManualClock::new(0)).build().unwrap();
    counted(count, |now_ns| assert!(limiter.check_at(now_ns).is_allowed()));
}

/// Different keys, in whole batches.
fn batch(count: u64) {
    let keys: [u64; BATCH] = std::array::from_fn(|n| n as u64);
    let limiter = builder(AMPLE).build().unwrap();
    let mut decisions = Vec::with_capacity(BATCH);
    counted(count / BATCH as u64, |now_ns| {
        decisions.clear();
        limiter.check_many_at(black_box(&keys), now_ns, &mut decisions);
        assert!(black_box(&decisions).iter().all(|decision| decision.is_allowed()));
    });
}

/// A full log, in which one unit expires at each step.
fn log(count: u64) {
    let quota = Quota::new(LOGGED, Duration::from_nanos(LOGGED * STEP_NS));
    let limiter = builder(quota).algorithm("sliding_window_log").build_map().unwrap();
    counted(count, |now_ns| assert!(limiter.check_at(black_box(&KEY), now_ns).is_allowed()));
}
