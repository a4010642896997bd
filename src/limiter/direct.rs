//! A limiter without keys.

use std::fmt;

use crate::clock::{Clock, DefaultClock};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::limiter::core::Core;
use crate::limiter::{DirectLimiterBuilder, Lease, Plan, Queue, Reservation};
use crate::quota::Quota;
use crate::store::Single;

/// One quota for all callers.
///
/// ```
/// use tollgate::{DirectLimiter, Quota};
/// let limiter = DirectLimiter::new(Quota::per_second(2))?;
/// assert!(limiter.check().is_allowed());
/// assert!(limiter.check().is_allowed());
/// let denied = limiter.check();
/// assert!(denied.is_denied() && denied.retry_after().as_millis() <= 500);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// The methods are those of [`Limiter`](crate::Limiter) that concern one key; the `_at` forms take the time in
/// nanoseconds instead of reading the clock.
pub struct DirectLimiter<C = DefaultClock> {
    pub(super) core: Core<C>,
    pub(super) store: Single,
}

impl<C> fmt::Debug for DirectLimiter<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectLimiter").field("quota", &self.core.plan().quota()).finish_non_exhaustive()
    }
}

impl DirectLimiter {
    /// A limiter with the default algorithm (`gcra`) and clock.
    ///
    /// # Errors
    /// When the quota is refused; the error says what to write instead.
    pub fn new(quota: Quota) -> Result<Self, BuildError> {
        Self::builder(quota).build()
    }

    /// A limiter with settings of your own.
    pub fn builder(quota: Quota) -> DirectLimiterBuilder {
        DirectLimiterBuilder::new(quota)
    }
}

impl<C> DirectLimiter<C> {
    pub(super) fn from_parts(core: Core<C>, store: Single) -> Self {
        Self { core, store }
    }

    /// The quota of calls without a plan.
    pub fn quota(&self) -> Quota {
        self.core.plan().quota()
    }

    /// The clock.
    pub fn clock(&self) -> &C {
        self.core.clock()
    }

    /// Another quota on the same state, for [`check_n_with`](Self::check_n_with).
    ///
    /// # Errors
    /// When the quota is refused, or cannot share a word with the limiter's own: windows must have one length.
    pub fn plan(&self, quota: Quota) -> Result<Plan, BuildError> {
        self.core.derive(quota)
    }

    /// Asks for one unit at a time of your own.
    #[inline]
    pub fn check_at(&self, now_ns: u64) -> Decision {
        self.check_n_at(1, now_ns)
    }

    /// Asks for `cost` units at a time of your own.
    #[inline]
    pub fn check_n_at(&self, cost: u64, now_ns: u64) -> Decision {
        self.core.decide(&self.store, &(), self.core.plan(), now_ns, cost)
    }

    /// Asks for `cost` units under a plan at a time of your own.
    #[inline]
    pub fn check_n_with_at(&self, cost: u64, plan: &Plan, now_ns: u64) -> Decision {
        self.core.decide(&self.store, &(), self.core.own(plan), now_ns, cost)
    }

    /// Asks for one unit under a plan at a time of your own.
    #[inline]
    pub fn check_with_at(&self, plan: &Plan, now_ns: u64) -> Decision {
        self.check_n_with_at(1, plan, now_ns)
    }

    /// [`peek`](Self::peek) at a time of your own.
    pub fn peek_at(&self, now_ns: u64) -> Decision {
        self.peek_n_at(0, now_ns)
    }

    /// What [`check_n_at`](Self::check_n_at) would answer. Nothing is taken.
    pub fn peek_n_at(&self, cost: u64, now_ns: u64) -> Decision {
        self.peek_n_with_at(cost, self.core.plan(), now_ns)
    }

    /// What [`check_n_with_at`](Self::check_n_with_at) would answer. Nothing is taken.
    pub fn peek_n_with_at(&self, cost: u64, plan: &Plan, now_ns: u64) -> Decision {
        self.core.peek(&self.store, &(), self.core.own(plan), now_ns, cost)
    }

    /// Gives back the newest `units` at a time of your own.
    pub fn refund_at(&self, units: u64, now_ns: u64) {
        self.refund_with_at(units, self.core.plan(), now_ns);
    }

