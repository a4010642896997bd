//! Units taken in advance by two threads, spent, and given back.

use std::sync::Arc;
use std::time::Duration;

use loom_tests::{Bounds, explore_orders, run_threads};
use tollgate::{DirectLimiter, ManualClock, Quota};

/// In the middle of a window of sixteen seconds.
const NOW: u64 = 24 * SECOND;
const SECOND: u64 = 1_000_000_000;
const LIMIT: u64 = 12;

const TWO: Bounds = Bounds { counted: Some(4), free: None, strong: Some(4) };
const THREE: Bounds = Bounds { counted: Some(2), free: Some(3), strong: Some(3) };

/// Each thread asks its own lease this often for one unit, and then ends it. Whatever the order, what is taken in the end is what
/// was spent, and nobody is refused while so much is left that holders cannot have it all.
fn run(name: &str, algorithm: &'static str, checks: &'static [usize], bounds: Bounds) {
    explore_orders(name, checks.len(), bounds.now(), move |order| {
        let quota = match algorithm {
            "gcra" => Quota::per_second(1).burst(LIMIT),
            _ => Quota::new(LIMIT, Duration::from_secs(16)),
        };
        let builder = DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0));
        let limiter = Arc::new(builder.build().expect("a valid quota"));
        let spent =
            run_threads(order, &Arc::new((Arc::clone(&limiter), checks)), |(limiter, checks), thread| {
                let mut lease = limiter.lease_n(3);
                let spent: u64 = (0..checks[thread]).map(|_| lease.check_n_at(1, NOW).taken()).sum();
                lease.end_at(NOW);
                spent
            });
        let asked: usize = checks.iter().sum();
        let total: u64 = spent.iter().sum();
        assert_eq!(total, (asked as u64).min(LIMIT), "{spent:?}");
        assert_eq!(limiter.peek_at(NOW).remaining(), LIMIT - total, "{spent:?}");
    });
}

#[test]
fn two_holders_spend_and_return() {
    run("two_holders_spend_and_return, gcra", "gcra", &[2, 4], TWO);
}

#[test]
fn two_holders_in_a_window() {
    run("two_holders_in_a_window", "fixed_window", &[2, 4], TWO);
}

#[test]
fn a_holder_and_two_who_return_at_once() {
    run("a_holder_and_two_who_return_at_once", "gcra", &[2, 1, 1], THREE);
}
