//! Waiting in line: units that come back later are taken now, and how long that may go on is decided at once.

use core::time::Duration;
use std::borrow::Borrow;

use crate::algorithm::{Algorithm, Meter};
use crate::clock::Clock;
use crate::decision::Decision;
use crate::limiter::{DirectLimiter, Limiter, Plan, Reservation};
use crate::store::{Lookup, Single, Store};
use crate::time::{Now, duration_ns};

/// How long a line may get: the leaky bucket as a queue, which delays calls instead of refusing them.
///
/// A limiter whose quota has a burst of 1 lets calls through at an even pace, and each that is not refused is told how
/// long to wait. The line is the order in which calls took their units; it has no memory of its own, as a key's word already says
/// when its last unit comes back.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{DirectLimiter, Queue, Quota};
/// let shaper = DirectLimiter::new(Quota::per_second(10).burst(1))?;
/// let queue = Queue::up_to(Duration::from_millis(200));
/// let waits = [(); 3].map(|()| {
///     let turn = shaper.enqueue_at(1, &queue, 0).unwrap();
///     let wait = turn.wait();
///     turn.commit(1);
///     wait.as_millis()
/// });
/// assert_eq!(waits, [0, 100, 200]);
/// let refusal = shaper.enqueue_at(1, &queue, 0).unwrap_err();
/// assert_eq!(refusal.retry_after().as_millis(), 100);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    max_wait_ns: u64,
    max_units: u64,
}

impl Queue {
    pub(crate) const UNBOUNDED: Self = Self { max_wait_ns: u64::MAX, max_units: u64::MAX };

    /// Nobody waits: what does not fit now is refused.
    pub const fn none() -> Self {
        Self { max_wait_ns: 0, ..Self::UNBOUNDED }
    }

    /// Nobody waits longer than this.
    pub const fn up_to(max_wait: Duration) -> Self {
        Self { max_wait_ns: duration_ns(max_wait), ..Self::UNBOUNDED }
    }

    /// No more units than this wait, those of the call that asks included. A unit waits until its own time has come, whether or not
    /// whoever took it is still there.
    #[must_use]
    pub const fn max_units(mut self, units: u64) -> Self {
        self.max_units = units;
        self
    }

    /// The wait of the last call that is let in.
    pub(crate) fn max_wait_ns(&self, meter: &Meter, capacity: u64) -> u64 {
        if self.max_units == u64::MAX {
            return self.max_wait_ns;
        }
        // As long as a key is used up by that much more than all it has.
        let now = Now::at(0);
        let full = meter.charge(meter.fresh(now), now, capacity.saturating_add(self.max_units));
        self.max_wait_ns.min(full.wait_ns)
    }
}

