//! The contenders, each as its authors would have it used, with one quota and one kind of clock for all.

mod clocks;
mod floor;
mod logs;
mod maps;
mod others;
mod own;

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::contender::Contender;

pub(crate) use clocks::Ticking;
pub(crate) use floor::floor;
pub(crate) use logs::{Steps, deque_direct, deque_keyed, deque_keyed_at};
pub(crate) use maps::cells;
pub(crate) use others::{
    governor_direct, governor_keyed, leaky_bucket, pingora_rate, ratelimit, throttlecrab,
};
pub(crate) use own::{batches, direct, keyed, leased, log_direct, log_keyed, log_keyed_at};

pub(crate) const TOLLGATE: &str = "tollgate";
pub(crate) const GOVERNOR: &str = "governor";
pub(crate) const MAPS: [&str; 4] = ["cells in dashmap", "cells in flurry", "cells in papaya", "cells in scc"];

/// A quota, in nobody's own words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    limit: u64,
    period: Duration,
    burst: u32,
}

/// Never denied within a run, however few the keys.
pub(crate) const AMPLE: Rule =
    Rule { limit: 1_000_000_000, period: Duration::from_secs(1), burst: 1_000_000_000 };

/// Never denied within a run when the keys are many, and what was admitted counts for 100 s: nobody may
/// forget a key.
pub(crate) const LASTING: Rule = Rule { limit: 36, period: Duration::from_secs(3_600), burst: 1_000_000 };

/// Denied from the second call on.
pub(crate) const SCARCE: Rule = Rule { limit: 1, period: Duration::from_secs(86_400), burst: 1 };

impl Rule {
    fn tollgate(self) -> tollgate::Quota {
        tollgate::Quota::new(self.limit, self.period).burst(self.burst.into())
    }

    fn governor(self) -> governor::Quota {
        let interval = self.period / u32::try_from(self.limit).unwrap();
        governor::Quota::with_period(interval).unwrap().allow_burst(NonZeroU32::new(self.burst).unwrap())
    }
}

/// What is limited.
pub(crate) trait Key: Hash + Ord + Clone + Send + Sync + 'static {
    /// The peer that takes keys of this type only.
    fn throttlecrab(rule: Rule, room: usize) -> Option<Contender<Self>>;
}

impl Key for u64 {
    fn throttlecrab(_: Rule, _: usize) -> Option<Contender<Self>> {
        None
    }
}

impl Key for String {
    fn throttlecrab(rule: Rule, room: usize) -> Option<Contender<Self>> {
        Some(throttlecrab(rule, room))
    }
}

/// Tollgate, governor, and the four maps of plain cells, all with room for so many keys but governor, which
/// cannot be told.
pub(crate) fn exact<K: Key>(rule: Rule, keys: usize, clocks: &Ticking) -> Vec<Contender<K>> {
    let mut contenders = vec![keyed(rule, keys, clocks), governor_keyed(rule, clocks)];
    contenders.extend(MAPS.map(|map| cells(map, rule, keys, clocks)));
    contenders
}

/// One of [`exact`], or throttlecrab, by its name: a table for `keys`, or a map that has `room` to begin
/// with.
pub(crate) fn by_name<K: Key>(name: &str, rule: Rule, keys: usize, room: usize) -> Contender<K> {
    match name {
        TOLLGATE => keyed(rule, keys, &Ticking::Fine),
        GOVERNOR => governor_keyed(rule, &Ticking::Fine),
        "throttlecrab" => K::throttlecrab(rule, room).expect("keys are strings"),
        map => cells(map, rule, room, &Ticking::Fine),
    }
}
