//! The exact log at the public face: what a user is told of it, line by line.

use std::time::Duration;

use tollgate::algorithm::{self, Settings};
use tollgate::{BuildError, DirectLimiter, Limiter, MAX_PERIOD, ManualClock, Quota, Verdict};

const S: u64 = 1_000_000_000;
const LOG: &str = "sliding_window_log";

fn direct(quota: &str) -> DirectLimiter<ManualClock> {
    let quota: Quota = quota.parse().unwrap();
    DirectLimiter::builder(quota).algorithm(LOG).clock(ManualClock::new(0)).build().unwrap()
}

fn refused(quota: Quota) -> BuildError {
    DirectLimiter::builder(quota).algorithm(LOG).build().unwrap_err()
}

fn left(limiter: &DirectLimiter<ManualClock>, now_ns: u64) -> u64 {
    limiter.peek_at(now_ns).remaining()
}

#[test]
fn a_unit_counts_for_exactly_one_window() {
    let limiter = direct("3/10s");
    for at_ns in [5 * S, 6 * S, 6 * S] {
        assert_eq!(limiter.check_at(at_ns).reset_after(), Duration::from_secs(10));
    }
    let denied = limiter.check_at(7 * S);
    assert_eq!((denied.retry_after().as_secs(), denied.reset_after().as_secs()), (8, 9));
    assert_eq!(limiter.check_n_at(2, 7 * S).retry_after().as_secs(), 9);
    assert_eq!((left(&limiter, 15 * S - 1), left(&limiter, 15 * S)), (0, 1));
    assert_eq!((left(&limiter, 16 * S - 1), left(&limiter, 16 * S)), (1, 3));
}

#[test]
fn an_early_call_is_read_at_the_newest_admission() {
    let limiter = direct("2/10s");
    assert!(limiter.check_at(100 * S).is_allowed());
    assert_eq!(limiter.check_at(3 * S).reset_after(), Duration::from_secs(10));
    // Both were taken at 100 s, and whoever asks earlier waits as long as somebody who asks then.
    assert_eq!(limiter.check_at(0).retry_after(), Duration::from_secs(10));
    assert_eq!((left(&limiter, 110 * S - 1), left(&limiter, 110 * S)), (0, 2));
    // A call that takes nothing is no admission.
    assert!(limiter.check_n_at(3, 500 * S).is_denied());
    assert!(limiter.peek_n_at(1, 500 * S).is_allowed());
    assert_eq!(left(&limiter, 105 * S), 0);
}

#[test]
fn a_refund_gives_back_the_newest_that_count() {
    let limiter = direct("10/10s");
    for (units, at_ns) in [(4, 0), (3, 2 * S), (2, 4 * S)] {
        assert!(limiter.check_n_at(units, at_ns).is_allowed());
    }
    limiter.refund_at(3, 5 * S);
    // Two of four seconds and one of two are gone: four of the first and two of the second are left.
    assert_eq!(left(&limiter, 5 * S), 4);
    assert_eq!((left(&limiter, 10 * S), left(&limiter, 12 * S)), (8, 10));
    // The four have expired, and there are only two to give back.
    limiter.refund_at(100, 11 * S);
    assert_eq!((left(&limiter, 11 * S), left(&limiter, 5 * S)), (10, 6));
}

#[test]
fn a_reset_keeps_the_time() {
    let limiter = direct("10/10s");
    assert!(limiter.check_n_at(10, 100 * S).is_allowed());
    limiter.reset_at(50 * S);
    assert_eq!(left(&limiter, 100 * S), 10);
    // Taken at 100 s, whatever it says.
    assert!(limiter.check_n_at(10, 50 * S).is_allowed());
    assert_eq!((left(&limiter, 110 * S - 1), left(&limiter, 110 * S)), (0, 10));
    // When nothing counts any more there is nothing to forget.
    limiter.reset_at(110 * S);
    assert_eq!(left(&limiter, 109 * S), 0);
}

#[test]
fn what_does_not_fit_is_not_reserved() {
    let limiter = direct("10/10s");
    let eight = limiter.reserve_at(8, S).unwrap();
    assert!(eight.wait().is_zero());
    let refusal = limiter.reserve_at(3, 2 * S).unwrap_err();
    assert_eq!((refusal.verdict(), refusal.retry_after().as_secs()), (Verdict::Denied, 9));
    assert_eq!(limiter.reserve_at(11, 2 * S).unwrap_err().verdict(), Verdict::NeverFits);
    eight.commit_at(5, 3 * S);
    assert_eq!(left(&limiter, 3 * S), 5);
    // What is given back is gone from where it was taken.
    assert_eq!((left(&limiter, 11 * S - 1), left(&limiter, 11 * S)), (5, 10));
}

