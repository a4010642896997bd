//! Waiting for the limit, on any async runtime.

use core::fmt;
use core::time::Duration;
use std::borrow::Borrow;

use crate::clock::Clock;
use crate::decision::Decision;
use crate::limiter::{DirectLimiter, Limiter, Plan, Queue, Reservation};
use crate::store::{Lookup, Store};

/// The wait would be longer than the caller wants, or the cost never fits. Nothing was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTooLong {
    /// The refusal, which says how long the wait would have been.
    pub decision: Decision,
    /// How long the caller would have waited in all.
    pub max_wait: Duration,
}

impl fmt::Display for WaitTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wait = self.decision.retry_after();
        if self.decision.limit() == 0 {
            f.write_str("everything is blocked: no wait helps")
        } else if wait.is_zero() {
            write!(f, "the cost never fits: ask for at most {}", self.decision.limit())
        } else {
            write!(
                f,
                "the limit asks for a wait of {wait:?}, and at most {:?} in all is allowed",
                self.max_wait
            )
        }
    }
}

impl std::error::Error for WaitTooLong {}

/// Asks until the answer is yes, sleeping exactly `retry_after` in between; fails at once when that is more than is left of
/// `max_wait`.
async fn until<F: Future<Output = ()>>(
    clock: &impl Clock,
    max_wait: Duration,
    ask: impl Fn(u64) -> Decision,
    sleep: impl Fn(Duration) -> F,
) -> Result<Decision, WaitTooLong> {
    let start_ns = clock.now_ns();
    loop {
        let now_ns = clock.now_ns();
        let decision = ask(now_ns);
        if decision.is_allowed() {
            return Ok(decision);
        }
        let wait = decision.retry_after();
        let waited = Duration::from_nanos(now_ns.saturating_sub(start_ns));
        if wait.is_zero() || wait > max_wait.saturating_sub(waited) {
            return Err(WaitTooLong { decision, max_wait });
        }
        sleep(wait).await;
    }
}

/// Waits for the turn of those who stand in line. Whoever drops this meanwhile leaves the line.
async fn wait<F: Future<Output = ()>, C: Clock, S: Store>(
    turn: Reservation<'_, C, S>,
    sleep: impl FnOnce(Duration) -> F,
) {
    if !turn.wait().is_zero() {
        sleep(turn.wait()).await;
    }
    let units = turn.units();
    turn.commit(units);
}

