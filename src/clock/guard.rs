//! A fast source of time, kept honest by a slow one.

use super::Clock;
use super::anchor::{Anchor, is_stale};
use super::thread::PerThread;

/// A fast source of time `F`, disciplined by a reference `R`.
///
/// Counters of a processor are cheap to read, and now and then wrong: a virtual machine moves to another host, two
/// sockets disagree, a suspend resets them, their rate drifts. A guarded clock reads the fast source, and asks the
/// reference about once per window, a window being 2^20 ns (about 1 ms), and whenever the fast source claims a time
/// outside of the current window. The time line and the origin are the reference's.
///
/// # Guarantees
///
/// The fast source may jump by any amount in either direction, stand still, or wrap, at any time.
///
/// * No reading is more than one window later than the reference has ever been. Errors do not add up.
/// * No reading is earlier than the last time that the reference had confirmed when it began. A fast source that runs at half its rate
///   or more is thereby at most a window late, plus the time for which a thread was stopped between reading the
///   two sources. One that stands still is found out by the second reading on one thread.
/// * If the reference steps back, time stands still, within a window, until the reference catches up.
/// * The readings of one thread never decrease, as long as it reads one guarded clock. A thread that alternates
///   between several, and one thread compared with another, can see a step back of less than a window. Limiters
///   tolerate that: they never admit more at an earlier `now` than at a later one.
///
/// # Cost
///
/// One reading of `F`, two loads of a cache line that is written about once per window, and one comparison with the
/// thread's last reading: about 1 ns beyond `F`. One reading of `R` per window and thread, and also one for each time
/// that `F` reads the same twice in a row on one thread, so `F` should tick faster than it is read. Two sockets whose
/// counters differ by more than a window send nearly every reading to `R`: right, and as slow as `R`.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Clock, GuardedClock, ManualClock};
/// let (fast, reference) = (ManualClock::new(7_000_000), ManualClock::new(0));
/// let clock = GuardedClock::new(fast.clone(), reference.clone());
/// assert_eq!(clock.now_ns(), 0);
/// fast.advance(Duration::from_nanos(10));
/// assert_eq!(clock.now_ns(), 10);
/// // A jump of an hour is not believed.
/// reference.advance(Duration::from_nanos(20));
/// fast.advance(Duration::from_secs(3600));
/// assert_eq!(clock.now_ns(), 20);
/// ```
#[derive(Debug)]
pub struct GuardedClock<F, R> {
    anchor: Anchor,
    fast: F,
    reference: R,
    thread: PerThread,
}

impl<F: Clock, R: Clock> GuardedClock<F, R> {
    /// A clock that shows the time of `reference` and mostly reads `fast`, whose origin does not matter.
    ///
    /// To share it, lend it or put it in an `Arc`: a second one over the same sources would err in its own way.
    pub fn new(fast: F, reference: R) -> Self {
        let anchor = Anchor::new(|| reference.now_ns(), || fast.now_ns());
        Self { anchor, fast, reference, thread: PerThread::new() }
    }

    #[cold]
    #[inline(never)]
    fn confirm(&self) -> u64 {
        self.anchor.set(|| self.reference.now_ns(), || self.fast.now_ns())
    }

    /// The fast source has not moved since this thread's `last` reading, or has moved back by less than a window.
    /// The anchor cannot tell that from time that passes slowly; the reference can.
    #[cold]
    #[inline(never)]
    fn held(&self, last: u64) -> u64 {
        if is_stale(last, self.reference.now_ns()) {
            self.thread.advance(self.confirm()).unwrap_or_else(|last| last)
        } else {
            last
        }
    }
}

impl<F: Clock, R: Clock> Clock for GuardedClock<F, R> {
    #[inline]
    fn now_ns(&self) -> u64 {
        let time = match self.anchor.time_of(self.fast.now_ns()) {
            Some(time) => time,
            None => self.confirm(),
        };
        match self.thread.advance(time) {
            Ok(time) => time,
            Err(last) => self.held(last),
        }
    }
}
