//! Ticks: the unit of time in which every rate is a whole number.

use core::num::NonZeroU64;

use crate::algorithm::MAX_WORD;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::{MAX_NOW_NS, Ratio};

/// Words start here, so that a slot never used is below every fresh word.
const ORIGIN: u64 = 1 << 20;

/// Ticks left for a full burst on a coarse scale, whose latest time is below [`MAX_NOW_NS`] ticks.
const MAX_COARSE_BURST: u64 = MAX_WORD - ORIGIN - MAX_NOW_NS;

/// Fewest ticks per period that keep the strict rounding of a coarse scale within 0.1 %.
const MIN_PERIOD_TICKS: u64 = 1_000;

/// A linear map between nanoseconds and ticks.
///
/// A quota of `limit` units per `period` has an interval of `period / limit` nanoseconds, which is rarely whole. Counting
/// time in ticks of which one interval is exactly `ceil(period / limit)` makes it so: charging a unit adds a
/// whole number and nothing ever drifts. `ticks(now) = floor(now * ceil(period / limit) * limit / period)`; the factor is 1 when the
/// interval is whole, and below 2 always, so a tick is at most a nanosecond.
///
/// A burst that takes longer than about 73 years to come back does not fit a word in such ticks. Its scale is coarser,
/// and one tick per period slower, which keeps the published bound although time is then rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks {
    /// `per_period.0` ticks are `per_period.1` nanoseconds.
    per_period: (u64, u64),
    to_ticks: Ratio,
    to_ns: Ratio,
}

impl Ticks {
    /// The finest scale on which a full burst fits, and the ticks of one unit.
    pub(super) fn new(rate: Rate) -> Result<(Self, NonZeroU64), BuildError> {
        Self::within(rate, MAX_WORD)
    }

    /// The same, where a full burst is to take no more than so many ticks.
    pub(super) fn within(rate: Rate, max_ticks: u64) -> Result<(Self, NonZeroU64), BuildError> {
        let (limit, period_ns, burst) = (rate.limit(), rate.period_ns(), rate.capacity());
        let exact = period_ns.div_ceil(limit);
        let fine = Self::scale(exact * limit, period_ns);
        let max_exact_burst = fine.max_burst_ticks().min(max_ticks) / exact;
        if burst <= max_exact_burst {
            return Ok((fine, at_least_one(exact)));
        }
        let whole_interval = period_ns / limit;
        let max_coarse = MAX_COARSE_BURST.min(max_ticks);
        let coarsest = MIN_PERIOD_TICKS.div_ceil(limit);
        let per_unit = (max_coarse / burst).min(whole_interval);
        if per_unit < coarsest {
            let max_coarse_burst = if whole_interval < coarsest { 0 } else { max_coarse / coarsest };
            return Err(BuildError::BurstTooLarge { burst, max: max_exact_burst.max(max_coarse_burst) });
        }
        Ok((Self::scale(per_unit * limit - 1, period_ns), at_least_one(per_unit)))
    }

    const fn scale(ticks: u64, period_ns: u64) -> Self {
        Self {
            per_period: (ticks, period_ns),
            to_ticks: Ratio::new(ticks, period_ns),
            to_ns: Ratio::new(period_ns, ticks),
        }
    }

    /// The ticks of one unit of another rate, rounded up, on this scale.
    pub(super) fn per_unit_of(&self, rate: Rate) -> Result<NonZeroU64, BuildError> {
        let (ticks, ns) = (u128::from(self.per_period.0), u128::from(self.per_period.1));
        // On a coarse scale time is rounded down by up to a tick: a period must be a tick longer, as in `new`.
        let slack = if ticks < ns { ns } else { 0 };
        // Below 2^59 * 2^60, and below 2^59 * 2^59.
        let interval = (u128::from(rate.period_ns()) * ticks, u128::from(rate.limit()) * ns);
        let per_unit = (interval.0 + slack).div_ceil(interval.1);
        if per_unit * interval.1 - interval.0 > interval.0 / 1_000 {
            return Err(BuildError::PlanTooFine { limit: rate.limit(), period: rate.period() });
        }
        let max = u128::from(self.max_burst_ticks()) / per_unit;
        if u128::from(rate.capacity()) > max {
            return Err(BuildError::BurstTooLarge { burst: rate.capacity(), max: max as u64 });
        }
        Ok(at_least_one(per_unit as u64))
    }

    /// What a word holds on top of the latest time.
    const fn max_burst_ticks(&self) -> u64 {
        MAX_WORD.saturating_sub(self.word(MAX_NOW_NS))
    }

    /// The time `ns` as a word.
    #[inline]
    pub(super) const fn word(&self, ns: u64) -> u64 {
        ORIGIN + self.to_ticks.floor(ns)
    }

    /// The earliest time in nanoseconds whose word is at least `word`; saturates at `u64::MAX`.
    #[inline]
    pub(super) const fn ns(&self, word: u64) -> u64 {
        self.to_ns.ceil(word.saturating_sub(ORIGIN))
    }

    /// So many ticks in nanoseconds, rounded up; saturates at `u64::MAX`.
    pub(super) const fn span_ns(&self, ticks: u64) -> u64 {
        self.to_ns.ceil(ticks)
    }
}

/// An interval of a valid rate is at least a nanosecond, and rounded up.
fn at_least_one(ticks: u64) -> NonZeroU64 {
    NonZeroU64::new(ticks).unwrap_or(NonZeroU64::MIN)
}