    /// Gives back the newest `units`, which were taken under a plan, at a time of your own.
    pub fn refund_with_at(&self, units: u64, plan: &Plan, now_ns: u64) {
        self.core.refund(&self.store, &(), self.core.own(plan), now_ns, units);
    }

    /// Makes the limiter as good as new at a time of your own.
    pub fn reset_at(&self, now_ns: u64) {
        self.core.reset(&self.store, &(), now_ns);
    }
}

impl<C: Clock> DirectLimiter<C> {
    /// Asks for one unit.
    #[inline]
    pub fn check(&self) -> Decision {
        self.check_n(1)
    }

    /// Asks for `cost` units: all or none. A cost of zero is a peek.
    #[inline]
    pub fn check_n(&self, cost: u64) -> Decision {
        self.check_n_at(cost, self.core.now_ns())
    }

    /// Asks for one unit under a [plan](Self::plan) of this limiter.
    #[inline]
    pub fn check_with(&self, plan: &Plan) -> Decision {
        self.check_n_with(1, plan)
    }

    /// Asks for `cost` units under a [plan](Self::plan) of this limiter.
    #[inline]
    pub fn check_n_with(&self, cost: u64, plan: &Plan) -> Decision {
        self.check_n_with_at(cost, plan, self.core.now_ns())
    }

    /// Where the limiter stands: see its `remaining` and `reset_after`. Nothing is taken, and it is always allowed.
    pub fn peek(&self) -> Decision {
        self.peek_n(0)
    }

    /// What [`check_n`](Self::check_n) would answer. Nothing is taken.
    pub fn peek_n(&self, cost: u64) -> Decision {
        self.peek_n_at(cost, self.core.now_ns())
    }

    /// [`peek_n`](Self::peek_n) under a plan.
    pub fn peek_n_with(&self, cost: u64, plan: &Plan) -> Decision {
        self.peek_n_with_at(cost, plan, self.core.now_ns())
    }

    /// Gives back the newest `units`, which were taken under a plan.
    pub fn refund_with(&self, units: u64, plan: &Plan) {
        self.refund_with_at(units, plan, self.core.now_ns());
    }

    /// Gives back the newest `units`: as if they had not been taken, and never above full.
    pub fn refund(&self, units: u64) {
        self.refund_at(units, self.core.now_ns());
    }

    /// Makes the limiter as good as new.
    pub fn reset(&self) {
        self.reset_at(self.core.now_ns());
    }

    /// A handle for one thread, which takes units before it needs them: as many as it soon spends, up to a sixteenth of the limit
    /// and 1 024. See [`Lease`].
    pub fn lease(&self) -> Lease<'_, C, Single> {
        Lease::new(&self.core, &self.store, (), 0, None)
    }

    /// A [`lease`](Self::lease) of `units` at a time, fewer when little is left.
    pub fn lease_n(&self, units: u64) -> Lease<'_, C, Single> {
        Lease::new(&self.core, &self.store, (), 0, Some(units))
    }

    /// Takes `units` now, to be used after [`Reservation::wait`]; see [`Limiter::reserve`](crate::Limiter::reserve).
    ///
    /// # Errors
    /// The refusal, when the units never fit or cannot be taken in advance.
    pub fn reserve(&self, units: u64) -> Result<Reservation<'_, C, Single>, Decision> {
        self.reserve_with(units, self.core.plan())
    }

    /// [`reserve`](Self::reserve) under a plan.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_with<'a>(
        &'a self,
        units: u64,
        plan: &'a Plan,
    ) -> Result<Reservation<'a, C, Single>, Decision> {
        Ok(self.reserve_with_at(units, plan, self.core.now_ns())?.by_the_clock())
    }

    /// [`reserve`](Self::reserve) at a time of your own; see [`Reservation`] for the time at which it is settled.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_at(&self, units: u64, now_ns: u64) -> Result<Reservation<'_, C, Single>, Decision> {
        self.reserve_with_at(units, self.core.plan(), now_ns)
    }

    /// [`reserve`](Self::reserve) under a plan, at a time of your own.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_with_at<'a>(
        &'a self,
        units: u64,
        plan: &'a Plan,
        now_ns: u64,
    ) -> Result<Reservation<'a, C, Single>, Decision> {
        self.enqueue_with_at(units, &Queue::UNBOUNDED, plan, now_ns)
    }
}
