//! What one writes by hand: a plain cell for each key, in a concurrent map.
//!
//! All maps hash with ahash, as tollgate does, which makes them faster than their own defaults would.

use std::sync::atomic::{AtomicU64, Ordering};

use ahash::RandomState;
use tollgate::Clock;

use super::clocks::{Fine, Ticking};
use super::{Key, Rule};
use crate::contender::Contender;

/// The arithmetic of GCRA without any care for its extremes.
#[derive(Clone, Copy)]
struct Gcra {
    step_ns: u64,
    tolerance_ns: u64,
}

impl Gcra {
    fn new(rule: Rule) -> Self {
        let step_ns = rule.period.as_nanos() as u64 / rule.limit;
        Self { step_ns, tolerance_ns: step_ns * u64::from(rule.burst) }
    }

    #[inline]
    fn take(self, cell: &AtomicU64, now_ns: u64) -> bool {
        let mut arrival = cell.load(Ordering::Relaxed);
        loop {
            let next = arrival.max(now_ns) + self.step_ns;
            if next > now_ns + self.tolerance_ns {
                return false;
            }
            match cell.compare_exchange_weak(arrival, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(newer) => arrival = newer,
            }
        }
    }
}

/// A map from keys to cells.
trait Cells<K>: Send + Sync + 'static {
    fn with<R>(&self, key: &K, look: impl Fn(&AtomicU64) -> R) -> R;
}

impl<K: Key> Cells<K> for dashmap::DashMap<K, AtomicU64, RandomState> {
    #[inline]
    fn with<R>(&self, key: &K, look: impl Fn(&AtomicU64) -> R) -> R {
        if let Some(cell) = self.get(key) {
            return look(&cell);
        }
        look(&self.entry(key.clone()).or_default())
    }
}

impl<K: Key> Cells<K> for flurry::HashMap<K, AtomicU64, RandomState> {
    #[inline]
    fn with<R>(&self, key: &K, look: impl Fn(&AtomicU64) -> R) -> R {
        let map = self.pin();
        if let Some(cell) = map.get(key) {
            return look(cell);
        }
        match map.try_insert(key.clone(), AtomicU64::new(0)) {
            Ok(cell) => look(cell),
            Err(taken) => look(taken.current),
        }
    }
}

impl<K: Key> Cells<K> for papaya::HashMap<K, AtomicU64, RandomState> {
    #[inline]
    fn with<R>(&self, key: &K, look: impl Fn(&AtomicU64) -> R) -> R {
        let map = self.pin();
        match map.get(key) {
            Some(cell) => look(cell),
            None => look(map.get_or_insert_with(key.clone(), AtomicU64::default)),
        }
    }
}

impl<K: Key> Cells<K> for scc::HashMap<K, AtomicU64, RandomState> {
    #[inline]
    fn with<R>(&self, key: &K, look: impl Fn(&AtomicU64) -> R) -> R {
        match self.read_sync(key, |_, cell| look(cell)) {
            Some(seen) => seen,
            None => look(self.entry_sync(key.clone()).or_default().get()),
        }
    }
}

fn contender<K: Key>(
    name: &str,
    map: impl Cells<K>,
    rule: Rule,
    clock: impl Clock + Send + Sync + 'static,
) -> Contender<K> {
    let gcra = Gcra::new(rule);
    Contender::new(name, move |key| {
        let now_ns = clock.now_ns();
        map.with(key, |cell| gcra.take(cell, now_ns))
    })
}

fn clocked<K: Key>(name: &str, map: impl Cells<K>, rule: Rule, clocks: &Ticking) -> Contender<K> {
    match clocks {
        Ticking::Fine => contender(name, map, rule, Fine::new()),
        Ticking::Coarse(clock) => contender(name, map, rule, clock.clone()),
    }
}

/// Cells in one of [`MAPS`](super::MAPS), made with room for so many.
pub(crate) fn cells<K: Key>(name: &str, rule: Rule, room: usize, clocks: &Ticking) -> Contender<K> {
    let hasher = RandomState::new();
    match name {
        "cells in dashmap" => {
            clocked(name, dashmap::DashMap::with_capacity_and_hasher(room, hasher), rule, clocks)
        }
        "cells in flurry" => {
            clocked(name, flurry::HashMap::with_capacity_and_hasher(room, hasher), rule, clocks)
        }
        "cells in papaya" => {
            clocked(name, papaya::HashMap::with_capacity_and_hasher(room, hasher), rule, clocks)
        }
        "cells in scc" => clocked(name, scc::HashMap::with_capacity_and_hasher(room, hasher), rule, clocks),
        other => panic!("there is no contender named {other:?}"),
    }
}
