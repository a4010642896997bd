//! Plans: other quotas on the words of one limiter.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::{BuildError, DirectLimiter, Limiter, Quota, Verdict};

use super::oracle::{
    ALL, ARRIVAL, Answer, Counter, Fixed, Log, Model, NS_PER_S, WINDOWS, direct, on_manual_clock, per,
};
use super::{MAX_PERIOD_NS, any_rate, build, magnitude};

/// The arrival time itself, for plans whose intervals are whole nanoseconds: allowed if and only if
/// `max(tat, now) + cost * interval <= now + burst * interval` (DESIGN.md, section 5).
#[derive(Clone, Copy, Debug)]
struct Tat(u128);

impl Tat {
    /// How long until the units, which are taken, fit.
    fn reserve(&mut self, (interval, burst): (u64, u64), units: u64, now: u64) -> u128 {
        let [interval, burst, units, now] = [interval, burst, units, now].map(u128::from);
        if units == 0 {
            return 0;
        }
        self.0 = self.0.max(now) + units * interval;
        self.0.saturating_sub(now + burst * interval)
    }

    fn refund(&mut self, (interval, _): (u64, u64), units: u64, now: u64) {
        let out = self.0.saturating_sub(u128::from(now));
        self.0 -= out.min(u128::from(units) * u128::from(interval));
    }

    fn check(&mut self, (interval, burst): (u64, u64), cost: u64, now: u64) -> Answer {
        let [interval, burst, cost, now] = [interval, burst, cost, now].map(u128::from);
        let base = self.0.max(now);
        let after = base + cost * interval;
        let end = now + burst * interval;
        let room = |base: u128| (end.saturating_sub(base) / interval) as u64;
        let (verdict, retry_after_ns) = match () {
            () if cost > burst => (Verdict::NeverFits, 0),
            () if after > end && cost > 0 => (Verdict::Denied, after - end),
            () => (Verdict::Allowed, 0),
        };
        let taken = if verdict == Verdict::Allowed { cost } else { 0 };
        if taken > 0 {
            self.0 = after;
        }
        let level = if taken > 0 { after } else { base };
        Answer {
            verdict,
            taken: taken as u64,
            limit: burst as u64,
            remaining: room(level),
            retry_after_ns,
            reset_after_ns: level - now,
        }
    }
}

/// What is done under a plan.
#[derive(Clone, Copy, Debug)]
enum Op {
    Check,
    Refund,
    /// Taken in advance, and used.
    Commit,
    /// Taken in advance, and given back.
    Cancel,
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![4 => Just(Op::Check), 1 => Just(Op::Refund), 1 => Just(Op::Commit), 1 => Just(Op::Cancel)]
}

