//! The two kinds of clock, for those that have none of their own.

use std::time::Duration;

use tollgate::{Clock, CoarseClock};

/// How coarse clocks are: a background thread reads the time once in this interval.
pub(super) const COARSE: Duration = Duration::from_millis(1);

/// A kind of clock.
pub(crate) enum Ticking {
    /// The time-stamp counter, read for every decision.
    Fine,
    /// What a background thread has last read. All share one thread, but for governor, which has its own.
    Coarse(CoarseClock),
}

impl Ticking {
    pub(crate) fn coarse() -> Self {
        Self::Coarse(CoarseClock::new(COARSE).unwrap())
    }
}

/// The time-stamp counter.
#[derive(Clone, Debug)]
pub(super) struct Fine(quanta::Clock);

impl Fine {
    pub(super) fn new() -> Self {
        Self(quanta::Clock::new())
    }
}

impl Clock for Fine {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.0.delta_as_nanos(0, self.0.raw())
    }
}

impl ratelimit::Clock for Fine {
    #[inline]
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.now_ns())
    }
}
