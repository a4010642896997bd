//! Settings, checked once when a limiter is built.

use core::marker::PhantomData;
use core::time::Duration;
use std::fmt;
use std::hash::{BuildHasher, Hash};

use crate::algorithm::Settings;
use crate::clock::DefaultClock;
use crate::error::BuildError;
use crate::limiter::core::Core;
use crate::limiter::plan::Plan;
use crate::limiter::{DirectLimiter, Limiter};
use crate::quota::Quota;
use crate::store::{KeyHasher, Map, Overflow, Single, Table};

/// Keys that a table is built for when nothing is said: 1.4 MB.
const DEFAULT_CAPACITY: usize = 1 << 16;

const DEFAULT_ALGORITHM: &str = "gcra";

/// What limiters with and without keys have in common.
#[derive(Clone, Debug)]
struct Common<C> {
    quota: Quota,
    algorithm: String,
    settings: Settings,
    clock: Source<C>,
}

/// A clock, or how to make one when it turns out to be needed: the default takes some 10 ms, once per process.
#[derive(Clone, Debug)]
enum Source<C> {
    Default(fn() -> C),
    Given(C),
}

impl<C> Source<C> {
    fn make(self) -> C {
        match self {
            Self::Default(make) => make(),
            Self::Given(clock) => clock,
        }
    }
}

impl Common<DefaultClock> {
    fn new(quota: Quota) -> Self {
        let algorithm = DEFAULT_ALGORITHM.to_owned();
        Self {
            quota,
            algorithm,
            settings: Settings::default(),
            clock: Source::Default(DefaultClock::default),
        }
    }
}

impl<C> Common<C> {
    fn clock<D>(self, clock: D) -> Common<D> {
        Common {
            quota: self.quota,
            algorithm: self.algorithm,
            settings: self.settings,
            clock: Source::Given(clock),
        }
    }

    fn build(self, many_keys: bool) -> Result<Core<C>, BuildError> {
        Ok(Core::new(Plan::new(self.quota, &self.algorithm, &self.settings)?, self.clock.make(), many_keys))
    }
}

/// Settings of a [`Limiter`].
///
/// ```
/// use tollgate::{Limiter, ManualClock, Overflow, Quota};
/// let limiter = Limiter::<str>::builder(Quota::per_second(10).burst(20))
///     .algorithm("token_bucket")
///     .capacity(1_000)
///     .overflow(Overflow::Deny)
///     .clock(ManualClock::new(0))
///     .build()?;
/// assert_eq!(limiter.check("alice").remaining(), 19);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
#[must_use = "nothing is limited until `build`"]
pub struct LimiterBuilder<K: ?Sized, C = DefaultClock, H = KeyHasher> {
    common: Common<C>,
    capacity: usize,
    overflow: Overflow,
    hasher: H,
    key: PhantomData<fn() -> Box<K>>,
}

impl<K: ?Sized, C: fmt::Debug, H> fmt::Debug for LimiterBuilder<K, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimiterBuilder")
            .field("common", &self.common)
            .field("capacity", &self.capacity)
            .field("overflow", &self.overflow)
            .finish_non_exhaustive()
    }
}

impl<K: ?Sized> LimiterBuilder<K> {
    pub(super) fn new(quota: Quota) -> Self {
        Self {
            common: Common::new(quota),
            capacity: DEFAULT_CAPACITY,
            overflow: Overflow::default(),
            hasher: KeyHasher::default(),
            key: PhantomData,
        }
    }
}

impl<K: ?Sized, C, H> LimiterBuilder<K, C, H> {
    /// The algorithm, by [name](crate::algorithm::names); `gcra` when nothing is said.
    pub fn algorithm(mut self, name: &str) -> Self {
        self.common.algorithm = name.to_owned();
        self
    }

