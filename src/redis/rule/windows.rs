//! Counts in windows of whole microseconds, of which one begins at the start of Unix time, or an offset later.

use crate::error::BuildError;
use crate::quota::Rate;
use crate::redis::rule::{Cost, Part, Told, limit, whole_us};

/// The largest count of which a script multiplies a time exactly.
const MAX_COUNT: u64 = 1 << 26;

/// Whether the window before counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    Fixed,
    Sliding,
}

#[derive(Clone, Debug)]
pub(in crate::redis) struct Windowed {
    counting: Counting,
    period_us: u64,
    /// From a window's start to the start of time.
    shift_us: u64,
    limit: u64,
}

impl Windowed {
    pub(super) fn new(counting: Counting, rate: Rate, offset_us: u64) -> Result<Self, BuildError> {
        let algorithm = match counting {
            Counting::Fixed => "fixed_window",
            Counting::Sliding => "sliding_window_counter",
        };
        let period_us = whole_us(algorithm, rate)?;
        let shift_us = (period_us - offset_us % period_us) % period_us;
        Ok(Self { counting, period_us, shift_us, limit: limit(algorithm, rate, MAX_COUNT)? })
    }

    pub(super) const fn part(&self) -> Part {
        match self.counting {
            Counting::Fixed => Part::FixedWindow,
            Counting::Sliding => Part::SlidingWindowCounter,
        }
    }

    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn settings(&self) -> [u64; 3] {
        [self.period_us, self.shift_us, self.limit]
    }

    /// By the start of the window, its count and the one before; the first may be before the start of time.
    pub(super) fn tell(&self, state: &[u64], now_us: u64, cost: Cost) -> Option<Told> {
        let (start, current, previous) = match (self.counting, state) {
            (Counting::Fixed, &[start, count]) => (start, count, 0),
            (Counting::Sliding, &[start, current, previous]) => (start, current, previous),
            _ => return None,
        };
        // Wraps both ways: the start may be ahead of the time, or negative.
        let since_us = now_us.wrapping_sub(start) as i64;
        let (elapsed_us, ahead_us) = (since_us.max(0) as u64, since_us.min(0).unsigned_abs());
        let left_us = self.period_us.saturating_sub(elapsed_us);
        let covered = self.weight(previous, left_us);
        let wait_us = match self.counting {
            Counting::Fixed => left_us,
            Counting::Sliding => self.fades_us(current, previous, cost.units).saturating_sub(elapsed_us),
        };
        let room = self.limit.saturating_sub(current.saturating_add(covered));
        let reset_us = match (current + cost.pending(room), previous) {
            (0, 0) => 0,
            (0, _) => left_us,
            _ if self.counting == Counting::Fixed => left_us,
            _ => left_us + self.period_us,
        };
        Some(Told {
            room,
            retry_after_us: wait_us + ahead_us,
            reset_after_us: if reset_us == 0 { 0 } else { reset_us + ahead_us },
        })
    }

    /// Units of the window before that the trailing one still covers, rounded up.
    fn weight(&self, previous: u64, left_us: u64) -> u64 {
        (u128::from(previous) * u128::from(left_us)).div_ceil(u128::from(self.period_us)) as u64
    }

    /// When the cost fits, from the start of the window.
    fn fades_us(&self, current: u64, previous: u64, cost: u64) -> u64 {
        let room = self.limit.saturating_sub(cost);
        if current <= room {
            self.fade_us(previous, room - current)
        } else {
            self.period_us + self.fade_us(current, room)
        }
    }

    /// When no more than `room` of `count` units is covered.
    fn fade_us(&self, count: u64, room: u64) -> u64 {
        if count <= room {
            return 0;
        }
        self.period_us - (u128::from(room) * u128::from(self.period_us) / u128::from(count)) as u64
    }
}
