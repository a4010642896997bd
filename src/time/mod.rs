//! Time is `u64` nanoseconds from a clock's origin. Everything here is plain arithmetic.

mod ratio;

pub(crate) use ratio::Ratio;

use core::time::Duration;

/// The latest time that a limiter tells apart, 73 years after the clock's origin. Anything later is read as this.
///
/// Two milliseconds short of `2^61`, so that the index of a window of one nanosecond leaves a bit for its count.
pub const MAX_NOW_NS: u64 = (1 << 61) - (1 << 21);

/// A duration in nanoseconds; saturates at `u64::MAX` (584 years).
pub(crate) const fn duration_ns(duration: Duration) -> u64 {
    let ns = duration.as_nanos();
    if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 }
}

/// The time of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Nanoseconds from the clock's origin, at most [`MAX_NOW_NS`].
    ns: u64,
    /// How far ahead of its time any word of this limiter may be.
    reach_ns: u64,
}

impl Now {
    /// The time `ns` after the clock's origin.
    #[inline]
    pub const fn at(ns: u64) -> Self {
        Self { ns: if ns > MAX_NOW_NS { MAX_NOW_NS } else { ns }, reach_ns: 0 }
    }

    /// The same time, in a limiter whose words may be up to `reach_ns` ahead because of reservations or of plans with a
    /// longer burst: such a word is not a sign of a clock that jumped back.
    #[inline]
    #[must_use]
    pub const fn with_reach(self, reach_ns: u64) -> Self {
        Self { reach_ns, ..self }
    }

    /// Nanoseconds from the clock's origin.
    #[inline]
    pub const fn ns(self) -> u64 {
        self.ns
    }

    /// See [`with_reach`](Self::with_reach).
    #[inline]
    pub const fn reach_ns(self) -> u64 {
        self.reach_ns
    }

    /// This time, or `ns` if that is later.
    #[inline]
    #[must_use]
    pub const fn no_earlier_than(self, ns: u64) -> Self {
        if ns > self.ns { Self::at(ns).with_reach(self.reach_ns) } else { self }
    }
}