impl<K: ?Sized, C: Clock, S: Store> Limiter<K, C, S> {
    /// Stands in line and waits for its turn: see [`enqueue`](Self::enqueue). First come, first served. Dropping the future leaves the
    /// line, and gives back exactly what was held.
    ///
    /// # Errors
    /// The refusal, at once, when the line is too long. It took nothing.
    pub async fn until_turn<Q: ?Sized>(&self, key: &Q, units: u64, queue: &Queue) -> Result<(), Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.until_turn_by(key, units, queue, futures_timer::Delay::new).await
    }

    /// [`until_turn`](Self::until_turn) with the sleep of your runtime, such as `tokio::time::sleep`.
    ///
    /// # Errors
    /// As [`until_turn`](Self::until_turn).
    pub async fn until_turn_by<Q: ?Sized, F: Future<Output = ()>>(
        &self,
        key: &Q,
        units: u64,
        queue: &Queue,
        sleep: impl FnOnce(Duration) -> F,
    ) -> Result<(), Decision>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        wait(self.enqueue(key, units, queue)?, sleep).await;
        Ok(())
    }

    /// Waits until one unit is allowed, and takes it. Fails at once, and takes nothing, when that is longer than
    /// `max_wait`. Dropping the future takes nothing either.
    ///
    /// Callers who wait for one key are not queued: whoever asks first after a unit has come back gets it. For a line, see
    /// [`until_turn`](Self::until_turn).
    ///
    /// # Errors
    /// [`WaitTooLong`], with the refusal.
    pub async fn until_ready<Q: ?Sized>(&self, key: &Q, max_wait: Duration) -> Result<Decision, WaitTooLong>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.until_ready_n(key, 1, max_wait).await
    }

    /// [`until_ready`](Self::until_ready) for `cost` units.
    ///
    /// # Errors
    /// As [`until_ready`](Self::until_ready).
    pub async fn until_ready_n<Q: ?Sized>(
        &self,
        key: &Q,
        cost: u64,
        max_wait: Duration,
    ) -> Result<Decision, WaitTooLong>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        self.until_ready_by(key, cost, max_wait, futures_timer::Delay::new).await
    }

    /// [`until_ready_n`](Self::until_ready_n) under a plan of this limiter.
    ///
    /// # Errors
    /// As [`until_ready`](Self::until_ready).
    pub async fn until_ready_with<Q: ?Sized>(
        &self,
        key: &Q,
        cost: u64,
        plan: &Plan,
        max_wait: Duration,
    ) -> Result<Decision, WaitTooLong>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        let ask = |now_ns| self.check_n_with_at(key, cost, plan, now_ns);
        until(self.clock(), max_wait, ask, futures_timer::Delay::new).await
    }

    /// [`until_ready_n`](Self::until_ready_n) with the sleep of your runtime, such as `tokio::time::sleep`.
    ///
    /// # Errors
    /// As [`until_ready`](Self::until_ready).
    pub async fn until_ready_by<Q: ?Sized, F: Future<Output = ()>>(
        &self,
        key: &Q,
        cost: u64,
        max_wait: Duration,
        sleep: impl Fn(Duration) -> F,
    ) -> Result<Decision, WaitTooLong>
    where
        K: Borrow<Q>,
        S: Lookup<Q>,
    {
        until(self.clock(), max_wait, |now_ns| self.check_n_at(key, cost, now_ns), sleep).await
    }
}

impl<C: Clock> DirectLimiter<C> {
    /// [`Limiter::until_turn`] without a key.
    ///
    /// # Errors
    /// The refusal, at once, when the line is too long. It took nothing.
    pub async fn until_turn(&self, units: u64, queue: &Queue) -> Result<(), Decision> {
        self.until_turn_by(units, queue, futures_timer::Delay::new).await
    }

    /// [`Limiter::until_turn_by`] without a key.
    ///
    /// # Errors
    /// As [`until_turn`](Self::until_turn).
    pub async fn until_turn_by<F: Future<Output = ()>>(
        &self,
        units: u64,
        queue: &Queue,
        sleep: impl FnOnce(Duration) -> F,
    ) -> Result<(), Decision> {
        wait(self.enqueue(units, queue)?, sleep).await;
        Ok(())
    }

    /// [`Limiter::until_ready`] without a key.
    ///
    /// # Errors
    /// [`WaitTooLong`], with the refusal.
    pub async fn until_ready(&self, max_wait: Duration) -> Result<Decision, WaitTooLong> {
        self.until_ready_n(1, max_wait).await
    }

    /// [`Limiter::until_ready_n`] without a key.
    ///
    /// # Errors
    /// As [`until_ready`](Self::until_ready).
    pub async fn until_ready_n(&self, cost: u64, max_wait: Duration) -> Result<Decision, WaitTooLong> {
        self.until_ready_by(cost, max_wait, futures_timer::Delay::new).await
    }

    /// [`Limiter::until_ready_by`] without a key.
    ///
    /// # Errors
    /// As [`until_ready`](Self::until_ready).
    pub async fn until_ready_by<F: Future<Output = ()>>(
        &self,
        cost: u64,
        max_wait: Duration,
        sleep: impl Fn(Duration) -> F,
    ) -> Result<Decision, WaitTooLong> {
        until(self.clock(), max_wait, |now_ns| self.check_n_at(cost, now_ns), sleep).await
    }
}
