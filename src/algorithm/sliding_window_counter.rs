//! Sliding window counter: the count of this window, and that of the one before weighted by how much of it the trailing
//! window still covers.
//!
//! The estimate `previous * (period - elapsed) / period + current` is exact if calls were spread evenly over the previous
//! window (Cloudflare, "How we built rate limiting capable of scaling to millions of domains", 2017). It is compared
//! without rounding in the caller's favour: the weighted part counts as its next whole unit.

use core::time::Duration;
use std::sync::Arc;

use crate::algorithm::window::{Place, Windows};
use crate::algorithm::{Algorithm, Reserved, Step};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::Now;

/// The name it is known by.
pub(super) const NAME: &str = "sliding_window_counter";

/// At most `limit` units, estimated, in the trailing period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlidingWindowCounter {
    windows: Windows,
    limit: u64,
    /// Bits of one count.
    bits: u32,
}

/// A word read at a time.
#[derive(Clone, Copy)]
struct View {
    place: Place,
    previous: u64,
    current: u64,
}

impl SlidingWindowCounter {
    pub(super) fn new(rate: Rate, offset: Duration) -> Result<Self, BuildError> {
        let windows = Windows::new(NAME, rate, offset)?;
        Self { windows, limit: 0, bits: windows.count_bits() / 2 }.with_limit(rate)
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
        (1 << self.bits) - 1
    }

    const fn word(&self, view: View) -> u64 {
        self.windows.word(view.place.index, view.previous << self.bits | view.current)
    }

    #[inline]
    fn view(&self, word: u64, now: Now) -> View {
        let (index, counts) = self.windows.split(word);
        let (previous, current) = (counts >> self.bits, counts & self.most());
        let place = self.windows.place(now, index);
        match place.index - index {
            0 => View { place, previous, current },
            1 => View { place, previous: current, current: 0 },
            _ => View { place, previous: 0, current: 0 },
        }
    }

    /// Whole units of the previous window that still count, rounded up.
    #[inline]
    fn weight(&self, view: View) -> u64 {
        if view.previous == 0 {
            return 0;
        }
        let covered_ns = self.windows.period_ns() - view.place.elapsed_ns;
        // At most `previous`.
        (u128::from(view.previous) * u128::from(covered_ns)).div_ceil(u128::from(self.windows.period_ns()))
            as u64
    }

    /// The first instant of a window, from its start, at which `count` units of the one before weigh at most `room`.
    fn faded_ns(&self, count: u64, room: u64) -> u64 {
        let period_ns = self.windows.period_ns();
        if count <= room {
            return 0;
        }
        // Below the period, as room < count.
        period_ns - (u128::from(room) * u128::from(period_ns) / u128::from(count)) as u64
    }

    /// How long until `cost`, which is at most the limit, fits.
    #[cold]
    fn retry_after_ns(&self, view: View, cost: u64) -> u64 {
        let room = self.limit - cost;
        let at_ns = if view.current <= room {
            self.faded_ns(view.previous, room - view.current)
        } else {
            self.windows.period_ns() + self.faded_ns(view.current, room)
        };
        at_ns - view.place.elapsed_ns
    }

    /// How long until nothing is left of both counts.
    #[inline]
    fn reset_after_ns(&self, view: View) -> u64 {
        let left_ns = self.windows.period_ns() - view.place.elapsed_ns;
        match (view.current, view.previous) {
            (0, 0) => 0,
            (0, _) => left_ns,
            _ => left_ns + self.windows.period_ns(),
        }
    }
}

impl Algorithm for SlidingWindowCounter {
    #[inline]
    fn fresh(&self, now: Now) -> u64 {
        self.windows.word(self.windows.place(now, 0).index, 0)
    }

    /// A window counts until the end of the next one.
    #[inline]
    fn lead(&self) -> u64 {
        1 << self.windows.count_bits()
    }

    fn opening_ns(&self, word: u64) -> u64 {
        self.windows.start_ns(self.windows.split(word).0)
    }

    #[inline]
    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        let view = self.view(word, now);
        let room = self.limit.saturating_sub(view.current + self.weight(view));
        if cost > room {
            let reset_after_ns = self.reset_after_ns(view);
            let decision = if cost > self.limit {
                Decision::never_fits(self.limit, room, reset_after_ns)
            } else {
                Decision::denied(self.limit, room, self.retry_after_ns(view, cost), reset_after_ns)
            };
            return Step { word, decision };
        }
        let after = View { current: view.current + cost, ..view };
        let decision = Decision::allowed(cost, self.limit, room - cost, self.reset_after_ns(after));
        Step { word: if cost == 0 { word } else { self.word(after) }, decision }
    }

    fn is_queue(&self) -> bool {
        false
    }

    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        let view = self.view(word, now);
        let taken_in = self.windows.split(stamp).0;
        let (from_current, from_previous) = if taken_in == view.place.index {
            let from_current = units.min(view.current);
            (from_current, (units - from_current).min(view.previous))
        } else if taken_in + 1 == view.place.index {
            (0, units.min(view.previous))
        } else {
            return word;
        };
        let (current, previous) = (view.current - from_current, view.previous - from_previous);
        self.word(View { current, previous, ..view })
    }

    /// The debt fades like any other count, so the units never have to be waited for.
    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved {
        let view = self.view(word, now);
        let current = view.current.saturating_add(units).min(self.most());
        Reserved { word: self.word(View { current, ..view }), wait_ns: 0 }
    }

    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        Ok(Arc::new(self.at_rate(rate)?))
    }
}
