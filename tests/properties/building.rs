//! Contract 10 and 11: whatever is refused is refused when built, with a largest value that builds.

use std::time::Duration;

use proptest::prelude::*;
use tollgate::{BuildError, DirectLimiter, MAX_PERIOD, Quota};

use super::oracle::{ALL, ARRIVAL, WINDOWS, per};
use super::{MAX_LIMIT, MAX_PERIOD_NS, any_rate, build, magnitude};

fn error(algorithm: &str, quota: Quota) -> BuildError {
    match build(algorithm, quota) {
        Err(error) => error,
        Ok(_) => panic!("{algorithm} {quota} builds"),
    }
}

proptest! {
    /// 32 bits of limit and any burst: what does not fit names the largest value that does.
    #[test]
    fn the_largest_burst_is_the_one_named(rate in any_rate(), burst in magnitude(1, u64::MAX)) {
        for algorithm in ARRIVAL {
            let plain = per(rate.limit, rate.period_ns);
            match build(algorithm, plain.burst(burst)) {
                Ok(limiter) => prop_assert_eq!(limiter.check_n_at(burst, 0).remaining(), 0),
                Err(BuildError::BurstTooLarge { burst: named, max }) => {
                    prop_assert_eq!(named, burst);
                    prop_assert!(max < burst);
                    let largest = build(algorithm, plain.burst(max)).unwrap();
                    prop_assert!(largest.check_n_at(max, 0).is_allowed());
                    prop_assert_eq!(error(algorithm, plain.burst(max + 1)), BuildError::BurstTooLarge { burst: max + 1, max });
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn a_burst_of_32_bits_always_builds(rate in any_rate()) {
        for algorithm in ARRIVAL {
            let limiter = build(algorithm, per(rate.limit, rate.period_ns).burst(rate.burst));
            // A unit at most every nanosecond, ten years at least for 2^32 units.
            prop_assert!(limiter.is_ok(), "{:?}: {}", rate, limiter.unwrap_err());
        }
    }

    #[test]
    fn the_largest_limit_of_a_window_is_the_one_named(rate in any_rate()) {
        for algorithm in WINDOWS {
            match build(algorithm, per(rate.limit, rate.period_ns)) {
                // To take them all may be a word for each.
                Ok(_) if algorithm == "sliding_window_log" => prop_assert!(rate.limit <= 1 << 24),
                Ok(limiter) => {
                    prop_assert_eq!(limiter.check_n_at(rate.limit, 0).remaining(), 0);
                    prop_assert!(limiter.check_n_at(1, 0).is_denied());
                }
                Err(BuildError::LimitTooLarge { algorithm: named, limit, period, max }) => {
                    prop_assert_eq!((named, limit), (algorithm, rate.limit));
                    prop_assert!(max < limit);
                    prop_assert_eq!(
                        error(algorithm, per(max + 1, rate.period_ns)),
                        BuildError::LimitTooLarge { algorithm: named, limit: max + 1, period, max }
                    );
                    // 0 has a test of its own below.
                    prop_assert!(max == 0 || build(algorithm, per(max, rate.period_ns)).is_ok());
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn more_than_a_unit_per_nanosecond_is_refused(period_ns in magnitude(1, MAX_PERIOD_NS), above in magnitude(1, MAX_LIMIT)) {
        let limit = period_ns + above;
        for algorithm in ALL {
            prop_assert_eq!(
                error(algorithm, per(limit, period_ns)),
                BuildError::RateTooHigh { limit, max: period_ns }
            );
        }
        for algorithm in ARRIVAL {
            prop_assert!(build(algorithm, per(period_ns, period_ns).burst(1)).is_ok());
        }
    }

    /// No panic, whatever the numbers.
    #[test]
    fn any_numbers_build_or_are_refused(
        limit in any::<u64>(), period in any::<Duration>(), burst in any::<Option<u64>>(), offset in any::<Duration>(),
        cost in any::<u64>(), now_ns in any::<u64>(),
    ) {
        let mut quota = Quota::new(limit, period);
        if let Some(burst) = burst {
            quota = quota.burst(burst);
        }
        for algorithm in ALL {
            match DirectLimiter::builder(quota).algorithm(algorithm).window_offset(offset).build() {
                Ok(limiter) => prop_assert!(limiter.check_n_at(cost, now_ns).limit() > 0),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}

/// As many units as nanoseconds, where a window's index takes the most bits: counted whole, or refused with the largest
/// limit that is.
#[test]
fn a_fixed_window_counts_a_unit_per_nanosecond() {
    for bits in 0..30 {
        for period_ns in [1_u64 << bits, (1 << bits) + 1, (2 << bits) - 1] {
            for offset_ns in [0, 1, period_ns - 1] {
                let build = |limit| {
                    DirectLimiter::builder(per(limit, period_ns))
                        .algorithm("fixed_window")
                        .window_offset(Duration::from_nanos(offset_ns))
                        .build()
                };
                let limit = match build(period_ns) {
                    Err(BuildError::LimitTooLarge { max, .. }) => max,
                    _ => period_ns,
                };
                let limiter = build(limit).unwrap();
                for now_ns in [0, 1 << 60, (1 << 60) + period_ns, u64::MAX] {
                    assert_eq!(limiter.check_n_at(limit, now_ns).remaining(), 0);
                    assert!(limiter.check_n_at(1, now_ns).is_denied(), "{limit} per {period_ns} at {now_ns}");
                }
            }
        }
    }
}

/// Two counts and an index of nanoseconds do not fit a word at all: to write "at most 0" would be no advice.
#[test]
fn a_limit_of_zero_is_never_the_advice() {
    let error = error("sliding_window_counter", per(1, 1));
    let error = error.to_string();
    assert!(!error.contains("at most 0") && error.contains("a longer period"), "{error}");
}

#[test]
fn the_smallest_and_the_longest_period() {
    for algorithm in ["token_bucket", "gcra", "leaky_bucket", "fixed_window"] {
        assert!(build(algorithm, per(1, 1)).is_ok());
    }
    for algorithm in ALL {
        assert!(build(algorithm, Quota::new(1, MAX_PERIOD)).is_ok());
        let period = MAX_PERIOD + Duration::from_nanos(1);
        assert_eq!(error(algorithm, Quota::new(1, period)), BuildError::PeriodTooLong { period });
        assert_eq!(error(algorithm, Quota::new(1, Duration::ZERO)), BuildError::PeriodZero);
        assert_eq!(error(algorithm, Quota::per_second(0)), BuildError::LimitZero);
        assert_eq!(error(algorithm, Quota::per_second(3).burst(0)), BuildError::BurstZero { limit: 3 });
    }
}

#[test]
fn a_window_has_no_burst() {
    for algorithm in WINDOWS {
        let BuildError::BurstOnWindow { algorithm: named, burst: 7 } =
            error(algorithm, Quota::per_second(5).burst(7))
        else {
            panic!("not refused for its burst");
        };
        assert_eq!(named, algorithm);
    }
}
