//! What the tests have in common besides the models: names, limiters, and seeded numbers.

use std::time::Duration;

use tollgate::{DirectLimiter, Limiter, LimiterBuilder, ManualClock, Overflow, Quota, Table};

/// A fixed hash: a test that fails, fails again.
type Hasher = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;
pub(crate) type InATable = Limiter<u64, ManualClock, Table<Hasher>>;

pub(crate) const ARRIVAL: [&str; 3] = ["token_bucket", "gcra", "leaky_bucket"];
pub(crate) const WINDOWS: [&str; 3] = ["fixed_window", "sliding_window_counter", "sliding_window_log"];
/// Those of which a key is one word.
pub(crate) const TABLE_ALGORITHMS: [&str; 5] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter"];
pub(crate) const ALL: [&str; 6] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter", "sliding_window_log"];

/// A limiter without keys, on a manual clock at 0.
pub(crate) fn direct(algorithm: &str, quota: Quota) -> DirectLimiter<ManualClock> {
    DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0)).build().unwrap()
}

/// Settings of a limiter by key, on a manual clock at 0.
pub(crate) fn on_manual_clock<K: ?Sized>(
    algorithm: &str,
    quota: Quota,
) -> LimiterBuilder<K, ManualClock, Hasher> {
    Limiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0)).hasher(Hasher::default())
}

/// A table with room for so many keys and no more, for those algorithms that it can keep.
pub(crate) fn in_a_table(algorithm: &str, quota: Quota, keys: usize) -> Option<InATable> {
    let builder = on_manual_clock(algorithm, quota).capacity(keys).overflow(Overflow::Deny);
    TABLE_ALGORITHMS.contains(&algorithm).then(|| builder.build().unwrap())
}

/// Seeded numbers (splitmix64): the same in every run.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    /// About as many small numbers as large ones, up to `max`.
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        let bits = self.below(u64::from(u64::BITS - max.leading_zeros()) + 1);
        if bits == 0 { 0 } else { (self.roll() >> (64 - bits)).min(max) }
    }
}

pub(crate) const NS_PER_S: u64 = 1_000_000_000;

pub(crate) fn per(limit: u64, period_ns: u64) -> Quota {
    Quota::new(limit, Duration::from_nanos(period_ns))
}
