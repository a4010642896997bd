//! Checks of many keys at once.

use std::borrow::Borrow;

use crate::clock::Clock;
use crate::decision::Decision;
use crate::limiter::Limiter;
use crate::store::{Lookup, Store};

impl<K: ?Sized, C: Clock, S: Store> Limiter<K, C, S> {
    /// Asks for one unit of each key, in order, and appends the decisions to `decisions`.
    ///
    /// What comes out is what as many calls of [`check`](Self::check) would answer at one time.
    ///
    /// # Cost
    /// One reading of the clock. With the [`Table`](crate::Table), the cache lines of 32 keys are fetched side by side: in a
    /// table that is larger than the caches, a key costs a fraction of what it costs alone. Nothing is allocated while the
    /// decisions fit the capacity of the vector.
    ///
    /// ```
    /// use tollgate::{Limiter, Quota};
    /// let limiter = Limiter::<str>::new(Quota::per_second(1))?;
    /// let mut decisions = Vec::with_capacity(64);
    /// // Each turn of an event loop:
    /// decisions.clear();
    /// limiter.check_many(["alice", "bob", "alice"], &mut decisions);
    /// let allowed: Vec<bool> = decisions.iter().map(|decision| decision.is_allowed()).collect();
    /// assert_eq!(allowed, [true, true, false]);
    /// # Ok::<(), tollgate::BuildError>(())
    /// ```
    pub fn check_many<'k, Q: ?Sized + 'k>(
        &self,
        keys: impl IntoIterator<Item = &'k Q>,
        decisions: &mut Vec<Decision>,
    ) where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.check_many_at(keys, self.core.now_ns(), decisions);
    }

    /// [`check_many`](Self::check_many) with a cost for each key.
    pub fn check_many_n<'k, Q: ?Sized + 'k>(
        &self,
        keys_and_costs: impl IntoIterator<Item = (&'k Q, u64)>,
        decisions: &mut Vec<Decision>,
    ) where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.check_many_n_at(keys_and_costs, self.core.now_ns(), decisions);
    }
}

impl<K: ?Sized, C, S: Store> Limiter<K, C, S> {
    /// [`check_many`](Self::check_many) at a time of your own.
    pub fn check_many_at<'k, Q: ?Sized + 'k>(
        &self,
        keys: impl IntoIterator<Item = &'k Q>,
        now_ns: u64,
        decisions: &mut Vec<Decision>,
    ) where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.check_many_n_at(keys.into_iter().map(|key| (key, 1)), now_ns, decisions);
    }

    /// [`check_many_n`](Self::check_many_n) at a time of your own.
    pub fn check_many_n_at<'k, Q: ?Sized + 'k>(
        &self,
        keys_and_costs: impl IntoIterator<Item = (&'k Q, u64)>,
        now_ns: u64,
        decisions: &mut Vec<Decision>,
    ) where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.decide_many(&self.store, self.core.plan(), now_ns, keys_and_costs, decisions);
    }
}
