//! Fixed window: at most `limit` units in each window `[k * period, (k + 1) * period)`.
//!
//! The word is the window's index above the count. Two full windows may touch: up to `2 * limit` units can pass within
//! one period around a boundary.

use core::time::Duration;
use std::sync::Arc;

use crate::algorithm::window::{Place, Windows};
use crate::algorithm::{Algorithm, Reserved, Step};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::Now;

/// The name it is known by.
pub(super) const NAME: &str = "fixed_window";

/// At most `limit` units per window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedWindow {
    windows: Windows,
    limit: u64,
}

impl FixedWindow {
    pub(super) fn new(rate: Rate, offset: Duration) -> Result<Self, BuildError> {
        Self { windows: Windows::new(NAME, rate, offset)?, limit: 0 }.with_limit(rate)
    }

    /// The same windows with another limit.
    pub(super) fn at_rate(&self, rate: Rate) -> Result<Self, BuildError> {
        self.windows.same_period(NAME, rate)?;
        self.with_limit(rate)
    }

    fn with_limit(self, rate: Rate) -> Result<Self, BuildError> {
        self.windows.check_count(NAME, rate, self.most())?;
        Ok(Self { limit: rate.limit(), ..self })
    }

    /// The largest count.
    const fn most(&self) -> u64 {
        (1 << self.windows.count_bits()) - 1
    }

    /// The place of `now`, no earlier than the word's window, and what that window has counted.
    #[inline]
    fn read(&self, word: u64, now: Now) -> (Place, u64) {
        let (index, count) = self.windows.split(word);
        let place = self.windows.place(now, index);
        (place, if place.index == index { count } else { 0 })
    }

    #[inline]
    fn left_ns(&self, place: Place) -> u64 {
        self.windows.period_ns() - place.elapsed_ns
    }
}

impl Algorithm for FixedWindow {
    #[inline]
    fn fresh(&self, now: Now) -> u64 {
        self.windows.word(self.windows.place(now, 0).index, 0)
    }

    #[inline]
    fn lead(&self) -> u64 {
        0
    }

    fn opening_ns(&self, word: u64) -> u64 {
        self.windows.start_ns(self.windows.split(word).0)
    }

    #[inline]
    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        let (place, count) = self.read(word, now);
        let room = self.limit.saturating_sub(count);
        let left_ns = self.left_ns(place);
        let reset_after_ns = if count > 0 { left_ns } else { 0 };
        let decision = if cost > self.limit {
            Decision::never_fits(self.limit, room, reset_after_ns)
        } else if cost > room {
            Decision::denied(self.limit, room, left_ns, reset_after_ns)
        } else if cost == 0 {
            Decision::allowed(0, self.limit, room, reset_after_ns)
        } else {
            let word = self.windows.word(place.index, count + cost);
            return Step { word, decision: Decision::allowed(cost, self.limit, room - cost, left_ns) };
        };
        Step { word, decision }
    }

    fn is_queue(&self) -> bool {
        false
    }

    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        let (place, count) = self.read(word, now);
        if self.windows.split(stamp).0 != place.index {
            return word;
        }
        self.windows.word(place.index, count.saturating_sub(units))
    }

    /// A window that is over owes nothing, so the units never have to be waited for.
    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved {
        let (place, count) = self.read(word, now);
        let word = self.windows.word(place.index, count.saturating_add(units).min(self.most()));
        Reserved { word, wait_ns: 0 }
    }

    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        Ok(Arc::new(self.at_rate(rate)?))
    }
}
