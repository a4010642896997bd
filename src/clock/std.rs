//! The standard library's monotonic clock.

use std::time::Instant;

use super::Clock;
use crate::time::duration_ns;

/// [`Instant`] as a clock: nanoseconds since the clock was made. Copies share its origin.
///
/// A reading costs one call into the system's monotonic clock: 20 to 50 ns where the kernel maps it into the process,
/// and a system call elsewhere.
///
/// Whether time passes during suspend is the platform's choice. Linux reads `CLOCK_MONOTONIC`, which stops: what a
/// limiter would have refilled while the machine slept is not refilled.
///
/// ```
/// use tollgate::{Clock, StdClock};
/// let clock = StdClock::new();
/// let before = clock.now_ns();
/// assert!(clock.now_ns() >= before);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StdClock {
    origin: Instant,
}

impl StdClock {
    /// A clock that starts at 0 now.
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for StdClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for StdClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        duration_ns(self.origin.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_at_its_creation_and_follows_instant() {
        let before = Instant::now();
        let clock = StdClock::new();
        let now_ns = clock.now_ns();
        assert!(now_ns <= duration_ns(before.elapsed()));
        assert!(clock.now_ns() >= now_ns);
    }
}
