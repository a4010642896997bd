//! A limiter by key.

mod at;
mod batch;

use core::marker::PhantomData;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};

use crate::clock::{Clock, DefaultClock};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::limiter::core::Core;
use crate::limiter::{Lease, LimiterBuilder, Plan, Reservation};
use crate::quota::Quota;
use crate::store::{Lookup, Map, Store, Table};

/// One quota for each key, shared by all threads.
///
/// `K` is what is limited: an address, a user, a tuple. Keys are looked up by borrow, so nothing is allocated for a check:
/// a `Limiter<String>` is asked with a `&str`. With the default store, which keeps no keys, `Limiter<str>` will do.
///
/// Methods that end in `_at` take the time as an argument, in nanoseconds from an origin of the caller's own, and
/// read no clock. All calls of one limiter must use one time line, and times far in the future are to be kept out: a key
/// that is stored at one makes every new key start there, and that is never undone.
///
/// ```
/// use tollgate::{Limiter, Quota};
/// let limiter = Limiter::<String>::new(Quota::per_second(5))?;
/// for _ in 0..5 {
///     assert!(limiter.check("alice").is_allowed());
/// }
/// assert!(limiter.check("alice").is_denied());
/// assert!(limiter.check("bob").is_allowed());
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// Tuples are keys, and a short-lived one finds its key, without an allocation, if the limiter is declared with a longer life:
///
/// ```
/// use tollgate::{Limiter, Quota};
/// let limiter = Limiter::<(&'static str, u16)>::new(Quota::per_second(1))?;
/// let (host, port) = (String::from("example.org"), 443);
/// assert!(limiter.check(&(host.as_str(), port)).is_allowed());
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// # Cost
/// A check reads the clock, hashes the key, reads one cache line and, when allowed, writes it by one compare-and-swap. With
/// the [`Table`] no check blocks or allocates. With a [`Map`] a new key is cloned, and takes the lock of one bin.
/// [`plan`](Self::plan) allocates.
pub struct Limiter<K: ?Sized, C = DefaultClock, S = Table> {
    pub(super) core: Core<C>,
    pub(super) store: S,
    /// Covariant, which short-lived tuples rely on, and neither `K`'s threads nor its drop matter.
    key: PhantomData<fn() -> Box<K>>,
}

impl<K: ?Sized, C, S: fmt::Debug> fmt::Debug for Limiter<K, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("quota", &self.core.plan().quota())
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl<K: ?Sized> Limiter<K> {
    /// A limiter for up to 65 536 live keys, with the default algorithm (`gcra`) and clock.
    ///
    /// # Errors
    /// When the quota is refused; the error says what to write instead.
    pub fn new(quota: Quota) -> Result<Self, BuildError> {
        Self::builder(quota).build()
    }

    /// A limiter with settings of your own.
    pub fn builder(quota: Quota) -> LimiterBuilder<K> {
        LimiterBuilder::new(quota)
    }
}

impl<K: ?Sized, C, S: Store> Limiter<K, C, S> {
    pub(super) fn from_parts(core: Core<C>, store: S) -> Self {
        Self { core, store, key: PhantomData }
    }

    /// The quota of keys that are checked without a plan.
    pub fn quota(&self) -> Quota {
        self.core.plan().quota()
    }

    /// The clock, to advance it or to read the time once for many checks.
    pub fn clock(&self) -> &C {
        self.core.clock()
    }

    /// Another quota for keys of this limiter, prepared for [`check_with`](Self::check_with).
    ///
    /// # Errors
    /// When the quota is refused, or cannot share words with the limiter's own: windows must have one length, and a limiter
    /// that is unlimited or blocked has no words to share.
    pub fn plan(&self, quota: Quota) -> Result<Plan, BuildError> {
        self.core.derive(quota)
    }

    /// Keys that the store was built for; `None` when it grows.
    pub fn capacity(&self) -> Option<usize> {
        self.store.capacity()
    }
}

