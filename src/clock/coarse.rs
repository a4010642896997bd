//! Time that a thread of its own keeps up to date.

use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;

use super::cached::Cached;
use super::{Clock, DefaultClock};

/// The latest reading of a source `S`, refreshed in the background. Clones share it.
///
/// A reading costs one load of a cache line that is written once per refresh: about 1 ns, whatever the source
/// costs. It is late by at most the refresh interval, plus what the scheduler adds, and never early: a limiter
/// becomes stricter by that much, and `retry_after` is that much longer than it need be. It never decreases, on any
/// thread and across threads.
///
/// The refresher is one thread, which sleeps between refreshes, and ends as soon as the last handle is dropped. A
/// child process after `fork` does not have it: there the time stands still.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Clock, CoarseClock};
/// let clock = CoarseClock::new(Duration::from_millis(1))?;
/// let before = clock.now_ns();
/// assert!(clock.clone().now_ns() >= before);
/// # Ok::<(), tollgate::CoarseClockError>(())
/// ```
pub struct CoarseClock<S = DefaultClock> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    cached: Cached<S>,
    /// Hangs up on the refresher when the last handle drops.
    _alive: Sender<Never>,
}

/// Nothing is ever sent to the refresher.
enum Never {}

impl CoarseClock {
    /// The default clock, read once per `every`. One millisecond is a good interval: it is less than most
    /// schedulers add.
    ///
    /// # Errors
    ///
    /// If `every` is zero, or the system refuses a thread.
    pub fn new(every: Duration) -> Result<Self, CoarseClockError> {
        Self::with_source(DefaultClock::new(), every)
    }
}

impl<S: Clock + Send + Sync + 'static> CoarseClock<S> {
    /// `source`, read once per `every`. A source that steps back stands still here until it catches up.
    ///
    /// # Errors
    ///
    /// If `every` is zero, or the system refuses a thread.
    pub fn with_source(source: S, every: Duration) -> Result<Self, CoarseClockError> {
        if every.is_zero() {
            return Err(CoarseClockError::IntervalZero);
        }
        let (alive, hangup) = channel();
        let shared = Arc::new(Shared { cached: Cached::new(source), _alive: alive });
        let weak = Arc::downgrade(&shared);
        thread::Builder::new()
            .name("tollgate-clock".into())
            .spawn(move || keep_fresh(&weak, every, &hangup))
            .map_err(CoarseClockError::Spawn)?;
        Ok(Self { shared })
    }
}

impl<S: Clock> CoarseClock<S> {
    /// Reads the source now, at the source's cost, for whoever cannot wait for the refresher.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Clock, CoarseClock, ManualClock};
    /// let source = ManualClock::new(0);
    /// let clock = CoarseClock::with_source(source.clone(), Duration::from_secs(3600))?;
    /// source.advance(Duration::from_secs(1));
    /// clock.refresh_now();
    /// assert_eq!(clock.now_ns(), 1_000_000_000);
    /// # Ok::<(), tollgate::CoarseClockError>(())
    /// ```
    pub fn refresh_now(&self) {
        self.shared.cached.refresh();
    }
}

/// The refresher. It holds a handle only while it refreshes, and if that turns out to be the last, hangs up on itself.
fn keep_fresh<S: Clock>(shared: &Weak<Shared<S>>, every: Duration, hangup: &Receiver<Never>) {
    while let Some(shared) = shared.upgrade() {
        shared.cached.refresh();
        drop(shared);
        match hangup.recv_timeout(every) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(never) => match never {},
        }
    }
}

impl<S: Clock> Clock for CoarseClock<S> {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.shared.cached.get()
    }
}

impl<S> Clone for CoarseClock<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S: fmt::Debug> fmt::Debug for CoarseClock<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CoarseClock").field(&self.shared.cached).finish()
    }
}

/// Why a [`CoarseClock`] was not made.
#[derive(Debug)]
#[non_exhaustive]
pub enum CoarseClockError {
    /// The refresh interval is 0.
    IntervalZero,
    /// The system refused to start the refresher.
    Spawn(io::Error),
}

impl fmt::Display for CoarseClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IntervalZero => f.write_str(
                "refresh interval 0 would never rest: write 1ms, or use the source itself as the clock",
            ),
            Self::Spawn(error) => write!(
                f,
                "the clock's refresher thread did not start: {error}: allow more threads, or use the source itself as the clock"
            ),
        }
    }
}

impl std::error::Error for CoarseClockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::IntervalZero => None,
            Self::Spawn(error) => Some(error),
        }
    }
}
