//! The same without `await`: for game servers, and other programs of threads.

use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::decision::Decision;
use crate::redis::answer::Answer;
use crate::redis::charge::{Answers, Charge, charge_all};
use crate::redis::core::{Action, Core};
use crate::redis::counts::Counts;
use crate::redis::failure::Failure;
use crate::redis::key::RedisKey;
use crate::redis::limiter::RedisLimiter;
use crate::redis::store::Redis;

/// One thread that talks to Redis for those that wait. Cheap to clone; the thread ends with the last limiter.
///
/// ```no_run
/// use tollgate::Quota;
/// use tollgate::redis::{Blocking, Redis, RedisLimiter};
/// let redis = Redis::open("redis://127.0.0.1/")?;
/// let logins = RedisLimiter::<str>::builder("logins", Quota::per_minute(10)).build(&redis)?;
/// let logins = Blocking::new()?.limiter(logins);
/// let answer = logins.check("alice");
/// # let _ = answer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Blocking(Arc<Background>);

/// A runtime that can be dropped anywhere, within another one too.
#[derive(Debug)]
struct Background {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Blocking {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("tollgate-redis")
            .enable_all()
            .build()?;
        Ok(Self(Arc::new(Background { handle: runtime.handle().clone(), runtime: Some(runtime) })))
    }

    /// A limiter that is asked without `await`.
    pub fn limiter<K: ?Sized>(&self, limiter: RedisLimiter<K>) -> BlockingRedisLimiter<K> {
        BlockingRedisLimiter { limiter, blocking: self.clone() }
    }

    /// As [`Redis::connect`].
    ///
    /// # Errors
    /// As [`Redis::connect`].
    pub fn connect(&self, redis: &Redis) -> Result<(), Failure> {
        let redis = redis.clone();
        self.wait(async move { redis.connect().await })?
    }

    /// As [`charge_all`](super::charge_all).
    ///
    /// # Errors
    /// As [`charge_all`](super::charge_all).
    pub fn charge_all(&self, charges: &[Charge]) -> Result<Answers, Failure> {
        let charges = charges.to_vec();
        self.wait(async move { charge_all(&charges).await })?
    }

    /// The result of a future.
    fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Failure> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.0.handle.spawn(async move { sender.send(future.await) });
        receiver.recv().map_err(|_| Failure::Other("the thread that talks to Redis has ended".to_owned()))
    }
}

/// A [`RedisLimiter`] that is asked without `await`. A call waits for the deadline at most; only
/// [`give_back`](Self::give_back) takes one round trip for each key.
#[derive(Debug)]
pub struct BlockingRedisLimiter<K: ?Sized> {
    limiter: RedisLimiter<K>,
    blocking: Blocking,
}

impl<K: ?Sized> Clone for BlockingRedisLimiter<K> {
    fn clone(&self) -> Self {
        self.blocking.limiter(self.limiter.clone())
    }
}

impl<K: ?Sized> BlockingRedisLimiter<K> {
    /// What was decided, and by whom.
    pub fn counts(&self) -> Counts {
        self.limiter.counts()
    }

    /// Gives back all units that this process has in hand, of all keys: before a process ends.
    pub fn give_back(&self) {
        let core = self.limiter.core.clone();
        // Without the thread there is nobody to give them back.
        _ = self.blocking.wait(async move {
            if let Some(leases) = &core.leases {
                core.give_back(leases, false).await;
            }
        });
    }

    /// The result of a future with the limiter's insides and a key.
    fn wait<T, F>(&self, key: Vec<u8>, ask: impl FnOnce(Arc<Core>, Vec<u8>) -> F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.blocking.wait(ask(self.limiter.core.clone(), key))
    }
}

impl<K: RedisKey + ?Sized> BlockingRedisLimiter<K> {
    /// As [`RedisLimiter::check`].
    pub fn check(&self, key: &K) -> Answer {
        self.check_n(key, 1)
    }

    /// As [`RedisLimiter::check_n`].
    pub fn check_n(&self, key: &K, cost: u64) -> Answer {
        // For what is taken ahead.
        let _entered = self.blocking.0.handle.enter();
        if let Some(answer) = self.limiter.core.at_once(key, cost) {
            return answer;
        }
        let key = self.limiter.core.key(key);
        let asked = self.wait(key.clone(), move |core, key| async move { core.take(&key, cost, None).await });
        asked.unwrap_or_else(|failure| self.limiter.core.without(&key, cost, failure))
    }

    /// As [`RedisLimiter::charge`], for [`Blocking::charge_all`].
    pub fn charge(&self, key: &K, units: u64) -> Charge {
        self.limiter.charge(key, units)
    }

    /// As [`RedisLimiter::peek_n`].
    ///
    /// # Errors
    /// When Redis does not answer.
    pub fn peek_n(&self, key: &K, cost: u64) -> Result<Decision, Failure> {
        if let Some(decision) = self.limiter.core.rule.without_store(cost) {
            return Ok(decision);
        }
        let key = self.limiter.core.key(key);
        let peek = move |core: Arc<Core>, key: Vec<u8>| async move {
            core.ask(Action::Peek, &key, &[cost], None).await
        };
        Ok(self.wait(key, peek)??.1)
    }

    /// As [`RedisLimiter::refund`].
    ///
    /// # Errors
    /// As [`RedisLimiter::refund`].
    pub fn refund(&self, key: &K, units: u64) -> Result<(), Failure> {
        let key = self.limiter.core.key(key);
        self.wait(key, move |core, key| async move { core.refund(&key, units, None).await })?
    }

    /// As [`RedisLimiter::reset`].
    ///
    /// # Errors
    /// When Redis does not answer.
    pub fn reset(&self, key: &K) -> Result<(), Failure> {
        let key = self.limiter.core.key(key);
        self.wait(key, |core, key| async move { core.reset(&key).await })?
    }
}