/// Overlapping, in any order, with calls of the same time and others in between: exactly the own units come back.
#[test]
fn each_reservation_gives_back_its_own() {
    let limiter = direct("100/10s");
    let first = limiter.reserve_at(10, S).unwrap();
    assert!(limiter.check_n_at(5, S).is_allowed());
    let second = limiter.reserve_at(20, S).unwrap();
    let third = limiter.reserve_at(30, 2 * S).unwrap();
    assert!(limiter.check_n_at(7, 3 * S).is_allowed());
    second.cancel_at(4 * S);
    assert_eq!(left(&limiter, 4 * S), 48);
    third.commit_at(1, 4 * S);
    assert_eq!(left(&limiter, 4 * S), 77);
    // At eleven seconds what was taken at one has expired.
    assert_eq!(left(&limiter, 11 * S), 92);
    first.cancel_at(11 * S);
    assert_eq!(left(&limiter, 11 * S), 92);
}

/// Excess counts from its commit, up to twice the limit in all, and a peek of nothing is allowed all the same.
#[test]
fn work_beyond_what_was_held_is_owed() {
    let limiter = direct("10/10s");
    limiter.reserve_at(6, 0).unwrap().commit_at(13, S);
    let denied = limiter.check_at(S);
    assert_eq!((denied.remaining(), denied.retry_after().as_secs()), (0, 9));
    assert_eq!(left(&limiter, 10 * S), 3);
    limiter.reserve_at(2, 10 * S).unwrap().commit_at(u64::MAX, 10 * S);
    let nothing = limiter.check_n_at(0, 10 * S);
    assert_eq!((nothing.verdict(), nothing.remaining()), (Verdict::Allowed, 0));
    // Seven of the first commit, and what makes twenty with them.
    assert_eq!(limiter.check_at(11 * S).retry_after().as_secs(), 9);
    limiter.refund_at(13, 11 * S);
    assert_eq!(left(&limiter, 11 * S), 10);
}

#[test]
fn plans_share_the_units_and_the_window() {
    let limiter = direct("10/min");
    let paid = limiter.plan("1000/min".parse().unwrap()).unwrap();
    assert_eq!(limiter.check_n_with_at(500, &paid, 0).remaining(), 500);
    let denied = limiter.check_at(S);
    assert_eq!((denied.limit(), denied.remaining(), denied.retry_after().as_secs()), (10, 0, 59));
    assert_eq!(limiter.check_n_at(500, S).verdict(), Verdict::NeverFits);
    limiter.refund_with_at(495, &paid, S);
    assert_eq!(left(&limiter, S), 5);
}

/// An entry of ten years has a bit for its units: a call of many takes as many words, and all are one call.
#[test]
fn a_weighted_call_in_ten_years() {
    let decade_ns = MAX_PERIOD.as_nanos() as u64;
    let limiter = direct(&format!("20000/{decade_ns}ns"));
    assert_eq!(limiter.check_n_at(5_000, 1).remaining(), 15_000);
    let held = limiter.reserve_at(9_000, 2).unwrap();
    assert_eq!(limiter.check_n_at(6_000, 3).remaining(), 0);
    limiter.refund_at(1_500, 4);
    held.commit_at(8_999, 4);
    assert_eq!(left(&limiter, 4), 1_500, "a refund may have been of what was held");
    let wait_ns = |cost| limiter.peek_n_at(cost, 4).retry_after().as_nanos() as u64;
    assert_eq!([6_500, 6_501, 15_500, 15_501].map(wait_ns), [3, 2, 2, 1].map(|by| decade_ns - by));
    assert_eq!(left(&limiter, decade_ns + 3), 20_000);
}

fn keyed(quota: &str) -> tollgate::LimiterBuilder<u64, ManualClock> {
    Limiter::<u64>::builder(quota.parse().unwrap()).algorithm(LOG).clock(ManualClock::new(0))
}