impl<K: ?Sized, C: Clock, S: Store> Limiter<K, C, S> {
    /// Asks for one unit.
    #[inline]
    pub fn check<Q: ?Sized>(&self, key: &Q) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.check_n(key, 1)
    }

    /// Asks for `cost` units: all or none. A cost of zero is a peek.
    #[inline]
    pub fn check_n<Q: ?Sized>(&self, key: &Q, cost: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.decide_now(&self.store, key, self.core.plan(), cost)
    }

    /// Asks for one unit under a [plan](Self::plan) of this limiter; a plan of another limiter, such as the one that this
    /// has replaced, is read as the limiter's own quota.
    #[inline]
    pub fn check_with<Q: ?Sized>(&self, key: &Q, plan: &Plan) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.check_n_with(key, 1, plan)
    }

    /// Asks for `cost` units under a [plan](Self::plan) of this limiter.
    #[inline]
    pub fn check_n_with<Q: ?Sized>(&self, key: &Q, cost: u64, plan: &Plan) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.decide_now(&self.store, key, self.core.own(plan), cost)
    }

    /// Where the key stands: see its `remaining` and `reset_after`. Nothing is taken.
    ///
    /// It is a check of zero units, so it is always allowed. To know whether one more would be, use
    /// [`peek_n(key, 1)`](Self::peek_n).
    pub fn peek<Q: ?Sized>(&self, key: &Q) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.peek_n(key, 0)
    }

    /// What [`check_n`](Self::check_n) would answer. Nothing is taken. Whether the table has room for a new key is not
    /// looked at.
    pub fn peek_n<Q: ?Sized>(&self, key: &Q, cost: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.peek_n_at(key, cost, self.core.now_ns())
    }

    /// Gives back the newest `units` of a key: as if they had not been taken, and never above full. For units of which you
    /// want to be sure that they have not come back by themselves meanwhile, [`reserve`](Self::reserve) them.
    ///
    /// A key that is not known has nothing to be given back.
    pub fn refund<Q: ?Sized>(&self, key: &Q, units: u64)
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.refund_at(key, units, self.core.now_ns());
    }

    /// What [`check_n_with`](Self::check_n_with) would answer. Nothing is taken.
    pub fn peek_n_with<Q: ?Sized>(&self, key: &Q, cost: u64, plan: &Plan) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.peek_n_with_at(key, cost, plan, self.core.now_ns())
    }

    /// [`peek`](Self::peek) under a plan.
    pub fn peek_with<Q: ?Sized>(&self, key: &Q, plan: &Plan) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.peek_n_with_at(key, 0, plan, self.core.now_ns())
    }

    /// [`refund`](Self::refund) of units that were taken under a plan.
    pub fn refund_with<Q: ?Sized>(&self, key: &Q, units: u64, plan: &Plan)
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.refund_with_at(key, units, plan, self.core.now_ns());
    }

    /// Makes a key as good as new.
    pub fn reset<Q: ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.reset_at(key, self.core.now_ns());
    }

    /// Takes `units` now, to be used after [`Reservation::wait`], and accounted for by
    /// [`commit`](Reservation::commit) or [`cancel`](Reservation::cancel).
    ///
    /// `token_bucket`, `gcra` and `leaky_bucket` take units that come back later, first come first served. A window
    /// cannot hold units in advance: there the wait is zero, or the answer a refusal.
    ///
    /// # Errors
    /// The refusal, when the units never fit or cannot be taken in advance.
    ///
    /// # Cost
    /// As a check. With [`Map`] the key is cloned.
    pub fn reserve<Q: ?Sized>(&self, key: &Q, units: u64) -> Result<Reservation<'_, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.reserve_with(key, units, self.core.plan())
    }

    /// [`reserve`](Self::reserve) under a plan.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_with<'a, Q: ?Sized>(
        &'a self,
        key: &Q,
        units: u64,
        plan: &'a Plan,
    ) -> Result<Reservation<'a, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        Ok(self.reserve_with_at(key, units, plan, self.core.now_ns())?.by_the_clock())
    }

    /// A handle on one hot key for one thread, which takes units before it needs them: as many as it soon spends, up to a
    /// sixteenth of the limit and 1 024. See [`Lease`].
    pub fn lease<Q: ?Sized>(&self, key: &Q) -> Lease<'_, C, S>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        Lease::new(&self.core, &self.store, self.store.token(key), self.store.hash(key), None)
    }

    /// A [`lease`](Self::lease) of `units` at a time, fewer when little is left.
    pub fn lease_n<Q: ?Sized>(&self, key: &Q, units: u64) -> Lease<'_, C, S>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        Lease::new(&self.core, &self.store, self.store.token(key), self.store.hash(key), Some(units))
    }

    /// Keys that are not idle: those for which there is something to remember.
    ///
    /// # Cost
    /// Reads the whole store. For a gauge, not for a decision.
    pub fn len(&self) -> usize {
        self.len_at(self.core.now_ns())
    }

    /// Whether no key is in use. Costs as [`len`](Self::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: ?Sized, C, H> Limiter<K, C, Table<H>> {
    /// New keys that met the [`Overflow`](crate::Overflow) policy since the limiter was built. When it grows, the capacity
    /// is too small.
    pub fn overflowed(&self) -> u64 {
        self.store.overflowed()
    }

    /// Idle keys that made room for others since the limiter was built.
    pub fn reclaimed(&self) -> u64 {
        self.store.reclaimed()
    }
}

impl<K, C, H> Limiter<K, C, Map<K, H>>
where
    K: Hash + Ord + Clone + Send + Sync + 'static,
    H: BuildHasher,
{
    /// Forgets the keys that are idle, and says how many. No decision changes by it; checks go on meanwhile.
    ///
    /// # Cost
    /// Reads the whole map, and takes the lock of a bin for each key that goes.
    pub fn evict_idle(&self) -> usize
    where
        C: Clock,
    {
        self.evict_idle_at(self.core.now_ns())
    }

    /// [`evict_idle`](Self::evict_idle) at a time of your own.
    pub fn evict_idle_at(&self, now_ns: u64) -> usize {
        self.core.evict_idle(&self.store, now_ns)
    }
}
