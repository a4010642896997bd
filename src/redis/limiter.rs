//! One limit, the same on every machine.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::decision::Decision;
use crate::quota::Quota;
use crate::redis::answer::Answer;
use crate::redis::builder::RedisLimiterBuilder;
use crate::redis::core::{Action, Core};
use crate::redis::counts::Counts;
use crate::redis::failure::Failure;
use crate::redis::key::RedisKey;

/// A limit by key that all processes with the same rule name, quota and server share.
///
/// With [`Mode::Exact`](super::Mode::Exact), which is the default, every decision is one round trip: a script that reads the server's time, decides, and charges.
/// It decides as a [`Limiter`](crate::Limiter) would with that time in whole microseconds. With [`Mode::Leased`](super::Mode::Leased) most decisions are
/// this process's own. To be awaited in a tokio runtime that has time and I/O enabled. Cheap to clone.
///
/// Processes whose quotas have another period, or a burst that takes another time to come back, share nothing: while a new version is rolled out,
/// both quotas hold by themselves. A limit that is changed with its burst goes on with what is used.
///
/// ```no_run
/// use tollgate::Quota;
/// use tollgate::redis::{Outage, Redis, RedisLimiter};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let redis = Redis::open("redis://127.0.0.1/")?;
/// let logins = RedisLimiter::<str>::builder("logins", Quota::per_minute(10))
///     .outage(Outage::Local { share: 0.25 }) // one of four processes
///     .build(&redis)?;
/// let answer = logins.check("alice").await;
/// if answer.is_denied() {
///     println!("{:?} by {:?}", answer.decision(), answer.source());
/// }
/// # Ok(())
/// # }
/// ```
pub struct RedisLimiter<K: ?Sized> {
    pub(super) core: Arc<Core>,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized> Clone for RedisLimiter<K> {
    fn clone(&self) -> Self {
        Self::new(self.core.clone())
    }
}

impl<K: ?Sized> fmt::Debug for RedisLimiter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLimiter")
            .field("prefix", &String::from_utf8_lossy(&self.core.prefix))
            .field("rule", &self.core.rule)
            .finish_non_exhaustive()
    }
}

impl<K: ?Sized> RedisLimiter<K> {
    pub(super) const fn new(core: Arc<Core>) -> Self {
        Self { core, key: PhantomData }
    }

    /// A rule of this name with this quota.
    pub fn builder(name: &str, quota: Quota) -> RedisLimiterBuilder<K> {
        RedisLimiterBuilder::new(name, quota)
    }

    /// Gives back all units that this process has in hand, of all keys: to be awaited before a process ends. Without a lease there is nothing to give.
    /// It is one round trip for each key with units in hand, one after another; where Redis does not answer this ends after a few deadlines.
    pub async fn give_back(&self) {
        if let Some(leases) = &self.core.leases {
            self.core.give_back(leases, false).await;
        }
    }

    /// What was decided, and by whom.
    pub fn counts(&self) -> Counts {
        self.core.counters.read()
    }
}

impl<K: RedisKey + ?Sized> RedisLimiter<K> {
    /// Takes one unit of a key, or says when to come back.
    pub async fn check(&self, key: &K) -> Answer {
        self.check_n(key, 1).await
    }

    /// Takes `cost` units of a key, all or none.
    pub async fn check_n(&self, key: &K, cost: u64) -> Answer {
        if let Some(answer) = self.core.at_once(key, cost) {
            return answer;
        }
        self.core.take(&self.core.key(key), cost, None).await
    }

    /// [`check_n`](Self::check_n) at a time of your own, since the start of Unix time, for those whose machines agree on one. Calls with and without a
    /// time should not be mixed, and a key is forgotten when it has been idle by Redis's own clock for a minute: a time that stands still for
    /// longer begins anew. A time after the year 2112 counts as the last that is told exactly.
    pub async fn check_n_at(&self, key: &K, cost: u64, now: Duration) -> Answer {
        self.core.take(&self.core.key(key), cost, Some(now)).await
    }

    /// What [`check_n`](Self::check_n) would answer. Nothing is taken.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn peek_n(&self, key: &K, cost: u64) -> Result<Decision, Failure> {
        self.peek(key, cost, None).await
    }

    /// [`peek_n`](Self::peek_n) at a time of your own.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn peek_n_at(&self, key: &K, cost: u64, now: Duration) -> Result<Decision, Failure> {
        self.peek(key, cost, Some(now)).await
    }

    async fn peek(&self, key: &K, cost: u64, now: Option<Duration>) -> Result<Decision, Failure> {
        if let Some(decision) = self.core.rule.without_store(cost) {
            return Ok(decision);
        }
        let (_, decision) = self.core.ask(Action::Peek, &self.core.key(key), &[cost], now).await?;
        Ok(decision)
    }

    /// Gives back the newest `units` of a key: as if they had not been taken, and never above full.
    ///
    /// # Errors
    /// When Redis does not answer: the units may have been given back or not, and are not given back a second time.
    pub async fn refund(&self, key: &K, units: u64) -> Result<(), Failure> {
        self.core.refund(&self.core.key(key), units, None).await
    }

    /// [`refund`](Self::refund) at a time of your own.
    ///
    /// # Errors
    /// As [`refund`](Self::refund).
    pub async fn refund_at(&self, key: &K, units: u64, now: Duration) -> Result<(), Failure> {
        self.core.refund(&self.core.key(key), units, Some(now)).await
    }

    /// Makes a key as good as new.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn reset(&self, key: &K) -> Result<(), Failure> {
        self.core.reset(&self.core.key(key)).await
    }
}
