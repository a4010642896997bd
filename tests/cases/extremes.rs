//! cases.md, "Extremes".

use std::time::Duration;

use tollgate::{BuildError, DirectLimiter, MAX_PERIOD, Quota};

use super::oracle::{ARRIVAL, direct, per};
use super::{MS, S, US, allowed, at_once};

#[test]
fn high_rates_are_kept() {
    for algorithm in ARRIVAL {
        for limit in [80_000, 300_000, 70_000_000, 600_000_000] {
            let limiter = direct(algorithm, per(limit, S).burst(2));
            assert!(limiter.check_n_at(2, 0).is_allowed());
            // For as long as 30 000 units take.
            let (mut now_ns, mut taken, end_ns) = (0, 0, 30_000 * S / limit);
            while now_ns <= end_ns {
                let decision = limiter.check_at(now_ns);
                taken += decision.taken();
                now_ns += decision.retry_after().as_nanos() as u64;
            }
            assert!(taken <= 30_000, "{algorithm} {limit}: {taken}");
            assert!(taken >= 29_970, "{algorithm} {limit}: {taken}");
        }
    }
}

#[test]
fn a_call_each_200_us() {
    for algorithm in ARRIVAL {
        for limit in [2_000, 5_000] {
            let limiter = direct(algorithm, Quota::per_second(limit).burst(1));
            let each_second: Vec<_> = (0..3)
                .map(|second| allowed(&limiter, (0..5_000).map(|i| second * S + i * 200 * US)))
                .collect();
            let expected = if limit == 5_000 { 5_000 } else { 5_000 / 3 };
            // 2000/s is due each 500 us, and asked each 200 us: every third call.
            assert!(
                each_second.iter().all(|&taken| taken.abs_diff(expected) <= 1),
                "{algorithm}: {each_second:?}"
            );
        }
    }
}

#[test]
fn the_whole_cap_at_once() {
    let cases = [
        (Quota::per_second(93), 93),
        (Quota::per_second(7_000), 7_000),
        (Quota::per_minute(29), 29),
        (Quota::per_day(1).burst(300_000), 300_000),
    ];
    for algorithm in ARRIVAL {
        for (quota, cap) in cases {
            assert_eq!(
                at_once(&direct(algorithm, quota), 987_654_321, cap + 10),
                cap as u64,
                "{algorithm} {quota}"
            );
            assert!(
                direct(algorithm, quota).check_n_at(cap as u64, 987_654_321).is_allowed(),
                "{algorithm} {quota}"
            );
        }
    }
    for algorithm in super::oracle::WINDOWS {
        for (quota, cap) in &cases[..3] {
            assert_eq!(
                at_once(&direct(algorithm, *quota), 987_654_321, cap + 10),
                *cap as u64,
                "{algorithm} {quota}"
            );
        }
    }
}

#[test]
fn four_billion_in_ten_years() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, Quota::new(1, MAX_PERIOD).burst(4_294_967_295));
        assert_eq!(at_once(&limiter, 0, 100), 100, "{algorithm}");
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), 4_294_967_195, "{algorithm}");
    }
}

#[test]
fn idle_for_a_whole_cap() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, per(1, 1_900 * US).burst(500));
        assert_eq!(at_once(&limiter, 0, 1_000), 500);
        assert_eq!(at_once(&limiter, 950 * MS, 1_000), 500, "{algorithm}");
        // A nanosecond less is one unit less.
        assert_eq!(at_once(&limiter, 1_900 * MS - 1, 1_000), 499, "{algorithm}");
    }
}

#[test]
fn intervals_of_odd_lengths_are_exact() {
    for algorithm in ARRIVAL {
        for (limit, period_ns) in [(1, 900 * US), (1, 3), (3, 7 * S)] {
            let limiter = direct(algorithm, per(limit, period_ns).burst(2));
            assert!(limiter.check_n_at(2, 0).is_allowed());
            for unit in 1..10_000_u64 {
                let due_ns = (unit * period_ns).div_ceil(limit);
                assert!(limiter.peek_n_at(1, due_ns - 1).is_denied(), "{algorithm}: unit {unit}");
                assert!(limiter.check_at(due_ns).is_allowed(), "{algorithm}: unit {unit}");
            }
        }
    }
}

#[test]
fn two_per_nanosecond_is_refused() {
    for algorithm in ARRIVAL {
        let error = DirectLimiter::builder(Quota::per_second(2_000_000_000).burst(5))
            .algorithm(algorithm)
            .build()
            .unwrap_err();
        assert_eq!(error, BuildError::RateTooHigh { limit: 2_000_000_000, max: 1_000_000_000 });
        assert!(error.to_string().contains("1000000000"), "{error}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let century_six = Duration::from_secs(600 * 31_557_600);
    let cases = [
        (Quota::new(1, century_six), "too long"),
        (Quota::per_second(0), "Quota::blocked()"),
        (Quota::new(1, Duration::ZERO), "period 0"),
        (Quota::per_second(1).burst(0), "burst 0"),
    ];
    for algorithm in super::oracle::ALL {
        for (quota, reason) in cases {
            let error = DirectLimiter::builder(quota).algorithm(algorithm).build().unwrap_err().to_string();
            assert!(error.contains(reason), "{algorithm}: {error}");
            assert!(error.contains("write"), "says what to write instead: {error}");
        }
    }
}
