//! cases.md, "Time".

use std::time::Duration;

use tollgate::{Clock, DirectLimiter, GuardedClock, ManualClock, Quota};

use super::oracle::{ALL, ARRIVAL, model};
use super::{MS, S, US, allowed, at_once, direct};

#[test]
fn calls_stamped_late_are_no_way_around() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, "1000/s burst 10");
        let start_ns = 5 * S;
        let time_ns = |i| start_ns + i * US - if i % 2 == 1 { 2 * MS } else { 0 };
        let taken = allowed(&limiter, (0..100_000).map(time_ns));
        assert!(taken <= 110, "{algorithm}: {taken}");
        assert_eq!(taken, 109, "{algorithm}");
    }
}

#[test]
fn a_clock_that_alternates_fills_nothing() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, "10/s burst 2");
        let times_ns = (0..100).map(|i| if i % 2 == 0 { S } else { 750 * MS });
        assert_eq!(allowed(&limiter, times_ns), 2, "{algorithm}");
    }
}

#[test]
fn after_long_idle_the_cap_and_no_more() {
    const HOUR: u64 = 3_600 * S;
    for algorithm in ALL {
        for idle_ns in [12 * HOUR, 10 * 8_766 * HOUR] {
            let limiter = direct(algorithm, "1000/s");
            assert_eq!(at_once(&limiter, 0, 2_000), 1_000, "{algorithm}");
            assert_eq!(at_once(&limiter, idle_ns, 2_000), 1_000, "{algorithm}");
        }
    }
}

/// A clock that may step back, guarded by one that does not.
#[test]
fn the_systems_clock_is_set_back_an_hour() {
    const HOUR: u64 = 3_600 * S;
    for algorithm in ALL {
        let (system, steady) = (ManualClock::new(2 * HOUR), ManualClock::new(500 * MS));
        let limiter = DirectLimiter::builder(Quota::per_second(10))
            .algorithm(algorithm)
            .clock(GuardedClock::new(system.clone(), steady.clone()))
            .build()
            .unwrap();
        let at_once = || (0..30).filter(|_| limiter.check().is_allowed()).count();
        assert_eq!(at_once(), 10, "{algorithm}");
        system.set(HOUR);
        let wait = limiter.check().retry_after();
        let most = match algorithm {
            "fixed_window" => Duration::from_millis(500),
            "sliding_window_counter" => Duration::from_millis(600),
            "sliding_window_log" => Duration::from_secs(1),
            _ => Duration::from_millis(100),
        };
        assert!(wait > Duration::ZERO && wait <= most, "{algorithm}: {wait:?}");
        system.advance(Duration::from_secs(1));
        steady.advance(Duration::from_secs(1));
        let again = at_once();
        assert!(again >= 1, "{algorithm}: locked out");
        assert!(again <= 10, "{algorithm}: {again}");
        assert!(limiter.clock().now_ns() >= 1_500 * MS);
    }
}

/// The same without a guard: what the limiter alone makes of it. Never more than the cap, and no wait that the quota
/// itself cannot need.
#[test]
fn an_unguarded_clock_is_set_back_an_hour() {
    const HOUR: u64 = 3_600 * S;
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/s");
        assert_eq!(at_once(&limiter, 2 * HOUR, 30), 10);
        for now_ns in [HOUR, HOUR + S, 2 * HOUR - S / 2] {
            let denied = limiter.check_at(now_ns);
            assert!(denied.is_denied(), "{algorithm}");
            let most = match algorithm {
                "fixed_window" | "sliding_window_log" => Duration::from_secs(1),
                "sliding_window_counter" => Duration::from_millis(1_100),
                _ => Duration::from_millis(600),
            };
            assert!(denied.retry_after() <= most, "{algorithm}: {:?}", denied.retry_after());
        }
        // From an hour back a bucket is read as just emptied.
        if ARRIVAL.contains(&algorithm) {
            assert_eq!(limiter.check_at(HOUR).retry_after(), Duration::from_millis(100));
        }
        assert_eq!(at_once(&limiter, 2 * HOUR + 2 * S, 30), 10, "{algorithm}");
    }
}

#[test]
fn the_ends_of_time() {
    for algorithm in ALL {
        for origin_ns in [0, 1_000_000_000 * S, u64::MAX] {
            for (limit, period_ns) in [(10, S), (1, 1 << 24), (7, 60 * S), (1, 315_576_000 * S)] {
                let limiter = direct(algorithm, &format!("{limit}/{period_ns}ns"));
                let mut model = model(algorithm, limit, period_ns, limit);
                let nearby = [0, 1, period_ns / 2, period_ns, 2 * period_ns, 3 * period_ns];
                for now_ns in nearby.map(|ns| origin_ns.saturating_add(ns)) {
                    for cost in [0, 1, limit, limit, limit + 1, u64::MAX] {
                        let found = limiter.check_n_at(cost, now_ns);
                        assert_eq!(
                            super::oracle::Answer::from(found),
                            model.check(cost, now_ns),
                            "{algorithm}"
                        );
                    }
                    limiter.refund_at(u64::MAX, now_ns);
                    model.refund(u64::MAX, now_ns);
                }
            }
        }
    }
}