proptest! {
    /// A key moves between plans, and its one arrival time with it.
    #[test]
    fn plans_share_the_arrival_time(
        intervals in vec(magnitude(1, 1 << 40), 3),
        bursts in vec(magnitude(1, 1 << 16), 3),
        script in vec((0..3_usize, 0..3_000_u64, 0..=16_u64, any_op()), 1..60),
    ) {
        for algorithm in ARRIVAL {
            let quotas = [0, 1, 2].map(|i| per(1, intervals[i]).burst(bursts[i]));
            let limiter: Limiter<u64, _, _> =
                on_manual_clock(algorithm, quotas[0]).capacity(4).build().unwrap();
            let plans = quotas.map(|quota| limiter.plan(quota).unwrap());
            let mut tat = Tat(0);
            let mut now_ns = NS_PER_S;
            for &(which, thousandths, sixteenths, op) in &script {
                now_ns += (u128::from(intervals[which]) * u128::from(thousandths) / 1_000) as u64;
                let quota = (intervals[which], bursts[which]);
                let units = (bursts[which] * sixteenths).div_ceil(16);
                match op {
                    Op::Check => {
                        let expected = tat.check(quota, units, now_ns);
                        let decision = limiter.check_n_with_at(&1, units, &plans[which], now_ns);
                        prop_assert_eq!(Answer::from(decision), expected);
                    }
                    Op::Refund => {
                        tat.refund(quota, units, now_ns);
                        limiter.refund_with_at(&1, units, &plans[which], now_ns);
                    }
                    Op::Commit | Op::Cancel => {
                        let mut after = tat;
                        let wait_ns = after.reserve(quota, units, now_ns);
                        let held = limiter.reserve_with_at(&1, units, &plans[which], now_ns).unwrap();
                        prop_assert_eq!(held.wait().as_nanos(), wait_ns);
                        if matches!(op, Op::Commit) {
                            held.commit_at(units, now_ns);
                            tat = after;
                        } else {
                            held.cancel_at(now_ns);
                        }
                    }
                }
                for (plan, quota) in plans.iter().zip(intervals.iter().copied().zip(bursts.iter().copied())) {
                    let found = limiter.peek_n_with_at(&1, 1, plan, now_ns);
                    prop_assert_eq!(Answer::from(found), { tat }.check(quota, 1, now_ns), "{:?}", op);
                }
            }
        }
    }

    /// A window's plans differ in their limit only; the count is one.
    #[test]
    fn plans_share_the_counts(
        period_ns in magnitude(1 << 20, MAX_PERIOD_NS),
        limits in [1..100_u64, 1..100_u64],
        script in vec((0..2_usize, 0..700_u64, 1..20_u64), 1..60),
    ) {
        let fixed = limits.map(|limit| Fixed::new(limit, period_ns, 0));
        share_counts("fixed_window", period_ns, limits, fixed, Fixed::charge, &script)?;
        let counter = limits.map(|limit| Counter::new(limit, period_ns, 0));
        share_counts("sliding_window_counter", period_ns, limits, counter, Counter::charge, &script)?;
        let log = limits.map(|limit| Log::new(limit, period_ns));
        share_counts("sliding_window_log", period_ns, limits, log, Log::take, &script)?;
    }

    /// A plan that is accepted is kept: never early, at most 0.1 % late, and never above its bound.
    #[test]
    fn an_accepted_plan_is_kept(base in any_rate(), plan in any_rate(), start_ns in 0..1_u64 << 59) {
        let limiter = build("gcra", per(base.limit, base.period_ns).burst(base.burst)).unwrap();
        let rate = super::Rate { burst: plan.burst.max(plan.limit), ..plan };
        let plan = match limiter.plan(per(rate.limit, rate.period_ns).burst(rate.burst)) {
            Ok(plan) => plan,
            Err(BuildError::PlanTooFine { limit, period }) => {
                prop_assert_eq!((limit, period), (rate.limit, Duration::from_nanos(rate.period_ns)));
                prop_assert!(base.period_ns / base.limit != rate.period_ns / rate.limit || base.limit != rate.limit);
                return Ok(());
            }
            Err(BuildError::BurstTooLarge { burst, max }) => {
                prop_assert_eq!(burst, rate.burst);
                prop_assert!(max < burst);
                if max > 0 {
                    prop_assert!(limiter.plan(per(rate.limit, rate.period_ns).burst(max)).is_ok());
                }
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        prop_assert!(limiter.check_n_with_at(rate.burst, &plan, start_ns).is_allowed());
        let last_ns = start_ns + rate.period_ns - 1;
        let before = limiter.check_n_with_at(0, &plan, last_ns);
        prop_assert!(before.remaining() < rate.limit, "{} of {:?} on {:?}", before.remaining(), rate, base);
        let wait = limiter.check_n_with_at(rate.limit, &plan, last_ns).retry_after().as_nanos() as u64;
        let period_ns = u128::from(rate.period_ns);
        // A tick of the limiter's own scale, of which its period has a thousand at least, on either side.
        let slack_ns = 2 * (u128::from(base.period_ns) / 999 + 1);
        prop_assert!(u128::from(wait) <= period_ns / 999 + slack_ns, "late by {} of {}", wait, period_ns);
    }
}

/// Runs a script on a limiter with a plan, and on a model for each of the two limits that counts what both admit.
fn share_counts<M: Model>(
    algorithm: &str,
    period_ns: u64,
    limits: [u64; 2],
    mut models: [M; 2],
    charge: fn(&mut M, u64, u64),
    script: &[(usize, u64, u64)],
) -> Result<(), TestCaseError> {
    let limiter = direct(algorithm, per(limits[0], period_ns));
    let plans = limits.map(|limit| limiter.plan(per(limit, period_ns)).unwrap());
    let mut now_ns = 0;
    for &(which, thousandths, cost) in script {
        now_ns += (u128::from(period_ns) * u128::from(thousandths) / 1_000) as u64;
        let expected = models[which].check(cost, now_ns);
        let decision = limiter.check_n_with_at(cost, &plans[which], now_ns);
        prop_assert_eq!(Answer::from(decision), expected, "{}", algorithm);
        if expected.taken > 0 {
            charge(&mut models[1 - which], expected.taken, now_ns);
        }
    }
    Ok(())
}

#[test]
fn a_plan_that_is_too_fine_is_refused() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, Quota::per_second(1));
        // An interval of 1.67 ns in ticks of 1 ns.
        let error = limiter.plan(Quota::per_second(600_000_000)).unwrap_err();
        let period = Duration::from_secs(1);
        assert_eq!(error, BuildError::PlanTooFine { limit: 600_000_000, period });
        // 1 / 999 is too much, 1 / 1000 is not.
        assert!(limiter.plan(per(1_000, 1_000_999)).is_ok());
        assert!(limiter.plan(per(1_000, 998_001)).is_err());
    }
}

