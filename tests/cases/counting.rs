//! cases.md, "Counting".

use tollgate::Verdict;

use super::oracle::{ALL, ARRIVAL, NS_PER_S, model};
use super::{MS, S, US, allowed, at_once, direct};

/// For rows of millions of calls: the three names of arrival are one arithmetic, which other tests assert.
const ONE_OF_ARRIVAL: &str = "gcra";

#[test]
fn eight_then_five_then_one() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/min");
        assert!(limiter.check_n_at(8, S).is_allowed(), "{algorithm}");
        assert!(limiter.check_n_at(5, S).is_denied(), "{algorithm}");
        let last = limiter.check_at(S);
        assert!(last.is_allowed(), "{algorithm}");
        assert_eq!(last.remaining(), 1, "{algorithm}");
    }
}

#[test]
fn a_counter_recovers_every_window() {
    let limiter = direct("sliding_window_counter", "10/min");
    let mut expected = model("sliding_window_counter", 10, 60 * NS_PER_S, 10);
    for minute in 0..10 {
        let times_ns = (0..12).map(|call| (minute * 60 + call * 5) * S);
        let expected: u64 = times_ns.clone().map(|now_ns| expected.check(1, now_ns).taken).sum();
        let taken = allowed(&limiter, times_ns);
        assert_eq!(taken, expected, "minute {minute}");
        // Twelve are asked for, ten are the limit, and nobody who asks so evenly is locked out.
        assert!((8..=10).contains(&taken), "minute {minute}: {taken}");
    }
}

#[test]
fn the_cap_at_one_instant_and_not_one_more() {
    for rate in ["1/s", "10/s", "7/s", "1/h", "1000000000/s", "3/7ns"] {
        for algorithm in ARRIVAL {
            let limiter = direct(algorithm, &format!("{rate} burst 10"));
            assert_eq!(at_once(&limiter, 123_456_789, 100), 10, "{algorithm} {rate}");
            assert_eq!(at_once(&limiter, 1_000_000 * S, 100), 10, "{algorithm} {rate}");
        }
    }
    for algorithm in ALL {
        for quota in ["10/s", "10/min", "10/7s"] {
            let limiter = direct(algorithm, quota);
            assert_eq!(at_once(&limiter, 123_456_789, 100), 10, "{algorithm} {quota}");
            assert_eq!(at_once(&limiter, 1_000_000 * S, 100), 10, "{algorithm} {quota}");
        }
    }
}

#[test]
fn a_call_each_600_ms_passes_every_second_time() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, "1/s burst 1");
        let taken: Vec<_> = (0..10).map(|i| limiter.check_at(i * 600 * MS).taken()).collect();
        assert_eq!(taken, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0], "{algorithm}");
    }
}

#[test]
fn a_call_each_1900_ns_for_4_s() {
    for algorithm in [ONE_OF_ARRIVAL, "fixed_window", "sliding_window_log"] {
        let limiter = direct(algorithm, "1/s");
        let times_ns = (0..).map(|i| i * 1_900).take_while(|&now_ns| now_ns < 4 * S);
        assert_eq!(allowed(&limiter, times_ns), 4, "{algorithm}");
    }
}

#[test]
fn a_call_each_119_us_for_240_s() {
    for algorithm in [ONE_OF_ARRIVAL, "fixed_window", "sliding_window_log"] {
        let limiter = direct(algorithm, "1/min");
        let times_ns = (0..).map(|i| i * 119 * US).take_while(|&now_ns| now_ns < 240 * S);
        assert_eq!(allowed(&limiter, times_ns), 4, "{algorithm}");
    }
}

