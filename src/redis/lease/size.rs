//! How many units to take at once. Pure arithmetic.

use std::time::Duration;

use crate::decision::Decision;
use crate::quota::Rate;

/// Units for this long are taken at once, if so many are allowed.
const AHEAD: Duration = Duration::from_millis(100);

/// After a refusal Redis is not asked again for this long, unless its own wait is longer, or a burst would overflow meanwhile.
const PAUSE: Duration = Duration::from_millis(50);

/// How many sizes are offered to Redis, each half of the one before: it takes the first that fits.
const OFFERS: usize = 16;

/// What a hand can count.
const MAX_UNITS: u64 = 1 << 31;

/// The sizes of a rule's leases.
#[derive(Clone, Copy, Debug)]
pub(in crate::redis) struct Sizes {
    largest: u64,
    pause: Duration,
}

impl Sizes {
    /// For a rule, of which this process may have so many units in hand.
    pub(in crate::redis) fn new(rate: Rate, largest: u64) -> Self {
        // Half of a burst comes back in this time.
        let half_ns =
            u128::from(rate.period_ns()) * u128::from(rate.capacity()) / u128::from(rate.limit()) / 2;
        let half = Duration::from_nanos(u64::try_from(half_ns).unwrap_or(u64::MAX));
        Self { largest: largest.min(MAX_UNITS), pause: PAUSE.min(half) }
    }

    /// It may be decided by a lease.
    pub(super) const fn fits(&self, cost: u64) -> bool {
        cost > 0 && cost <= self.largest
    }

    /// What to ask for, by what is asked of this process each second and what is left of the last one: as many as are wanted, then
    /// fewer, the cost last.
    pub(super) fn wanted(&self, per_second: f64, cost: u64, left: u64) -> Vec<u64> {
        let ahead = (per_second * AHEAD.as_secs_f64()).ceil();
        // As in `as`: what is negative or not a number is 0.
        let mut size = (ahead as u64).saturating_add(cost).min(self.largest.saturating_sub(left)).max(cost);
        let mut sizes = Vec::with_capacity(OFFERS);
        while size > cost && sizes.len() < OFFERS - 1 {
            sizes.push(size);
            size = (size / 2).max(cost);
        }
        sizes.push(cost);
        sizes
    }

    /// How long a refusal holds, or having got fewer units than were wanted, once these are spent: until more are worth a call.
    pub(super) fn pause(&self, decision: Decision) -> Decision {
        let wait = decision.retry_after().max(self.pause);
        decision.denied_for(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::Quota;

    fn sizes(quota: Quota, largest: u64) -> Sizes {
        Sizes::new(quota.rate().unwrap(), largest)
    }

    #[test]
    fn as_many_as_are_wanted_then_halves_then_the_cost() {
        let sizes = sizes(Quota::per_second(1_000), 100);
        assert_eq!(sizes.wanted(0.0, 1, 0), [1]);
        assert_eq!(sizes.wanted(20.0, 1, 0), [3, 1]);
        assert_eq!(sizes.wanted(1e9, 1, 0), [100, 50, 25, 12, 6, 3, 1]);
        assert_eq!(sizes.wanted(1e9, 60, 0), [100, 60]);
        assert_eq!(sizes.wanted(f64::NAN, 2, 0), [2]);
        assert_eq!(
            sizes.wanted(1e9, 1, 40),
            [60, 30, 15, 7, 3, 1],
            "with what is left no more than the largest"
        );
    }

    #[test]
    fn a_refusal_holds_until_units_are_worth_a_call_and_no_burst_overflows() {
        let refusal = |ms: u64| Decision::denied(10, 0, ms * 1_000_000, 0);
        let wide = sizes(Quota::per_second(1_000), 100);
        assert_eq!(wide.pause(refusal(1)).retry_after(), Duration::from_millis(50));
        assert_eq!(wide.pause(refusal(70)).retry_after(), Duration::from_millis(70));
        let narrow = sizes(Quota::per_second(1_000).burst(20), 2);
        assert_eq!(narrow.pause(refusal(1)).retry_after(), Duration::from_millis(10));
    }
}