#[test]
fn a_plan_of_other_windows_is_refused() {
    for algorithm in WINDOWS {
        let limiter = direct(algorithm, Quota::per_minute(10));
        let error = limiter.plan(Quota::per_hour(10)).unwrap_err();
        assert!(
            matches!(error, BuildError::PlanPeriod { algorithm: named, .. } if named == algorithm),
            "{error}"
        );
        let error = limiter.plan(Quota::per_minute(10).burst(3)).unwrap_err();
        assert!(matches!(error, BuildError::BurstOnWindow { burst: 3, .. }), "{error}");
    }
}

#[test]
fn unlimited_and_blocked_are_plans() {
    for algorithm in ALL {
        let limiter = direct(algorithm, Quota::per_minute(10));
        let (unlimited, blocked) =
            (limiter.plan(Quota::unlimited()).unwrap(), limiter.plan(Quota::blocked()).unwrap());
        assert_eq!(limiter.check_n_with_at(u64::MAX, &unlimited, 0).remaining(), u64::MAX);
        assert_eq!(limiter.check_n_with_at(1, &blocked, 0).verdict(), Verdict::NeverFits);
        assert!(limiter.check_n_with_at(0, &blocked, 0).is_allowed());
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), 10, "neither counts");
    }
    let limiter = direct("gcra", Quota::unlimited());
    let error = limiter.plan(Quota::per_second(1)).unwrap_err();
    assert_eq!(error, BuildError::PlanWithoutRate { limiter: Quota::unlimited() });
}

/// A limiter whose own burst takes 140 years to come back counts in coarse ticks. A plan that divides them evenly is
/// rounded as everything there: never above its bound, whatever the phase.
#[test]
fn a_plan_on_coarse_ticks_keeps_its_bound() {
    let limiter = DirectLimiter::builder(Quota::new(1, tollgate::MAX_PERIOD).burst(u64::from(u32::MAX)))
        .build()
        .unwrap();
    for limit in 1..3_000 {
        let Ok(plan) = limiter.plan(Quota::new(limit, tollgate::MAX_PERIOD).burst(1)) else { continue };

        for phase in [0, 123_456_789, 987_654_321] {
            limiter.reset_at(0);
            let start_ns = 1_000_000_000_000_000_000 + phase;
            let (mut now_ns, mut admitted) = (start_ns, 0);
            while now_ns < start_ns + MAX_PERIOD_NS {
                let decision = limiter.check_n_with_at(1, &plan, now_ns);
                admitted += decision.taken();
                now_ns += decision.retry_after().as_nanos() as u64;
            }
            assert!(admitted <= limit, "{admitted} instead of {limit} per ten years");
        }
    }
}

/// A plan's words mean nothing to another limiter, which decides by its own quota.
#[test]
fn a_plan_of_another_limiter_is_not_believed() {
    for algorithm in ALL {
        let (limiter, other) =
            (direct(algorithm, Quota::per_second(3)), direct(algorithm, Quota::per_second(1_000)));
        let foreign = other.plan(Quota::per_second(2_000)).unwrap();
        assert_eq!(limiter.check_n_with_at(1, &foreign, NS_PER_S).remaining(), 2, "{algorithm}");
        assert!(limiter.check_n_with_at(3, &foreign, NS_PER_S).is_denied(), "{algorithm}");
        assert_eq!(
            limiter.check_n_with_at(4, &foreign, NS_PER_S).verdict(),
            Verdict::NeverFits,
            "{algorithm}"
        );
    }
}
