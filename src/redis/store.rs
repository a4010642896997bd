//! The handle of a server that limiters share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::redis::address::Address;
use crate::redis::failure::Failure;
use crate::redis::link::Link;

/// How long a decision may take, when nothing is said.
const DEFAULT_DEADLINE: Duration = Duration::from_millis(20);

const DEFAULT_PREFIX: &str = "tollgate";

/// A Redis or Valkey server, the master that sentinels name, or a cluster. Cheap to clone.
///
/// What Redis forgets is as good as new: a server that evicts keys when its memory is full (any `maxmemory-policy` but `noeviction`), that is
/// restarted without its data, or that fails over to a replica which is behind, grants again what it forgot. With `noeviction` a full
/// server refuses to write, and the outage policy answers.
///
/// Nothing is asked until the first decision, so a program starts with Redis down. All limiters of a handle share one connection, whose commands
/// are pipelined.
///
/// ```no_run
/// use tollgate::redis::Redis;
/// let redis = Redis::open("redis://user:password@127.0.0.1:6379/0")?;
/// # Ok::<(), tollgate::redis::Failure>(())
/// ```
#[derive(Clone)]
pub struct Redis {
    pub(super) link: Arc<Link>,
    pub(super) prefix: Arc<str>,
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("prefix", &self.prefix)
            .field("is_up", &self.is_up())
            .finish_non_exhaustive()
    }
}

impl Redis {
    /// One server, by its URL: `redis://`, `rediss://` for TLS (feature `redis-tls`), or `redis+unix://`. Special characters of a password
    /// are written as `%40` for `@`.
    ///
    /// # Errors
    /// When the URL is none; the error says what to write instead. A server that is down, or a wrong password, is told by
    /// [`connect`](Self::connect) and by the decisions.
    pub fn open(url: &str) -> Result<Self, Failure> {
        RedisBuilder::new(Address::single(url)).build()
    }

    /// [`open`](Self::open), with settings.
    pub fn single(url: &str) -> RedisBuilder {
        RedisBuilder::new(Address::single(url))
    }

    /// The master of this name, by the URLs of its sentinels. After a failover the sentinels are asked again. User, password, database
    /// and TLS of the first URL are the master's, too.
    pub fn sentinel(urls: &[&str], master: &str) -> RedisBuilder {
        RedisBuilder::new(Address::sentinel(urls, master))
    }

    /// A cluster, by the URLs of some of its nodes.
    pub fn cluster(urls: &[&str]) -> RedisBuilder {
        RedisBuilder::new(Address::cluster(urls))
    }

    /// Connects now, instead of with the first decision. A program that calls this when it starts is told of a server that is down, a wrong password, or a
    /// user who may run no script. Whatever comes of it, decisions go on: by Redis, or by their outage policies, and it is tried again beside them.
    ///
    /// # Errors
    /// Why there is no connection, after a second or two at most.
    ///
    /// ```no_run
    /// # async fn start() -> Result<(), tollgate::redis::Failure> {
    /// let redis = tollgate::redis::Redis::open("redis://127.0.0.1/")?;
    /// if let Err(failure) = redis.connect().await {
    ///     eprintln!("limits hold for this process only: {failure}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(&self) -> Result<(), Failure> {
        self.link.check().await
    }

    /// Whether there is a connection now.
    pub fn is_up(&self) -> bool {
        self.link.is_up()
    }

    /// How often the connection was lost.
    pub fn outages(&self) -> u64 {
        self.link.changes()[0]
    }

    /// How often it was there again.
    pub fn recoveries(&self) -> u64 {
        self.link.changes()[1]
    }
}

/// Settings of a [`Redis`].
#[must_use = "nothing is asked until `build`"]
pub struct RedisBuilder {
    address: Result<Address, Failure>,
    deadline: Duration,
    prefix: String,
}

impl fmt::Debug for RedisBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBuilder")
            .field("deadline", &self.deadline)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl RedisBuilder {
    fn new(address: Result<Address, Failure>) -> Self {
        Self { address, deadline: DEFAULT_DEADLINE, prefix: DEFAULT_PREFIX.to_owned() }
    }

    /// How long a decision waits for Redis, before the outage policy answers; 20 ms when nothing is said, and a day at most.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// What all keys begin with; `tollgate` when nothing is said.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// The handle. Nothing is connected yet.
    ///
    /// # Errors
    /// When a URL is none, or the prefix has braces, which mean hash tags.
    pub fn build(self) -> Result<Redis, Failure> {
        if self.prefix.contains(['{', '}']) {
            return Err(Failure::Other(format!(
                "prefix {:?} has braces, by which a cluster chooses the slot: leave them out, and use hash_tag",
                self.prefix
            )));
        }
        let link = Link::new(self.address?, self.deadline);
        Ok(Redis { link: Arc::new(link), prefix: self.prefix.into() })
    }
}
