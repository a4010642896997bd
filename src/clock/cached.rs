//! A source's last reading, for all to see.

use super::Clock;
use crate::sync::{AtomicU64, Ordering};

/// Alone on its cache lines: readers take them only from the refresher, never from each other.
#[derive(Debug)]
#[repr(align(128))]
struct Cell(AtomicU64);

/// A source of time and its latest reading so far.
#[derive(Debug)]
pub(super) struct Cached<S> {
    now: Cell,
    source: S,
}

impl<S: Clock> Cached<S> {
    pub(super) fn new(source: S) -> Self {
        Self { now: Cell(AtomicU64::new(source.now_ns())), source }
    }

    /// Reads the source. A thread that read it earlier and writes later changes nothing.
    pub(super) fn refresh(&self) {
        // Relaxed: needs no partner. The time is the only thing published, and one word is coherent by itself.
        self.now.0.fetch_max(self.source.now_ns(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn get(&self) -> u64 {
        // Relaxed: needs no partner, see `refresh`.
        self.now.0.load(Ordering::Relaxed)
    }
}

/// For `loom-tests`, where no thread of the system can refresh.
#[cfg(all(loom, feature = "loom"))]
pub(super) mod model {
    use super::super::ManualClock;

    /// A clock that stands still between refreshes.
    #[derive(Debug)]
    pub struct Cached(super::Cached<ManualClock>);

    impl Cached {
        /// Shows what `source` shows now.
        pub fn new(source: ManualClock) -> Self {
            Self(super::Cached::new(source))
        }

        /// Reads the source.
        pub fn refresh(&self) {
            self.0.refresh();
        }

        /// The latest reading.
        pub fn get(&self) -> u64 {
            self.0.get()
        }
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use std::cell::RefCell;
    use std::sync::{Arc, Weak};

    use super::super::ManualClock;
    use super::*;

    #[test]
    fn shows_the_latest_reading_and_never_less() {
        let source = ManualClock::new(5);
        let cached = Cached::new(source.clone());
        assert_eq!(cached.get(), 5);
        source.set(9);
        assert_eq!(cached.get(), 5);
        cached.refresh();
        assert_eq!(cached.get(), 9);
        source.set(8);
        cached.refresh();
        assert_eq!(cached.get(), 9);
        source.set(10);
        cached.refresh();
        assert_eq!(cached.get(), 10);
    }

    #[test]
    fn an_overtaken_refresh_does_not_turn_time_back() {
        /// Reads 0, then 3; while it reads 3, another refresh reads 7 and finishes.
        struct Overtaken {
            cached: Weak<Cached<Self>>,
            readings: RefCell<Vec<u64>>,
        }
        impl Clock for Overtaken {
            fn now_ns(&self) -> u64 {
                let reading = self.readings.borrow_mut().pop().unwrap();
                if reading == 3 {
                    self.cached.upgrade().unwrap().refresh();
                }
                reading
            }
        }
        let cached = Arc::new_cyclic(|cached| {
            Cached::new(Overtaken { cached: cached.clone(), readings: RefCell::new(vec![7, 3, 0]) })
        });
        assert_eq!(cached.get(), 0);
        cached.refresh();
        assert_eq!(cached.get(), 7);
    }
}
