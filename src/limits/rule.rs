//! A rule as it is written down, before it is built.

use core::time::Duration;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use crate::algorithm::Settings;
use crate::error::BuildError;
use crate::limiter::{Core, Plan};
use crate::limits::ban_gate::BanGate;
use crate::limits::bans::Bans;
use crate::limits::current::Generation;
use crate::limits::gate::{Gate, Keyed, Room};
use crate::limits::key::{KeyOf, Prehashed};
use crate::limits::ready::{Cost, Only, Ready, Watch};
use crate::limits::top_denied::TopDenied;
use crate::quota::Quota;
use crate::store::{KeyHasher, Map, Overflow, Single, Table};

/// Keys that a table is built for when nothing is said: 1.4 MB.
const DEFAULT_CAPACITY: usize = 1 << 16;

const DEFAULT_ALGORITHM: &str = "gcra";

/// Makes the gate of a rule from its settings: the types of its key and its store are known in here only.
type Make<R> = Box<dyn FnOnce(&Plain) -> Result<Box<dyn Gate<R>>, BuildError> + Send + Sync>;

/// The settings of a rule that have nothing to do with its requests.
#[derive(Debug)]
struct Plain {
    quota: Quota,
    algorithm: String,
    settings: Settings,
    capacity: usize,
    overflow: Overflow,
}

impl Plain {
    fn core(&self, many_keys: bool) -> Result<Core<()>, BuildError> {
        Ok(Core::new(Plan::new(self.quota, &self.algorithm, &self.settings)?, (), many_keys))
    }
}

/// One rule of [`Limits`](crate::Limits): whose requests it counts together, and how many it allows.
///
/// ```
/// use tollgate::{Limits, Quota, Rule};
/// struct Upload { user: u64, bytes: u64 }
/// let limits = Limits::builder()
///     .rule(
///         Rule::new("bytes per user", Quota::per_second(1_000_000), |upload: &Upload| Some(upload.user))
///             .cost(|upload| upload.bytes)
///             .capacity(10_000),
///     )
///     .build()?;
/// assert!(limits.check(&Upload { user: 7, bytes: 600_000 }).is_allowed());
/// assert!(limits.check(&Upload { user: 7, bytes: 600_000 }).is_denied());
/// # Ok::<(), tollgate::BuildError>(())
/// ```
#[must_use = "a rule limits nothing until it is part of `Limits`"]
pub struct Rule<R: ?Sized> {
    pub(super) name: String,
    plain: Plain,
    make: Make<R>,
    pub(super) cost: Option<Cost<R>>,
    pub(super) only: Option<Only<R>>,
    is_shadow: bool,
    max_debt: Option<Duration>,
    pub(super) watch: Option<Watch<R>>,
}

impl<R: ?Sized> fmt::Debug for Rule<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("name", &self.name)
            .field("plain", &self.plain)
            .field("is_shadow", &self.is_shadow)
            .finish_non_exhaustive()
    }
}

impl<R: ?Sized> Rule<R> {
    /// A rule by key, in a [`Table`]: fixed memory, and any key that can be hashed. `key` says whose request it is, or `None`
    /// where the rule does not apply. It is asked up to twice a check, and must answer the same.
    ///
    /// A closure needs the type of its argument written out; a key that borrows from the request comes from a named
    /// function:
    ///
    /// ```
    /// use tollgate::{Quota, Rule};
    /// struct Request { user: Option<u64>, method: String, path: String }
    /// fn endpoint(request: &Request) -> Option<(&str, &str)> {
    ///     Some((&request.method, &request.path))
    /// }
    /// let rules = [
    ///     Rule::new("user", Quota::per_second(10), |request: &Request| request.user),
    ///     Rule::new("endpoint", Quota::per_second(100), endpoint),
    /// ];
    /// ```
    pub fn new<F>(name: &str, quota: Quota, key: F) -> Self
    where
        F: for<'r> KeyOf<'r, R> + Send + Sync + 'static,
    {
        Self::with(name, quota, |plain| {
            let core = plain.core(true)?;
            if core.plan().is_logged() {
                return Err(BuildError::LogInTable);
            }
            let store = Table::new(plain.capacity, plain.overflow, Prehashed::default())?;
            let hasher = KeyHasher::default();
            let hash = move |request: &R| key(request).map(|key| hasher.hash_one(key));
            Ok(Box::new(Keyed { core, store, key: hash, room: Room::of }))
        })
    }

    /// A rule by exact key, in a [`Map`], which grows: for `sliding_window_log`, and where no two keys may ever share a quota.
    pub fn exact<K, F>(name: &str, quota: Quota, key: F) -> Self
    where
        K: Hash + Ord + Clone + Send + Sync + 'static,
        F: Fn(&R) -> Option<K> + Send + Sync + 'static,
    {
        Self::with(name, quota, |plain| {
            let core = plain.core(true)?;
            let store = Map::new(KeyHasher::default());
            Ok(Box::new(Keyed { core, store, key, room: |_| Room::default() }))
        })
    }

