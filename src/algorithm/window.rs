//! Which fixed window a time is in, and how a word splits into a window index and counts.

use core::time::Duration;

use crate::algorithm::WORD_BITS;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::{MAX_NOW_NS, Now, Ratio, duration_ns};

/// Indices start here, so that a slot never used is below every fresh word even with a window of lead.
const ORIGIN: u64 = 2;

/// Windows of `period_ns`, one of which starts `period_ns - shift_ns` after the clock's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    period_ns: u64,
    shift_ns: u64,
    index: Ratio,
    /// Bits below the index.
    count_bits: u32,
}

/// A time as a window and a place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) index: u64,
    /// Since the window's start.
    pub(super) elapsed_ns: u64,
}

impl Windows {
    pub(super) fn new(algorithm: &'static str, rate: Rate, offset: Duration) -> Result<Self, BuildError> {
        if let Some(burst) = rate.burst() {
            return Err(BuildError::BurstOnWindow { algorithm, burst });
        }
        let period_ns = rate.period_ns();
        let late_ns = duration_ns(offset) % period_ns;
        let shift_ns = if late_ns == 0 { 0 } else { period_ns - late_ns };
        // One more than the latest index, for a window that is looked at from the one before.
        let last = (MAX_NOW_NS + shift_ns) / period_ns + ORIGIN + 1;
        let count_bits = WORD_BITS - (u64::BITS - last.leading_zeros());
        Ok(Self { period_ns, shift_ns, index: Ratio::new(1, period_ns), count_bits })
    }

    /// The windows must be the same for two quotas to share words.
    pub(super) fn same_period(&self, algorithm: &'static str, rate: Rate) -> Result<(), BuildError> {
        if let Some(burst) = rate.burst() {
            return Err(BuildError::BurstOnWindow { algorithm, burst });
        }
        if rate.period_ns() == self.period_ns {
            return Ok(());
        }
        let limiter_period = Duration::from_nanos(self.period_ns);
        Err(BuildError::PlanPeriod { algorithm, period: rate.period(), limiter_period })
    }

    /// Refuses a limit above `max`, the largest count that a word holds.
    pub(super) fn check_count(
        &self,
        algorithm: &'static str,
        rate: Rate,
        max: u64,
    ) -> Result<(), BuildError> {
        let limit = rate.limit();
        if limit > max {
            return Err(BuildError::LimitTooLarge { algorithm, limit, period: rate.period(), max });
        }
        Ok(())
    }

    #[inline]
    pub(super) const fn period_ns(&self) -> u64 {
        self.period_ns
    }

    #[inline]
    pub(super) const fn count_bits(&self) -> u32 {
        self.count_bits
    }

    /// The place of `now`, or the start of window `no_earlier` if that is later.
    #[inline]
    pub(super) fn place(&self, now: Now, no_earlier: u64) -> Place {
        let ns = now.ns() + self.shift_ns;
        let whole = self.index.floor(ns);
        let index = whole + ORIGIN;
        if index < no_earlier {
            return Place { index: no_earlier, elapsed_ns: 0 };
        }
        Place { index, elapsed_ns: ns - whole * self.period_ns }
    }

    /// The start of a window, in nanoseconds from the clock's origin.
    pub(super) const fn start_ns(&self, index: u64) -> u64 {
        index.saturating_sub(ORIGIN).saturating_mul(self.period_ns).saturating_sub(self.shift_ns)
    }

    /// The word of a window with its counts.
    #[inline]
    pub(super) const fn word(&self, index: u64, counts: u64) -> u64 {
        index << self.count_bits | counts
    }

    /// The window and the counts of a word.
    #[inline]
    pub(super) const fn split(&self, word: u64) -> (u64, u64) {
        (word >> self.count_bits, word & ((1 << self.count_bits) - 1))
    }
}
