//! The contract, line by line, at the public face.

use std::time::Duration;

use tollgate::{DirectLimiter, Limiter, ManualClock, Quota, Verdict};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const ARRIVAL: [&str; 3] = ["token_bucket", "gcra", "leaky_bucket"];
const ALL: [&str; 5] = ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter"];

fn direct(algorithm: &str, quota: &str) -> DirectLimiter<ManualClock> {
    let quota: Quota = quota.parse().unwrap();
    DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0)).build().unwrap()
}

fn allowed(limiter: &DirectLimiter<ManualClock>, calls: usize, now_ns: u64) -> usize {
    (0..calls).filter(|_| limiter.check_at(now_ns).is_allowed()).count()
}

#[test]
fn a_fresh_key_has_its_full_quota() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/min");
        assert_eq!(allowed(&limiter, 20, 0), 10, "{algorithm}");
    }
}

#[test]
fn waits_are_exact_to_the_nanosecond() {
    for algorithm in ALL {
        for quota in ["7/s", "10/min", "3/7ns", "1/s", "29/min"] {
            if (algorithm, quota) == ("sliding_window_counter", "3/7ns") {
                // Two counts of 3 and an index of nanoseconds do not fit a word; refused when built.
                continue;
            }
            let limiter = direct(algorithm, quota);
            let mut now = 123_456_789;
            for _ in 0..200 {
                let decision = limiter.check_at(now);
                if decision.is_denied() {
                    let wait = decision.retry_after().as_nanos() as u64;
                    assert!(wait > 0);
                    assert!(limiter.peek_n_at(1, now + wait - 1).is_denied(), "{algorithm} {quota}");
                    assert!(limiter.peek_n_at(1, now + wait).is_allowed(), "{algorithm} {quota}");
                    now += wait;
                }
            }
        }
    }
}

#[test]
fn a_table_answers_like_a_lone_cell() {
    for algorithm in ALL {
        let keyed = Limiter::<u64>::builder(Quota::per_second(5))
            .algorithm(algorithm)
            .capacity(100)
            .clock(ManualClock::new(0))
            .build()
            .unwrap();
        let lone: Vec<_> = (0..100).map(|_| direct(algorithm, "5/s")).collect();
        let mut seed = 1_u64;
        for i in 0..20_000_u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = (seed >> 33) % 100;
            let now = i * MS;
            assert_eq!(keyed.check_at(&key, now), lone[key as usize].check_at(now), "{algorithm} at {now}");
        }
        assert_eq!(keyed.overflowed(), 0);
    }
}

#[test]
fn reservations_queue_and_give_back_exactly() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, "10/s burst 20");
        assert!(limiter.check_n_at(15, 0).is_allowed());
        let ten = limiter.reserve_at(10, 100 * MS).unwrap();
        assert_eq!(ten.wait(), Duration::from_millis(400));
        let two = limiter.reserve_at(2, 200 * MS).unwrap();
        assert_eq!(two.wait(), Duration::from_millis(500));
        assert_eq!(limiter.peek_n_at(1, 200 * MS).retry_after(), Duration::from_millis(600));
        ten.cancel_at(300 * MS);
        two.commit_at(2, 300 * MS);
        assert_eq!(limiter.peek_n_at(0, 300 * MS).remaining(), 6);
    }
}

#[test]
fn never_fits_is_not_a_wait() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "5/s");
        let decision = limiter.check_n_at(6, 0);
        assert_eq!((decision.verdict(), decision.limit()), (Verdict::NeverFits, 5));
        assert!(decision.retry_after().is_zero());
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), 5);
    }
}

#[test]
fn a_borrowed_tuple_is_a_key() {
    let limiter = Limiter::<(&'static str, u16)>::builder(Quota::per_second(1))
        .clock(ManualClock::new(S))
        .build()
        .unwrap();
    let owned = String::from("a");
    assert!(limiter.check(&(owned.as_str(), 1)).is_allowed());
    assert!(limiter.check(&(owned.as_str(), 1)).is_denied());
    assert!(limiter.check(&("a", 2)).is_allowed());
}

#[test]
fn plans_share_the_state_and_are_not_lent_to_other_limiters() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/min");
        let paid = limiter.plan("100/min".parse().unwrap()).unwrap();
        assert!(limiter.check_n_with_at(50, &paid, 0).is_allowed(), "{algorithm}");
        // Arrival times keep the fraction used, window counts the units.
        let left = if ARRIVAL.contains(&algorithm) { 5 } else { 0 };
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), left, "{algorithm}");
        limiter.refund_with_at(50, &paid, 0);
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), 10, "{algorithm}");
        let other = direct(algorithm, "2/s");
        assert_eq!(other.check_n_with_at(1, &paid, 0).limit(), 2, "{algorithm}");
    }
}

#[test]
fn a_plan_with_a_longer_burst_leaves_exact_waits_to_one_with_a_shorter() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, "10/s");
        let daily = limiter.plan("1000/day".parse().unwrap()).unwrap();
        assert!(limiter.check_n_with_at(1_000, &daily, 0).is_allowed());
        // A day's worth is gone; a tenth of a second of it comes back for the short quota at the end.
        let wait = limiter.peek_n_at(1, 0).retry_after();
        assert_eq!(wait, Duration::from_secs(86_400) - Duration::from_millis(900));
        let wait_ns = wait.as_nanos() as u64;
        assert!(limiter.peek_n_at(1, wait_ns - 1).is_denied());
        assert!(limiter.peek_n_at(1, wait_ns).is_allowed());
    }
}

#[test]
fn limiters_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Limiter<str>>();
    crosses::<Limiter<std::rc::Rc<str>>>();
    crosses::<DirectLimiter<ManualClock>>();
    crosses::<tollgate::Plan>();
}