/// A map keeps keys with units that count, and those alone after an eviction.
#[test]
fn a_map_remembers_what_counts() {
    let map = keyed("5/10s").build_map().unwrap();
    assert!(map.peek_n_at(&1, 5, 0).is_allowed());
    assert!(map.check_n_at(&1, 0, 0).is_allowed());
    assert_eq!(map.check_n_at(&1, 6, 0).verdict(), Verdict::NeverFits);
    map.refund_at(&1, 1, 0);
    map.reset_at(&1, 0);
    assert_eq!((map.len_at(0), map.evict_idle_at(0)), (0, 0), "none of these stores a key");
    assert!(map.check_n_at(&1, 5, S).is_allowed());
    assert!(map.check_at(&2, 2 * S).is_allowed());
    map.refund_at(&2, 1, 2 * S);
    assert_eq!(map.len_at(2 * S), 1, "what was given back does not count");
    // At one second the key that was charged at two is not idle: an early call would be read at two.
    assert_eq!((map.len_at(S), map.evict_idle_at(S)), (2, 0));
    assert_eq!((map.evict_idle_at(11 * S - 1), map.evict_idle_at(11 * S)), (1, 1));
    assert_eq!(map.check_at(&1, S).remaining(), 4);
    // It starts no earlier than it was forgotten.
    assert_eq!(map.peek_n_at(&1, 5, 0).retry_after(), Duration::from_secs(10));
    assert_eq!(map.peek_n_at(&1, 5, 21 * S - 1).retry_after().as_nanos(), 1);
}

#[test]
fn a_table_keeps_no_logs() {
    let error = keyed("10/min").build().unwrap_err();
    assert_eq!(error, BuildError::LogInTable);
    assert_eq!(
        error.to_string(),
        "sliding_window_log keeps a log of each key, and a table has fixed memory: write build_map() instead of build()"
    );
    // What has no rate has no log.
    assert!(keyed("unlimited").build().is_ok());
    assert!(keyed("10/min").build_map().is_ok());
}

#[test]
fn a_log_is_no_word() {
    let error = algorithm::build(LOG, &Quota::per_second(1), &Settings::default()).unwrap_err();
    assert_eq!(error, BuildError::NoWord);
    assert_eq!(
        error.to_string(),
        "sliding_window_log keeps more than a word: write another algorithm, or build a limiter by its name"
    );
    assert!(algorithm::names().iter().any(|name| name == LOG));
}

#[test]
fn a_log_has_no_burst() {
    for error in [refused(Quota::per_second(5).burst(7)), refused_plan(Quota::per_minute(5).burst(7))] {
        assert_eq!(error, BuildError::BurstOnWindow { algorithm: LOG, burst: 7 });
        assert_eq!(
            error.to_string(),
            "sliding_window_log counts windows and has no burst: leave out burst 7, or use gcra"
        );
    }
}

#[test]
fn a_log_counts_up_to_sixteen_million() {
    let max = 1 << 24;
    for (error, period) in [
        (refused(Quota::per_second(max + 1)), Duration::from_secs(1)),
        (refused(Quota::new(max + 1, MAX_PERIOD)), MAX_PERIOD),
        (refused_plan(Quota::per_minute(max + 1)), Duration::from_secs(60)),
    ] {
        assert_eq!(error, BuildError::LimitTooLarge { algorithm: LOG, limit: max + 1, period, max });
        assert_eq!(
            error.to_string(),
            "limit 16777217 does not fit sliding_window_log with this period: write at most 16777216, or use gcra"
        );
    }
    let limiter = direct("16777216/s");
    assert_eq!(limiter.check_n_at(max - 1, 0).remaining(), 1);
    assert!(limiter.check_n_at(2, 0).is_denied());
    assert!(limiter.check_at(S - 1).is_allowed());
    assert_eq!(left(&limiter, S), max - 1);
}

#[test]
fn plans_of_a_log_have_its_period() {
    let error = refused_plan(Quota::per_hour(10));
    let (period, limiter_period) = (Duration::from_secs(3_600), Duration::from_secs(60));
    assert_eq!(error, BuildError::PlanPeriod { algorithm: LOG, period, limiter_period });
    assert_eq!(
        error.to_string(),
        "sliding_window_log keeps one period per limiter: write the plan's 3600s as a limit per 60s, or use gcra"
    );
    // The same length in other words is the same.
    assert!(direct("10/min").plan("5/60s".parse().unwrap()).is_ok());
}

fn refused_plan(quota: Quota) -> BuildError {
    direct("10/min").plan(quota).unwrap_err()
}
