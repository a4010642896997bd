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
        Self { shared: SHARED.get_or_init(|| GuardedClock::new(Counter::new(), StdClock::new())) }
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
struct Counter {
    clock: quanta::Clock,
    /// Nanoseconds per 2^48 ticks, which is what `quanta` measured to 48 bits: `quanta` itself looks up each time which
    /// kind of clock it is.
    ns_per_scale: u64,
}

/// Ticks of up to a microsecond fit.
const SCALE_BITS: u32 = 48;

impl Counter {
    fn new() -> Self {
        let clock = quanta::Clock::new();
        let ns_per_scale = clock.delta_as_nanos(0, 1 << SCALE_BITS);
        Self { clock, ns_per_scale }
    }
}

impl Clock for Counter {
    /// Counts from the counter's own zero: `quanta` reads everything before a later start as that start, and a counter
    /// that was reset would seem to stand still until it got there.
    #[inline]
    fn now_ns(&self) -> u64 {
        ((u128::from(self.clock.raw()) * u128::from(self.ns_per_scale)) >> SCALE_BITS) as u64
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
    fn the_counter_counts_what_quanta_does() {
        let counter = Counter::new();
        for ticks in [1, 1_000_000_007, 1 << 40, 1 << 48, 1 << 52] {
            let ns = (u128::from(ticks) * u128::from(counter.ns_per_scale)) >> SCALE_BITS;
            let expected = u128::from(counter.clock.delta_as_nanos(0, ticks));
            // To a part in 2^40, and one for rounding.
            assert!(ns.abs_diff(expected) <= 1 + (expected >> 40), "{ticks}: {ns}, {expected}");
        }
    }

    #[test]
    fn the_counter_moves() {
        let counter = Counter::new();
        let start = counter.now_ns();
        assert!((0..1_000_000).any(|_| counter.now_ns() > start));
    }
}
