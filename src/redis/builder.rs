//! Settings of a limit across machines.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::error::BuildError;
use crate::quota::Quota;
use crate::redis::core::Core;
use crate::redis::counts::Counters;
use crate::redis::lease::{Leases, Sizes};
use crate::redis::limiter::RedisLimiter;
use crate::redis::outage::{Fallback, Outage};
use crate::redis::rule::Rule;
use crate::redis::script::Script;
use crate::redis::store::Redis;

/// Keys that the local fallback holds, when nothing is said.
const DEFAULT_CAPACITY: usize = 65_536;

/// Where decisions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Each by Redis.
    Exact,
    /// Most by this process, of units that it has taken in advance: as many as it spends in 100 ms, fewer as the quota runs out. More are taken
    /// before they are needed, and what is not used for a second is given back. After a refusal Redis is not asked again before units are
    /// worth a call, which is 50 ms at most beyond its own wait. Until then larger costs are
    /// refused by what is remembered, with that wait.
    ///
    /// Units are charged before they are spent, so no more are ever admitted than were charged; but they can be spent later. With N processes, in any
    /// interval T of a quota with burst `b` and `r` units a second: at most `b + r * T + N * max_units`.
    ///
    /// By a time of the caller's own, and together with others by [`charge_all`](super::charge_all), Redis decides all the same. A
    /// [`reset`](RedisLimiter::reset) leaves what processes have in hand.
    ///
    /// A decision's `remaining` is what this process has in hand, with what Redis has left where it was asked, and nothing is said of `reset_after` where it was allowed: it is zero, and not to be
    /// sent to a client.
    /// [`peek_n`](RedisLimiter::peek_n) tells what Redis has left. One call may cost `max_units` at most to be decided by this process; Redis decides on larger ones.
    Leased {
        /// The most units of a key that this process has in hand. A tenth of the burst is a good start.
        max_units: u64,
    },
}

impl Mode {
    fn leases(self, quota: Quota) -> Result<Option<Leases>, BuildError> {
        match (self, quota.rate()) {
            (Self::Leased { max_units: 0 }, _) => Err(BuildError::Other(
                "a lease of 0 units is none: write 1 or more, a tenth of the burst for example, or Mode::Exact".to_owned(),
            )),
            (Self::Leased { max_units }, Some(rate)) => {
                Ok(Some(Leases::new(Sizes::new(rate, max_units.min(rate.capacity())))))
            }
            _ => Ok(None),
        }
    }
}

/// Settings of a [`RedisLimiter`].
#[must_use = "nothing is limited until `build`"]
pub struct RedisLimiterBuilder<K: ?Sized> {
    name: String,
    quota: Quota,
    algorithm: String,
    window_offset: Duration,
    hash_tag: Option<String>,
    mode: Mode,
    outage: Outage,
    capacity: usize,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized> fmt::Debug for RedisLimiterBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLimiterBuilder")
            .field("name", &self.name)
            .field("quota", &self.quota)
            .field("algorithm", &self.algorithm)
            .field("outage", &self.outage)
            .finish_non_exhaustive()
    }
}

impl<K: ?Sized> RedisLimiterBuilder<K> {
    pub(super) fn new(name: &str, quota: Quota) -> Self {
        Self {
            name: name.to_owned(),
            quota,
            algorithm: "gcra".to_owned(),
            window_offset: Duration::ZERO,
            hash_tag: None,
            mode: Mode::Exact,
            outage: Outage::default(),
            capacity: DEFAULT_CAPACITY,
            key: PhantomData,
        }
    }

    /// The algorithm, by name; `gcra` when nothing is said.
    pub fn algorithm(mut self, name: &str) -> Self {
        name.clone_into(&mut self.algorithm);
        self
    }

    /// Where windows start, from midnight UTC of 1970-01-01; 0 when nothing is said. Whole microseconds count.
    pub const fn window_offset(mut self, offset: Duration) -> Self {
        self.window_offset = offset;
        self
    }

    /// Keeps all keys in one slot of a cluster, with those of other limiters of the same tag, so that one call can check several of
    /// them. Without, each key has a slot of its own, which rules on the same key share.
    pub fn hash_tag(mut self, tag: &str) -> Self {
        self.hash_tag = Some(tag.to_owned());
        self
    }

    /// Whether each decision is made by Redis, or most of them by this process; [`Mode::Exact`] when nothing is said.
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// What answers while Redis does not; [`Outage::Local`] with the whole quota when nothing is said.
    pub const fn outage(mut self, outage: Outage) -> Self {
        self.outage = outage;
        self
    }

    /// How many keys [`Outage::Local`] holds at once; 65 536 when nothing is said.
    pub const fn capacity(mut self, keys: usize) -> Self {
        self.capacity = keys;
        self
    }

    /// The limiter. Nothing is asked of Redis yet.
    ///
    /// # Errors
    /// When the quota does not fit the algorithm, or names and shares are not as they must be; the error says what to write instead.
    pub fn build(self, redis: &Redis) -> Result<RedisLimiter<K>, BuildError> {
        let offset_us = u64::try_from(self.window_offset.as_micros()).unwrap_or(u64::MAX);
        let rule = Rule::new(self.quota, &self.algorithm, offset_us)?;
        check_name("name", &self.name, &['{', '}', ':'])?;
        if let Some(tag) = &self.hash_tag {
            check_name("hash tag", tag, &['{', '}'])?;
        }
        let algorithm = rule.name();
        // Without a tag of its own a key is its own, so that all rules on one key are in one slot. The colon makes sure that it is not
        // empty, which would be none.
        let (prefix, suffix) = match &self.hash_tag {
            Some(tag) => (format!("{}{{{tag}}}{}:{algorithm}:", redis.prefix, self.name), ""),
            None => (format!("{}:{}:{algorithm}{{:", redis.prefix, self.name), "}"),
        };
        let core = Core {
            link: redis.link.clone(),
            script: Script::of(rule.part()),
            one: Script::of_one_arrival(),
            rule,
            prefix: prefix.into_bytes(),
            suffix: suffix.as_bytes(),
            fallback: Fallback::new(
                self.outage,
                self.quota,
                &self.algorithm,
                self.window_offset,
                self.capacity,
            )?,
            counters: Counters::new(),
            leases: self.mode.leases(self.quota)?.map(Arc::new),
        };
        Ok(RedisLimiter::new(Arc::new(core)))
    }
}

/// A part of a key that is not to be taken for another.
fn check_name(what: &str, name: &str, reserved: &[char]) -> Result<(), BuildError> {
    if name.is_empty() || name.contains(reserved) {
        let reserved: Vec<_> = reserved.iter().map(char::to_string).collect();
        return Err(BuildError::Other(format!(
            "{what} {name:?} cannot be part of a key: write one or more characters other than {}",
            reserved.join(" ")
        )));
    }
    Ok(())
}
