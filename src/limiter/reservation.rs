//! Units taken before the work is done.

use core::time::Duration;
use std::fmt;

use crate::clock::Clock;
use crate::limiter::core::{Core, Taken};
use crate::limiter::plan::Plan;
use crate::store::Store;

/// Units that were taken in advance: commit what was really used, or give all back.
///
/// Dropping it gives everything back: exactly what was held, in whatever order the reservations of a key are settled. What has come
/// back by itself since it was made is not given back twice. Less may be given back, and never more, if the key was refunded or reset
/// meanwhile, if another thread gave units back in the instant of its making, or if more reservations were settled meanwhile than a limiter
/// remembers: 1 024 without keys, and by key 128 of each 64th of the keys, not counting those that had nobody behind them.
///
/// One that was made by the clock is settled by the clock. One that was made at a time of your own is best settled by
/// [`commit_at`](Self::commit_at) or [`cancel_at`](Self::cancel_at), at a time no earlier than that of any call made for
/// the key meanwhile. Without a time it is settled at that of its making, and gives back nothing if there was such a call.
///
/// ```
/// use tollgate::{DirectLimiter, Quota};
/// let limiter = DirectLimiter::new(Quota::per_minute(100))?;
/// if let Ok(reservation) = limiter.reserve(80) {
///     // ... do the work, find out that it cost 30 ...
///     reservation.commit(30);
/// }
/// assert_eq!(limiter.peek().remaining(), 70);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// # Cost
/// Making one is a check, and one that is committed as it was held costs nothing more. One that gives back waits for others that give back
/// units of the same 64th of the keys, and goes through those of their returns that are remembered since it was made.
#[must_use = "a reservation that is dropped is cancelled"]
pub struct Reservation<'a, C: Clock, S: Store> {
    core: &'a Core<C>,
    store: &'a S,
    plan: &'a Plan,
    units: u64,
    wait_ns: u64,
    /// When it was made, if not by the clock.
    made_at_ns: Option<u64>,
    /// Where the units were taken from, if from anywhere; taken out when they are accounted for.
    held: Option<Held<S::Token>>,
}

struct Held<T> {
    token: T,
    taken: Taken,
}

impl<C: Clock, S: Store> fmt::Debug for Reservation<'_, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("units", &self.units)
            .field("wait", &self.wait())
            .finish_non_exhaustive()
    }
}

impl<'a, C: Clock, S: Store> Reservation<'a, C, S> {
    pub(crate) fn new(
        core: &'a Core<C>,
        store: &'a S,
        plan: &'a Plan,
        token: S::Token,
        units: u64,
        now_ns: u64,
        taken: Option<Taken>,
    ) -> Self {
        let wait_ns = taken.map_or(0, |taken| taken.wait_ns);
        let held = taken.map(|taken| Held { token, taken });
        Self { core, store, plan, units, wait_ns, made_at_ns: Some(now_ns), held }
    }

    /// Made at the clock's time.
    pub(crate) fn by_the_clock(mut self) -> Self {
        self.made_at_ns = None;
        self
    }

    /// How long to wait, from when it was made, before the units may be used. Zero: at once.
    pub const fn wait(&self) -> Duration {
        Duration::from_nanos(self.wait_ns)
    }

    /// The units that are held.
    pub const fn units(&self) -> u64 {
        self.units
    }

    /// The work is done and cost `actual` units: the rest is given back, or the excess is charged, fitting or not.
    pub fn commit(mut self, actual: u64) {
        self.settle(actual, None);
    }

    /// [`commit`](Self::commit) at a time of your own.
    pub fn commit_at(mut self, actual: u64, now_ns: u64) {
        self.settle(actual, Some(now_ns));
    }

    /// The work is not done: all units are given back.
    pub fn cancel(self) {
        drop(self);
    }

    /// [`cancel`](Self::cancel) at a time of your own.
    pub fn cancel_at(mut self, now_ns: u64) {
        self.settle(0, Some(now_ns));
    }

    fn settle(&mut self, actual: u64, at_ns: Option<u64>) {
        let Some(held) = self.held.take() else { return };
        // The time of its making may be earlier than calls made since.
        let alone = at_ns.is_none() && self.made_at_ns.is_some();
        let now_ns = || at_ns.or(self.made_at_ns).unwrap_or_else(|| self.core.now_ns());
        let Held { token, taken } = held;
        self.core.settle(self.store, &token, self.plan, now_ns, self.units, actual, taken, alone);
    }
}

impl<C: Clock, S: Store> Drop for Reservation<'_, C, S> {
    fn drop(&mut self) {
        self.settle(0, None);
    }
}
