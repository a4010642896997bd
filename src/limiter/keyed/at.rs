//! The methods that take the time as an argument.

use std::borrow::Borrow;

use crate::clock::Clock;
use crate::decision::Decision;
use crate::limiter::{Limiter, Plan, Queue, Reservation};
use crate::store::{Lookup, Store};

impl<K: ?Sized, C, S: Store> Limiter<K, C, S> {
    /// [`check_n`](Self::check_n) of one unit at a time of your own.
    #[inline]
    pub fn check_at<Q: ?Sized>(&self, key: &Q, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.check_n_at(key, 1, now_ns)
    }

    /// [`check_n`](Self::check_n) at a time of your own.
    #[inline]
    pub fn check_n_at<Q: ?Sized>(&self, key: &Q, cost: u64, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.decide(&self.store, key, self.core.plan(), now_ns, cost)
    }

    /// [`check_n_with`](Self::check_n_with) at a time of your own.
    #[inline]
    pub fn check_n_with_at<Q: ?Sized>(&self, key: &Q, cost: u64, plan: &Plan, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.decide(&self.store, key, self.core.own(plan), now_ns, cost)
    }

    /// [`check_with`](Self::check_with) at a time of your own.
    #[inline]
    pub fn check_with_at<Q: ?Sized>(&self, key: &Q, plan: &Plan, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.check_n_with_at(key, 1, plan, now_ns)
    }

    /// [`peek`](Self::peek) at a time of your own.
    pub fn peek_at<Q: ?Sized>(&self, key: &Q, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.peek_n_at(key, 0, now_ns)
    }

    /// [`peek_with`](Self::peek_with) at a time of your own.
    pub fn peek_with_at<Q: ?Sized>(&self, key: &Q, plan: &Plan, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.peek_n_with_at(key, 0, plan, now_ns)
    }

    /// [`peek_n`](Self::peek_n) at a time of your own.
    pub fn peek_n_at<Q: ?Sized>(&self, key: &Q, cost: u64, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.peek_n_with_at(key, cost, self.core.plan(), now_ns)
    }

    /// [`peek_n_with`](Self::peek_n_with) at a time of your own.
    pub fn peek_n_with_at<Q: ?Sized>(&self, key: &Q, cost: u64, plan: &Plan, now_ns: u64) -> Decision
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.peek(&self.store, key, self.core.own(plan), now_ns, cost)
    }

    /// [`refund`](Self::refund) at a time of your own.
    pub fn refund_at<Q: ?Sized>(&self, key: &Q, units: u64, now_ns: u64)
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.refund_with_at(key, units, self.core.plan(), now_ns);
    }

    /// [`refund_with`](Self::refund_with) at a time of your own.
    pub fn refund_with_at<Q: ?Sized>(&self, key: &Q, units: u64, plan: &Plan, now_ns: u64)
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.refund(&self.store, key, self.core.own(plan), now_ns, units);
    }

    /// [`reset`](Self::reset) at a time of your own.
    pub fn reset_at<Q: ?Sized>(&self, key: &Q, now_ns: u64)
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.core.reset(&self.store, key, now_ns);
    }

    /// [`len`](Self::len) at a time of your own.
    pub fn len_at(&self, now_ns: u64) -> usize {
        self.core.len(&self.store, self.core.plan(), now_ns)
    }
}

/// A reservation knows the clock, to be settled by it if nothing else is said.
impl<K: ?Sized, C: Clock, S: Store> Limiter<K, C, S> {
    /// [`reserve`](Self::reserve) at a time of your own; see [`Reservation`] for the time at which it is settled.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_at<Q: ?Sized>(
        &self,
        key: &Q,
        units: u64,
        now_ns: u64,
    ) -> Result<Reservation<'_, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.reserve_with_at(key, units, self.core.plan(), now_ns)
    }

    /// [`reserve_with`](Self::reserve_with) at a time of your own.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_with_at<'a, Q: ?Sized>(
        &'a self,
        key: &Q,
        units: u64,
        plan: &'a Plan,
        now_ns: u64,
    ) -> Result<Reservation<'a, C, S>, Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.enqueue_with_at(key, units, &Queue::UNBOUNDED, plan, now_ns)
    }
}
