//! What a thread remembers of its own readings.

#[cfg(not(all(loom, feature = "loom")))]
use core::cell::Cell;

#[cfg(not(all(loom, feature = "loom")))]
use crate::sync::{AtomicU64, Ordering};

/// Keeps each thread's readings of one clock from stepping back.
///
/// A thread remembers its last reading of one clock only. Under loom nothing is remembered: its threads share one
/// thread of the system, and its atomics cannot be static.
#[derive(Debug)]
pub(super) struct PerThread {
    #[cfg(not(all(loom, feature = "loom")))]
    clock: u64,
}

#[cfg(not(all(loom, feature = "loom")))]
thread_local! {
    /// The clock and its last reading. 0 is no clock.
    static LAST: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

#[cfg(not(all(loom, feature = "loom")))]
impl PerThread {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Relaxed: needs no partner, only the numbers must differ.
        Self { clock: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// `time`, now this thread's last reading; or the last reading, if that was as late.
    #[inline]
    pub(super) fn advance(&self, time: u64) -> Result<u64, u64> {
        LAST.with(|cell| {
            let (clock, last) = cell.get();
            if clock == self.clock && last >= time {
                return Err(last);
            }
            cell.set((self.clock, time));
            Ok(time)
        })
    }
}

#[cfg(all(loom, feature = "loom"))]
impl PerThread {
    pub(super) fn new() -> Self {
        Self {}
    }

    pub(super) fn advance(&self, time: u64) -> Result<u64, u64> {
        Ok(time)
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use super::*;

    #[test]
    fn one_thread_never_steps_back() {
        let own = PerThread::new();
        assert_eq!(own.advance(0), Ok(0));
        assert_eq!(own.advance(5), Ok(5));
        assert_eq!(own.advance(5), Err(5));
        assert_eq!(own.advance(4), Err(5));
        assert_eq!(own.advance(6), Ok(6));
    }

    #[test]
    fn clocks_and_threads_do_not_hold_each_other_up() {
        let one = PerThread::new();
        let other = PerThread::new();
        assert_eq!(one.advance(1_000), Ok(1_000));
        assert_eq!(other.advance(10), Ok(10));
        assert_eq!(one.advance(1_000), Ok(1_000));
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(one.advance(3), Ok(3)));
        });
        assert_eq!(one.advance(999), Err(1_000));
    }
}
