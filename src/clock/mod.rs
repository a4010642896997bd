//! Where `now` comes from.
//!
//! | clock | a reading costs | a reading is late by | steps back |
//! |---|---|---|---|
//! | [`TscClock`], the default | the time-stamp counter and about 1 ns | nanoseconds | never on one thread |
//! | [`CoarseClock`] | one shared load | its refresh interval | never |
//! | [`StdClock`] | the system's monotonic clock | nothing | never |
//! | [`ManualClock`] | one shared load | what you make it | when told to |
//!
//! A source that cannot be trusted becomes a clock by wrapping it in [`GuardedClock`]. Nothing here counts the time that
//! Linux spends suspended: a limiter wakes up as strict as it fell asleep.

mod anchor;
mod cached;
mod coarse;
mod guard;
mod manual;
mod std;
mod thread;
mod tsc;

#[cfg(all(loom, feature = "loom"))]
pub use self::cached::model::Cached;
pub use self::coarse::{CoarseClock, CoarseClockError};
pub use self::guard::GuardedClock;
pub use self::manual::ManualClock;
pub use self::std::StdClock;
pub use self::tsc::TscClock;

use ::std::sync::Arc;

/// The clock of a limiter that was not given one.
pub type DefaultClock = TscClock;

/// A source of time.
///
/// Nanoseconds from an origin of the clock's own choosing, which never changes during its life. A clock that steps
/// back, or that two threads read out of order, never makes a limiter over-admit; it costs its users waits.
///
/// Limiters that share state must share a clock, or clocks of one origin.
///
/// ```
/// use tollgate::Clock;
///
/// /// Counts whole seconds only.
/// struct Seconds<C>(C);
///
/// impl<C: Clock> Clock for Seconds<C> {
///     fn now_ns(&self) -> u64 {
///         self.0.now_ns() / 1_000_000_000 * 1_000_000_000
///     }
/// }
/// let clock = Seconds(tollgate::ManualClock::new(2_999_999_999));
/// assert_eq!(clock.now_ns(), 2_000_000_000);
/// ```
pub trait Clock {
    /// Nanoseconds since the clock's origin. Must not panic.
    fn now_ns(&self) -> u64;
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    #[inline]
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}
