//! A clock that stands where it was put.

use core::time::Duration;
use std::sync::Arc;

use super::Clock;
use crate::sync::{AtomicU64, Ordering};
use crate::time::duration_ns;

/// A clock that moves only when told to: for tests, simulations, and replays. Clones share the time.
///
/// A reading costs one load. It can be read and moved from any thread.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Clock, ManualClock};
/// let clock = ManualClock::new(0);
/// let handle = clock.clone();
/// handle.advance(Duration::from_micros(3));
/// assert_eq!(clock.now_ns(), 3_000);
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<AtomicU64>,
}

impl ManualClock {
    /// A clock that stands at `start_ns` nanoseconds.
    pub fn new(start_ns: u64) -> Self {
        Self { now: Arc::new(AtomicU64::new(start_ns)) }
    }

    /// Moves forward by `step`, and stops at `u64::MAX` nanoseconds.
    pub fn advance(&self, step: Duration) {
        let step_ns = duration_ns(step);
        let mut now_ns = self.now_ns();
        // Relaxed: needs no partner. The time is the only thing published, and one word is coherent by itself.
        while let Err(moved) = self.now.compare_exchange(
            now_ns,
            now_ns.saturating_add(step_ns),
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            now_ns = moved;
        }
    }

    /// Moves to `now_ns` nanoseconds, which may be earlier: to see what a clock that steps back does.
    pub fn set(&self, now_ns: u64) {
        // Relaxed: needs no partner, see `advance`.
        self.now.store(now_ns, Ordering::Relaxed);
    }
}

impl Default for ManualClock {
    /// A clock that stands at 0.
    fn default() -> Self {
        Self::new(0)
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        // Relaxed: needs no partner, see `advance`.
        self.now.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advance_saturates_and_set_steps_back() {
        let clock = ManualClock::new(u64::MAX - 5);
        clock.advance(Duration::from_nanos(5));
        assert_eq!(clock.now_ns(), u64::MAX);
        clock.advance(Duration::MAX);
        assert_eq!(clock.now_ns(), u64::MAX);
        clock.set(3);
        assert_eq!(clock.now_ns(), 3);
    }

    #[test]
    fn no_step_of_two_threads_is_lost() {
        const STEPS: u64 = 20_000;
        let clock = ManualClock::default();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let clock = clock.clone();
                scope.spawn(move || (0..STEPS).for_each(|_| clock.advance(Duration::from_nanos(1))));
            }
        });
        assert_eq!(clock.now_ns(), 2 * STEPS);
    }
}
