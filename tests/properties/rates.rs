//! Contract 10: exact where an interval is whole, within 0.1 % and on the strict side elsewhere, against the true clock.

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::DirectLimiter;

use super::oracle::{ARRIVAL, NS_PER_S, Readings, direct, per};
use super::{Rate, any_rate, build, exact_rate};

/// The time at which `units` have come back since time 0, when `chunk` are taken as soon as they are there.
fn earned_ns<C>(limiter: &DirectLimiter<C>, chunk: u64, units: u64) -> u64 {
    let mut now_ns = 0;
    for _ in 0..units / chunk {
        now_ns += limiter.peek_n_at(chunk, now_ns).retry_after().as_nanos() as u64;
        assert!(limiter.check_n_at(chunk, now_ns).is_allowed());
    }
    now_ns
}

/// `units * period / limit` in nanoseconds, rounded up.
fn ideal_ns(rate: Rate, units: u64) -> u128 {
    (u128::from(units) * u128::from(rate.period_ns)).div_ceil(u128::from(rate.limit))
}

#[test]
fn rates_that_do_not_divide_a_second_do_not_drift() {
    for limit in [3, 7, 29, 93, 7_000, 80_000, 300_000, 70_000_000, 600_000_000, 999_999_999, 1_000_000_000] {
        for algorithm in ARRIVAL {
            let limiter = direct(algorithm, per(limit, NS_PER_S).burst(1));
            assert!(limiter.check_at(0).is_allowed());
            let units = 100_000;
            let rate = Rate { limit, period_ns: NS_PER_S, burst: 1 };
            assert_eq!(u128::from(earned_ns(&limiter, 1, units)), ideal_ns(rate, units), "{limit}/s");
        }
    }
}

proptest! {
    /// From a reading without error on, the units come at the very nanosecond: nothing adds up. (A bucket that overflows
    /// within the nanosecond loses what is above full, as it must: so it is never full here.)
    #[test]
    fn a_unit_comes_when_it_is_due(rate in exact_rate(), chunks in 1..200_u64, chunk in 1..1_000_u64) {
        prop_assume!(rate.burst > 1);
        let chunk = chunk.min(rate.burst - 1);
        let limiter = direct("gcra", per(rate.limit, rate.period_ns).burst(rate.burst));
        prop_assert!(limiter.check_n_at(rate.burst, 0).is_allowed());
        let due_ns = ideal_ns(rate, chunk * chunks);
        prop_assume!(due_ns < 1 << 60);
        prop_assert_eq!(u128::from(earned_ns(&limiter, chunk, chunk * chunks)), due_ns);
    }

    /// The coarse scales of very long bursts too: late by at most 0.1 %, and a tick, and never early.
    #[test]
    fn a_rate_is_kept_on_any_scale(rate in any_rate(), chunks in 1..50_u64, chunk in 1..1_u64 << 32) {
        prop_assume!(rate.burst > 1);
        let chunk = chunk.min(rate.burst - 1);
        let limiter = build("gcra", per(rate.limit, rate.period_ns).burst(rate.burst)).unwrap();
        prop_assert!(limiter.check_n_at(rate.burst, 0).is_allowed());
        let due_ns = ideal_ns(rate, chunk * chunks);
        prop_assume!(due_ns < 1 << 60);
        let earned_ns = u128::from(earned_ns(&limiter, chunk, chunk * chunks));
        prop_assert!(earned_ns >= due_ns);
        // The last unit may fall into a tick; a period has a thousand at least.
        let tick_ns = u128::from(rate.period_ns) / 999 + 1;
        prop_assert!(earned_ns - due_ns <= due_ns / 999 + tick_ns, "{} instead of {}", earned_ns, due_ns);
    }

    /// What "floor to the tick" means: the model's clock is early by less than a nanosecond, and not at all where an
    /// interval is whole.
    #[test]
    fn a_reading_is_early_by_less_than_a_nanosecond(rate in any_rate(), now_ns in 0..1_u64 << 61) {
        let (early, parts) = Readings::new(rate.limit, rate.period_ns).early_by(now_ns);
        prop_assert!(early >= 0 && early < parts);
        if rate.period_ns.is_multiple_of(rate.limit) {
            prop_assert_eq!(early, 0);
        }
    }

    /// The library against the ideal on the true clock, without ticks: never off by what comes back in one nanosecond,
    /// however long it runs.
    #[test]
    fn decisions_are_the_ideals_within_a_nanosecond(
        rate in exact_rate(),
        script in vec((0..2_000_u64, 1..=16_u64), 1..60),
    ) {
        let limiter = direct("token_bucket", per(rate.limit, rate.period_ns).burst(rate.burst));
        // Tokens in parts of which `period` are one and `limit` come back per nanosecond.
        let (token, nanosecond) = (i128::from(rate.period_ns), i128::from(rate.limit));
        let full = i128::from(rate.burst) * token;
        let (mut ideal, mut now_ns) = (full, 0);
        for &(thousandths, sixteenths) in &script {
            let step_ns = (u128::from(rate.period_ns) * u128::from(thousandths) / 1_000) as u64;
            let cost = (rate.burst / 16 * sixteenths).max(1);
            now_ns += step_ns;
            if now_ns > tollgate::MAX_NOW_NS {
                break;
            }
            ideal = full.min(ideal + i128::from(step_ns) * nanosecond);
            let need = i128::from(cost) * token;
            if limiter.check_n_at(cost, now_ns).is_allowed() {
                prop_assert!(need < ideal + nanosecond, "above the ideal");
                ideal -= need;
            } else {
                prop_assert!(need > ideal - nanosecond, "refused although it fits");
            }
        }
    }
}