    /// A rule for all requests together.
    pub fn global(name: &str, quota: Quota) -> Self {
        Self::with(name, quota, |plain| {
            let core = plain.core(false)?;
            Ok(Box::new(Keyed {
                core,
                store: Single::new(),
                key: |_: &R| Some(()),
                room: |_| Room::default(),
            }))
        })
    }

    /// Refuses keys that are banned, before anything is charged, and tells them when the ban ends. Others do not meet this rule.
    pub fn banned<K, F>(name: &str, bans: Arc<Bans<K>>, key: F) -> Self
    where
        K: ?Sized + Hash + 'static,
        F: for<'r> KeyOf<'r, R, Key: Borrow<K>> + Send + Sync + 'static,
    {
        Self::with(name, Quota::unlimited(), |plain| {
            let plan = plain.core(false)?.plan().clone();
            let banned = bans.clone();
            let len = move |now_ns| banned.len_at(now_ns);
            let left = move |request: &R, now_ns| {
                key(request).map_or(Duration::ZERO, |key| bans.left_at(key.borrow(), now_ns))
            };
            Ok(Box::new(BanGate { left, len, plan }))
        })
    }

    fn with(
        name: &str,
        quota: Quota,
        make: impl FnOnce(&Plain) -> Result<Box<dyn Gate<R>>, BuildError> + Send + Sync + 'static,
    ) -> Self {
        let plain = Plain {
            quota,
            algorithm: DEFAULT_ALGORITHM.to_owned(),
            settings: Settings::default(),
            capacity: DEFAULT_CAPACITY,
            overflow: Overflow::default(),
        };
        Self {
            name: name.to_owned(),
            plain,
            make: Box::new(make),
            cost: None,
            only: None,
            is_shadow: false,
            max_debt: None,
            watch: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The algorithm, by [name](crate::algorithm::names); `gcra` when nothing is said.
    pub fn algorithm(mut self, name: &str) -> Self {
        name.clone_into(&mut self.plain.algorithm);
        self
    }

    /// Where windows start, from the clock's origin; 0 when nothing is said.
    pub fn window_offset(mut self, offset: Duration) -> Self {
        self.plain.settings.window_offset = offset;
        self
    }

    /// How many keys may be live at once; 65 536 when nothing is said. Only a rule made by [`new`](Self::new) has a capacity.
    pub fn capacity(mut self, keys: usize) -> Self {
        self.plain.capacity = keys;
        self
    }

    /// What a new key meets when `capacity` keys are live.
    pub fn overflow(mut self, policy: Overflow) -> Self {
        self.plain.overflow = policy;
        self
    }

    /// How many units a request costs; 1 when nothing is said. It is asked up to twice a check, and must answer the same. A
    /// request that costs nothing is allowed.
    pub fn cost(mut self, cost: impl Fn(&R) -> u64 + Send + Sync + 'static) -> Self {
        self.cost = Some(Box::new(cost));
        self
    }

    /// Whether the rule is for a request at all. Not part of the key, as another rule may take the keys over.
    #[cfg(feature = "config")]
    pub(crate) fn only(mut self, only: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
        self.only = Some(Box::new(only));
        self
    }

    /// Never refuses: it is charged with what it has room for, and [counts](crate::Counts) what it would have denied. To have it refuse
    /// from some time on, see [`set_shadow`](crate::RuleRef::set_shadow).
    pub fn shadow(mut self) -> Self {
        self.is_shadow = true;
        self
    }

    /// The most that [`penalize`](crate::RuleRef::penalize) may leave a key in debt, as the time in which the debt comes back; the
    /// first unit is allowed an interval after that. One period of the quota of then when nothing is said.
    pub fn max_debt(mut self, debt: Duration) -> Self {
        self.max_debt = Some(debt);
        self
    }

    /// Follows which keys this rule denies most, or would deny if it is a shadow, by whatever `key` says of a request: what it counts by, or an address in a log's
    /// words. It is asked only of requests that the rule refuses. Several rules may write to one summary.
    pub fn top_denied<K, F>(mut self, top: Arc<TopDenied<K>>, key: F) -> Self
    where
        K: Hash + Eq + Clone + Send + 'static,
        F: Fn(&R) -> Option<K> + Send + Sync + 'static,
    {
        self.watch = Some(Box::new(move |request| {
            if let Some(key) = key(request) {
                top.add(key);
            }
        }));
        self
    }

    pub(super) const fn is_shadow(&self) -> bool {
        self.is_shadow
    }

    pub(super) fn build(self) -> Result<Ready<R>, BuildError> {
        let gate = (self.make)(&self.plain)
            .map_err(|error| BuildError::Rule { name: self.name.clone(), error: Box::new(error) })?;
        Ok(Ready {
            name: self.name.into(),
            gate: gate.into(),
            cost: self.cost,
            only: self.only,
            max_debt: self.max_debt,
            watch: self.watch,
            generation: Arc::new(Generation::new()),
            #[cfg(feature = "metrics")]
            identity: Arc::default(),
        })
    }
}
