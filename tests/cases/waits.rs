//! cases.md, "Waits".

use std::time::Duration;

use super::oracle::{ALL, ARRIVAL, Dice};
use super::{MS, S, direct};

#[test]
fn one_a_second_asked_after_200_ms() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, "1/s burst 1");
        assert!(limiter.check_at(0).is_allowed());
        assert_eq!(limiter.check_at(200 * MS).retry_after(), Duration::from_millis(800), "{algorithm}");
    }
    for algorithm in ["fixed_window", "sliding_window_log"] {
        let limiter = direct(algorithm, "1/s");
        assert!(limiter.check_at(0).is_allowed());
        assert_eq!(limiter.check_at(200 * MS).retry_after(), Duration::from_millis(800), "{algorithm}");
    }
}

#[test]
fn a_log_waits_for_its_oldest_unit() {
    let limiter = direct("sliding_window_log", "2/min");
    assert!(limiter.check_at(0).is_allowed());
    assert!(limiter.check_at(10 * S).is_allowed());
    let denied = limiter.check_at(20 * S);
    assert_eq!(denied.retry_after(), Duration::from_secs(40));
    assert_eq!(denied.reset_after(), Duration::from_secs(50));
    assert_eq!(limiter.check_n_at(2, 20 * S).retry_after(), Duration::from_secs(50));
}

#[test]
fn a_counter_waits_until_the_window_before_has_faded() {
    let limiter = direct("sliding_window_counter", "60/60s");
    assert!(limiter.check_n_at(60, 59 * S).is_allowed());
    assert!(limiter.check_n_at(12, 72 * S).is_allowed());
    assert_eq!(limiter.check_at(72 * S).retry_after(), Duration::from_secs(1));
}

#[test]
fn a_counter_asked_at_the_boundary() {
    let limiter = direct("sliding_window_counter", "10/2s");
    assert!(limiter.check_n_at(10, 2 * S - 1).is_allowed());
    assert_eq!(limiter.check_at(2 * S).retry_after(), Duration::from_millis(200));
}

#[test]
fn a_fixed_window_waits_for_the_next_one() {
    let limiter = direct("fixed_window", "2/20s");
    assert!(limiter.check_n_at(2, 0).is_allowed());
    assert_eq!(limiter.check_at(19 * S).retry_after(), Duration::from_secs(1));
}

#[test]
fn seven_a_second_sleeping_exactly_the_wait() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "7/s");
        assert!(limiter.check_n_at(7, 0).is_allowed());
        let mut now_ns = 0;
        for call in 0..1_000 {
            let wait_ns = limiter.check_at(now_ns).retry_after().as_nanos() as u64;
            if wait_ns > 0 {
                // A window lets several calls pass at once; each that has to wait waits exactly.
                assert!(limiter.check_at(now_ns + wait_ns - 1).is_denied(), "{algorithm} {call}");
                now_ns += wait_ns;
                assert!(limiter.check_at(now_ns).is_allowed(), "{algorithm} {call}");
            } else {
                assert!(!ARRIVAL.contains(&algorithm), "{algorithm} {call} did not wait");
            }
        }
    }
}

/// No wait is longer than what the quota can need: a full burst for a bucket, what is left of one window and the next
/// for windows.
#[test]
fn a_denied_call_waits_no_longer_than_the_quota_can_need() {
    let mut dice = Dice::new(5);
    for algorithm in ALL {
        for (quota, most_ns) in [("10/s", S), ("7/min", 60 * S), ("1/250ms", 250 * MS), ("29/h", 3_600 * S)] {
            let limiter = direct(algorithm, quota);
            let most_ns = if algorithm == "sliding_window_counter" { 2 * most_ns } else { most_ns };
            let mut denied = 0;
            let mut now_ns = 0;
            for _ in 0..2_000 {
                // Forward mostly, sometimes far back.
                now_ns = match dice.below(50) {
                    0 => dice.below(3_600 * S),
                    _ => now_ns + dice.below(most_ns / 10),
                };
                let decision = limiter.check_n_at(1 + dice.below(3), now_ns);
                if decision.verdict() == tollgate::Verdict::Denied {
                    let wait_ns = decision.retry_after().as_nanos() as u64;
                    assert!(wait_ns > 0 && wait_ns <= most_ns, "{algorithm} {quota}: {wait_ns}");
                    denied += 1;
                }
            }
            assert!(denied > 100, "{algorithm} {quota}: only {denied} were denied");
        }
    }
}