#[test]
fn a_cost_that_never_fits_leaves_the_state_alone() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "3/h");
        assert!(limiter.check_n_at(3, S).is_allowed());
        let before = limiter.peek_n_at(1, 2 * S);
        assert_eq!(limiter.check_n_at(4, 2 * S).verdict(), Verdict::NeverFits, "{algorithm}");
        assert_eq!(limiter.check_at(2 * S).verdict(), Verdict::Denied, "{algorithm}");
        assert_eq!(limiter.peek_n_at(1, 2 * S), before, "{algorithm}");
    }
}

#[test]
fn a_refund_gives_back_what_was_taken() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/s");
        assert!(limiter.check_n_at(7, 0).is_allowed());
        let denied = limiter.check_n_at(4, 0);
        limiter.refund_at(denied.taken(), 0);
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), 3, "{algorithm}");
        limiter.refund_at(100, 0);
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), 10, "{algorithm}");
        assert_eq!(at_once(&limiter, 0, 100), 10, "{algorithm}");
        // Full stays full.
        let full = direct(algorithm, "10/s");
        full.refund_at(1, 0);
        assert_eq!(at_once(&full, 0, 100), 10, "{algorithm}");
    }
}

#[test]
fn six_of_five_never_fits_and_says_five() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "5/s");
        let decision = limiter.check_n_at(6, 0);
        assert_eq!((decision.verdict(), decision.limit()), (Verdict::NeverFits, 5), "{algorithm}");
        assert!(decision.retry_after().is_zero(), "{algorithm}: there is no wait");
    }
}

#[test]
fn two_threads_within_the_cap_are_never_refused() {
    // A log counts up to 2^24.
    for (algorithm, quota) in [
        (ONE_OF_ARRIVAL, "1000000000/s"),
        ("fixed_window", "1000000000/s"),
        ("sliding_window_log", "16777216/s"),
    ] {
        let limiter = direct(algorithm, quota);
        let taken = || allowed(&limiter, (0..1_000_000).map(|i| S + i % 1_000));
        let (here, there) = std::thread::scope(|scope| {
            let other = scope.spawn(taken);
            (taken(), other.join().unwrap())
        });
        assert_eq!((here, there), (1_000_000, 1_000_000), "{algorithm}");
    }
}

#[test]
fn four_one_and_a_minute_later_one() {
    // A sliding window counter still weighs the minute before.
    for algorithm in ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_log"] {
        let limiter = direct(algorithm, "5/min");
        assert_eq!(limiter.check_n_at(1, 7 * S).remaining(), 4, "{algorithm}");
        assert_eq!(limiter.check_n_at(4, 7 * S).remaining(), 0, "{algorithm}");
        assert_eq!(limiter.check_n_at(1, 67 * S).remaining(), 4, "{algorithm}");
        let limiter = direct(algorithm, "5/min");
        assert_eq!(limiter.check_n_at(4, 7 * S).remaining(), 1, "{algorithm}");
        assert_eq!(limiter.check_n_at(1, 7 * S).remaining(), 0, "{algorithm}");
        assert_eq!(limiter.check_n_at(1, 67 * S).remaining(), 4, "{algorithm}");
    }
}

#[test]
fn a_fixed_window_forgets_at_its_boundary() {
    let limiter = direct("fixed_window", "1/min");
    assert!(limiter.check_at(59_995 * MS).is_allowed());
    assert!(limiter.check_at(60_005 * MS).is_allowed());
}

#[test]
fn a_log_has_no_boundary() {
    let limiter = direct("sliding_window_log", "1/min");
    assert!(limiter.check_at(59_995 * MS).is_allowed());
    let second = limiter.check_at(60_005 * MS);
    assert!(second.is_denied());
    assert_eq!(second.retry_after().as_millis(), 59_990);
}

#[test]
fn a_log_admits_its_limit_in_every_window() {
    let limiter = direct("sliding_window_log", "5/s");
    assert_eq!(allowed(&limiter, (0..200).map(|call| call * 50 * MS)), 50);
    // Refusals are not counted: those that asked all the time have not waited longer.
    assert!(limiter.check_at(10 * S).is_allowed());
}