impl<K: ?Sized, C: Clock, S: Store> Limiter<K, C, S> {
    /// [`reserve`](Self::reserve), if the line is no longer than `queue`: first come, first served, and decided at once.
    ///
    /// Dropping the reservation leaves the line, and the units behind it move up: those who come later wait less. Those who wait already
    /// were told how long, so one of them may pass together with a later one. By any instant no more have passed than the quota
    /// allows by then.
    ///
    /// # Errors
    /// The refusal, which took nothing. It says when there is room in the line again.
    ///
    /// # Cost
    /// As [`reserve`](Self::reserve).
    pub fn enqueue<Q: ?Sized>(
        &self,
        key: &Q,
        units: u64,
        queue: &Queue,
    ) -> Result<Reservation<'_, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        Ok(self.enqueue_at(key, units, queue, self.core.now_ns())?.by_the_clock())
    }

    /// [`enqueue`](Self::enqueue) at a time of your own; see [`Reservation`] for the time at which it is settled.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub fn enqueue_at<Q: ?Sized>(
        &self,
        key: &Q,
        units: u64,
        queue: &Queue,
        now_ns: u64,
    ) -> Result<Reservation<'_, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.enqueue_with_at(key, units, queue, self.core.plan(), now_ns)
    }

    /// [`enqueue_at`](Self::enqueue_at) under a plan.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub fn enqueue_with_at<'a, Q: ?Sized>(
        &'a self,
        key: &Q,
        units: u64,
        queue: &Queue,
        plan: &'a Plan,
        now_ns: u64,
    ) -> Result<Reservation<'a, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        let plan = self.core.own(plan);
        let taken = self.core.reserve(&self.store, key, plan, now_ns, units, queue)?;
        Ok(Reservation::new(&self.core, &self.store, plan, self.store.token(key), units, now_ns, taken))
    }

    /// Checks now and charges later, when it is known what is to be charged: a login that failed, the bytes that were really
    /// sent. Until then the units are held, so that no two calls pass on the last one.
    ///
    /// ```
    /// use tollgate::{Limiter, Quota};
    /// let failures = Limiter::<str>::new(Quota::per_minute(5))?;
    /// match failures.hold("alice", 1) {
    ///     // A password that is right costs nothing.
    ///     Ok(held) => held.cancel(),
    ///     Err(refusal) => println!("too many failures, retry after {:?}", refusal.retry_after()),
    /// }
    /// assert_eq!(failures.peek("alice").remaining(), 5);
    /// # Ok::<(), tollgate::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The refusal, as [`check_n`](Self::check_n) would answer.
    ///
    /// # Cost
    /// As [`reserve`](Self::reserve).
    pub fn hold<Q: ?Sized>(&self, key: &Q, units: u64) -> Result<Reservation<'_, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.enqueue(key, units, &Queue::none())
    }

    /// [`hold`](Self::hold) at a time of your own.
    ///
    /// # Errors
    /// As [`hold`](Self::hold).
    pub fn hold_at<Q: ?Sized>(
        &self,
        key: &Q,
        units: u64,
        now_ns: u64,
    ) -> Result<Reservation<'_, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.enqueue_at(key, units, &Queue::none(), now_ns)
    }
}

impl<C: Clock> DirectLimiter<C> {
    /// [`Limiter::enqueue`] without a key.
    ///
    /// # Errors
    /// The refusal, which took nothing. It says when there is room in the line again.
    pub fn enqueue(&self, units: u64, queue: &Queue) -> Result<Reservation<'_, C, Single>, Decision> {
        Ok(self.enqueue_at(units, queue, self.core.now_ns())?.by_the_clock())
    }

    /// [`enqueue`](Self::enqueue) at a time of your own.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub fn enqueue_at(
        &self,
        units: u64,
        queue: &Queue,
        now_ns: u64,
    ) -> Result<Reservation<'_, C, Single>, Decision> {
        self.enqueue_with_at(units, queue, self.core.plan(), now_ns)
    }

    /// [`enqueue_at`](Self::enqueue_at) under a plan.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub fn enqueue_with_at<'a>(
        &'a self,
        units: u64,
        queue: &Queue,
        plan: &'a Plan,
        now_ns: u64,
    ) -> Result<Reservation<'a, C, Single>, Decision> {
        let plan = self.core.own(plan);
        let taken = self.core.reserve(&self.store, &(), plan, now_ns, units, queue)?;
        Ok(Reservation::new(&self.core, &self.store, plan, (), units, now_ns, taken))
    }

    /// [`Limiter::hold`] without a key.
    ///
    /// # Errors
    /// The refusal, as [`check_n`](Self::check_n) would answer.
    pub fn hold(&self, units: u64) -> Result<Reservation<'_, C, Single>, Decision> {
        self.enqueue(units, &Queue::none())
    }

    /// [`hold`](Self::hold) at a time of your own.
    ///
    /// # Errors
    /// As [`hold`](Self::hold).
    pub fn hold_at(&self, units: u64, now_ns: u64) -> Result<Reservation<'_, C, Single>, Decision> {
        self.enqueue_at(units, &Queue::none(), now_ns)
    }
}
