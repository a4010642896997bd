//! The contract, line by line, at the public face.

use std::time::Duration;

use tollgate::{DirectLimiter, Limiter, ManualClock, Quota, Verdict};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const ARRIVAL: [&str; 3] = ["token_bucket", "gcra", "leaky_bucket"];
const ALL: [&str; 6] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter", "sliding_window_log"];

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

/// Whenever that is: the sliding counter counts in the window after, too.
#[test]
fn a_reset_key_has_its_full_quota() {
    for algorithm in ALL {
        for later in [0, 1, S / 2, S - 1, S, S + 1, 3 * S / 2, 2 * S - 1, 2 * S, 9 * S] {
            let limiter = direct(algorithm, "10/s");
            assert_eq!(allowed(&limiter, 20, 5 * S), 10, "{algorithm}");
            limiter.reset_at(5 * S + later);
            let decision = limiter.peek_n_at(10, 5 * S + later);
            assert_eq!((decision.is_allowed(), decision.remaining()), (true, 0), "{algorithm} after {later}");
        }
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
    for algorithm in ALL.into_iter().filter(|&algorithm| algorithm != "sliding_window_log") {
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

#[test]
fn a_debt_of_one_key_does_not_lengthen_the_waits_of_others() {
    let hour = 3_600 * S;
    let limiter =
        Limiter::<u8>::builder(Quota::per_second(10)).clock(ManualClock::new(2 * hour)).build().unwrap();
    limiter.reserve(&2, 2).unwrap().commit(1_000);
    assert!(limiter.check_n(&1, 10).is_allowed());
    // The debt is paid off, and later the clock goes back by an hour.
    limiter.clock().set(3 * hour);
    assert!(limiter.check_n(&1, 10).is_allowed());
    assert_eq!(limiter.check_at(&1, 2 * hour + 200 * S).retry_after(), Duration::from_millis(100));
}

#[test]
fn a_wait_counts_a_debt_that_was_made_while_the_key_was_hashed() {
    use std::hash::{Hash, Hasher};

    /// Hashed like its number, and on the way another caller runs into debt.
    struct Slow<'a>(u64, Option<&'a dyn Fn()>);

    impl Hash for Slow<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            if let Some(meanwhile) = self.1 {
                meanwhile();
            }
            self.0.hash(state);
        }
    }

    let limiter =
        Limiter::<Slow<'_>>::builder(Quota::per_second(1)).clock(ManualClock::new(0)).build().unwrap();
    let meanwhile = || limiter.reserve_at(&Slow(7, None), 1, 0).unwrap().commit_at(101, 0);
    let denied = limiter.check_at(&Slow(7, Some(&meanwhile)), 0);
    assert_eq!(denied.retry_after(), Duration::from_secs(101));
}

#[test]
fn a_plan_on_a_coarse_scale_is_no_faster_than_its_period() {
    let ten_years = tollgate::MAX_PERIOD;
    let quota = Quota::new(1, ten_years).burst(1 << 32);
    let period_ns = ten_years.as_nanos() as u64;
    for start in [0, 1, 600_000_000, 12_345_678_901] {
        let limiter = DirectLimiter::builder(quota).clock(ManualClock::new(0)).build().unwrap();
        let plan = limiter.plan(Quota::new(1, ten_years)).unwrap();
        assert!(limiter.check_with_at(&plan, start).is_allowed());
        assert!(limiter.check_with_at(&plan, start + period_ns - 1).is_denied(), "from {start}");
        assert!(limiter.check_with_at(&plan, start + period_ns + period_ns / 1_000).is_allowed());
    }
}

#[test]
fn a_reservation_made_at_a_time_of_ones_own_is_settled_there() {
    let limiter =
        Limiter::<u8>::builder(Quota::per_second(10)).clock(ManualClock::new(5 * S)).build().unwrap();
    drop(limiter.reserve_at(&1, 10, 16 * MS).unwrap());
    assert_eq!(limiter.peek_at(&1, 16 * MS).remaining(), 10);
    limiter.reserve_at(&1, 10, 16 * MS).unwrap().commit(4);
    assert_eq!(limiter.peek_at(&1, 16 * MS).remaining(), 6);
    // By the clock, what has come back meanwhile is not given back twice.
    let reservation = limiter.reserve(&2, 10).unwrap();
    limiter.clock().advance(Duration::from_secs(1));
    assert!(limiter.check_n(&2, 10).is_allowed());
    reservation.cancel();
    assert_eq!(limiter.peek(&2).remaining(), 0);
}

#[test]
fn a_limit_that_a_window_cannot_count_is_refused_with_one_that_it_can() {
    for (algorithm, period_ns) in
        [("fixed_window", 1 << 21), ("fixed_window", 1 << 30), ("sliding_window_counter", 1 << 30)]
    {
        let build = |limit| {
            DirectLimiter::builder(Quota::new(limit, Duration::from_nanos(period_ns)))
                .algorithm(algorithm)
                .clock(ManualClock::new(0))
                .build()
        };
        let Err(tollgate::BuildError::LimitTooLarge { max, .. }) = build(period_ns) else {
            panic!("{algorithm} counts {period_ns} units")
        };
        assert!(build(max + 1).is_err());
        let limiter = build(max).unwrap();
        assert!(limiter.check_n_at(max, 0).is_allowed());
        assert!(limiter.check_at(0).is_denied());
    }
}