    /// Where windows start, from the clock's origin; 0 when nothing is said. Only `fixed_window` and
    /// `sliding_window_counter` have windows.
    ///
    /// The clocks here start when they are made, so a window of a day starts at no midnight unless it is told to:
    ///
    /// ```
    /// use std::time::{Duration, SystemTime, UNIX_EPOCH};
    /// use tollgate::{Clock, Limiter, Quota, TscClock};
    /// let day = Duration::from_secs(86_400);
    /// let clock = TscClock::new();
    /// let until_midnight = day.as_nanos() - SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() % day.as_nanos();
    /// let offset = Duration::from_nanos(clock.now_ns() + until_midnight as u64);
    /// let limiter = Limiter::<str>::builder(Quota::new(1_000, day))
    ///     .algorithm("fixed_window")
    ///     .window_offset(offset)
    ///     .clock(clock)
    ///     .build()?;
    /// # assert!(limiter.check("alice").is_allowed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// (Midnight in UTC. The offset is fixed when the limiter is built: time that the clock does not count, such as a suspend,
    /// and steps of the wall clock move midnight away from it.)
    pub const fn window_offset(mut self, offset: Duration) -> Self {
        self.common.settings.window_offset = offset;
        self
    }

    /// How many keys may be live at once; 65 536 when nothing is said. Memory for them is taken when built.
    pub const fn capacity(mut self, keys: usize) -> Self {
        self.capacity = keys;
        self
    }

    /// What becomes of a new key when the table has no room for it.
    pub const fn overflow(mut self, policy: Overflow) -> Self {
        self.overflow = policy;
        self
    }

    /// Where time comes from when it is not an argument.
    pub fn clock<D>(self, clock: D) -> LimiterBuilder<K, D, H> {
        LimiterBuilder {
            common: self.common.clock(clock),
            capacity: self.capacity,
            overflow: self.overflow,
            hasher: self.hasher,
            key: PhantomData,
        }
    }

    /// How keys are hashed. The default, [`KeyHasher`], resists floods of chosen keys; a hasher that does not lets an attacker make keys share a quota. All 64 bits must be well mixed,
    /// the highest above all, as they choose a key's place: with an identity hash small numbers all crowd into one.
    pub fn hasher<G: BuildHasher>(self, hasher: G) -> LimiterBuilder<K, C, G> {
        LimiterBuilder {
            common: self.common,
            capacity: self.capacity,
            overflow: self.overflow,
            hasher,
            key: PhantomData,
        }
    }

    /// A limiter with fixed memory.
    ///
    /// # Errors
    /// When the quota, the algorithm or the capacity is refused; the error says what to write instead. The memory of
    /// `sliding_window_log` is not fixed: that takes [`build_map`](Self::build_map).
    pub fn build(self) -> Result<Limiter<K, C, Table<H>>, BuildError>
    where
        H: BuildHasher,
    {
        let core = self.common.build(true)?;
        if core.plan().is_logged() {
            return Err(BuildError::LogInTable);
        }
        let table = Table::new(self.capacity, self.overflow, self.hasher)?;
        Ok(Limiter::from_parts(core, table))
    }

    /// A limiter with exact keys, whose memory grows with them. `capacity` and `overflow` do not apply.
    ///
    /// # Errors
    /// When the quota or the algorithm is refused; the error says what to write instead.
    pub fn build_map(self) -> Result<Limiter<K, C, Map<K, H>>, BuildError>
    where
        K: Sized + Hash + Ord + Clone + Send + Sync + 'static,
        H: BuildHasher,
    {
        Ok(Limiter::from_parts(self.common.build(true)?, Map::new(self.hasher)))
    }
}

/// Settings of a [`DirectLimiter`].
#[derive(Debug)]
#[must_use = "nothing is limited until `build`"]
pub struct DirectLimiterBuilder<C = DefaultClock>(Common<C>);

impl DirectLimiterBuilder {
    pub(super) fn new(quota: Quota) -> Self {
        Self(Common::new(quota))
    }
}

impl<C> DirectLimiterBuilder<C> {
    /// The algorithm, by [name](crate::algorithm::names); `gcra` when nothing is said.
    pub fn algorithm(mut self, name: &str) -> Self {
        self.0.algorithm = name.to_owned();
        self
    }

    /// Where windows start, from the clock's origin; 0 when nothing is said.
    pub const fn window_offset(mut self, offset: Duration) -> Self {
        self.0.settings.window_offset = offset;
        self
    }

    /// Where time comes from when it is not an argument.
    pub fn clock<D>(self, clock: D) -> DirectLimiterBuilder<D> {
        DirectLimiterBuilder(self.0.clock(clock))
    }

    /// The limiter.
    ///
    /// # Errors
    /// When the quota or the algorithm is refused; the error says what to write instead.
    pub fn build(self) -> Result<DirectLimiter<C>, BuildError> {
        Ok(DirectLimiter::from_parts(self.0.build(false)?, Single::new()))
    }
}
