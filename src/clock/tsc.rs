//! The processor's time-stamp counter, through `quanta`.

use std::sync::OnceLock;

use super::{Clock, GuardedClock, StdClock};

/// The default clock: the processor's time-stamp counter, [guarded](GuardedClock) by [`StdClock`].
///
/// There is one per process, and every value of this type is a handle to it, the size of a pointer. Time starts at 0
/// when the first handle is made, so all limiters of a process share one time line.
///
/// The first handle measures the counter's rate, which takes some 10 ms and at most 200 ms; handles made meanwhile
/// wait for it. After that a handle is free, and a reading costs about 1 ns beyond the counter's own.
///
/// Where a machine has no dependable counter, `quanta` reads the system's clock and so does this. Suspend is as in
/// [`StdClock`], whatever the counter does.
///
/// ```
/// use tollgate::{Clock, TscClock};
/// let (one, other) = (TscClock::new(), TscClock::new());
/// let before = one.now_ns();
/// assert!(other.now_ns() >= before);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TscClock {
    shared: &'static GuardedClock<Counter, StdClock>,
}

impl TscClock {
    /// A handle to the process's clock.
    pub fn new() -> Self {
        static SHARED: OnceLock<GuardedClock<Counter, StdClock>> = OnceLock::new();
        Self {
            shared: SHARED.get_or_init(|| GuardedClock::new(Counter(quanta::Clock::new()), StdClock::new())),
        }
    }
}

impl Default for TscClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TscClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.shared.now_ns()
    }
}

/// The bare counter, in nanoseconds.
#[derive(Debug)]
struct Counter(quanta::Clock);

impl Clock for Counter {
    /// Counts from the counter's own zero: `quanta` reads everything before a later start as that start, and a counter
    /// that was reset would seem to stand still until it got there.
    #[inline]
    fn now_ns(&self) -> u64 {
        self.0.delta_as_nanos(0, self.0.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_handles_share_one_time_line() {
        let first = TscClock::new();
        let now_ns = first.now_ns();
        let second = std::thread::spawn(TscClock::default).join().unwrap();
        assert!(std::ptr::eq(first.shared, second.shared));
        assert!(second.now_ns() >= now_ns);
    }

    #[test]
    fn the_counter_moves() {
        let counter = Counter(quanta::Clock::new());
        let start = counter.now_ns();
        assert!((0..1_000_000).any(|_| counter.now_ns() > start));
    }
}
