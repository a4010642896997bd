//! Time is `u64` nanoseconds from a clock's origin. Everything here is plain arithmetic.

mod ratio;

pub(crate) use ratio::Ratio;

use core::time::Duration;

/// The latest time that a limiter tells apart, 73 years after the clock's origin. Anything later is read as this: for Unix
/// time in nanoseconds that is in January 2043, from when on nothing comes back.
///
/// Two milliseconds short of `2^61`, so that the index of a window of one nanosecond leaves a bit for its count.
pub const MAX_NOW_NS: u64 = (1 << 61) - (1 << 21);

/// A duration in nanoseconds; saturates at `u64::MAX` (584 years).
pub(crate) const fn duration_ns(duration: Duration) -> u64 {
    let ns = duration.as_nanos();
    if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 }
}

/// The time of a decision, and what is known of the words that it may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    ns: u64,
    span_ns: u64,
    debt: u64,
}

impl Now {
    /// The time `ns` after the clock's origin, or [`MAX_NOW_NS`] if that is earlier.
    #[inline]
    pub const fn at(ns: u64) -> Self {
        Self { ns: if ns > MAX_NOW_NS { MAX_NOW_NS } else { ns }, span_ns: 0, debt: 0 }
    }

    /// The same time, in a limiter with a plan whose full burst takes `span_ns` to come back, and with reservations that
    /// have put words up to `debt`. A word that is further ahead than a full burst and not explained by these shows that
    /// the clock stepped back.
    #[inline]
    #[must_use]
    pub const fn among(self, span_ns: u64, debt: u64) -> Self {
        Self { span_ns, debt, ..self }
    }

    /// Nanoseconds from the clock's origin.
    #[inline]
    pub const fn ns(self) -> u64 {
        self.ns
    }

    /// The longest time in which a full burst of any plan comes back; 0 while there is only the limiter's own quota.
    #[inline]
    pub const fn span_ns(self) -> u64 {
        self.span_ns
    }

    /// The highest word that was ever put with units that were still to come.
    #[inline]
    pub const fn debt(self) -> u64 {
        self.debt
    }

    /// This time, or `ns` if that is later.
    #[inline]
    #[must_use]
    pub const fn no_earlier_than(self, ns: u64) -> Self {
        if ns > self.ns { Self::at(ns).among(self.span_ns, self.debt) } else { self }
    }
}
