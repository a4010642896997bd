//! Tollgate.

use std::hint::black_box;
use std::num::NonZeroU64;
use std::time::Duration;

use tollgate::{Clock, DirectLimiter, Limiter, Quota, TscClock};

use super::clocks::Ticking;
use super::logs::Steps;
use super::{Key, Rule, TOLLGATE};
use crate::contender::Contender;

/// By key, in a table for as many.
pub(crate) fn keyed<K: Key>(rule: Rule, keys: usize, clocks: &Ticking) -> Contender<K> {
    match clocks {
        Ticking::Fine => with_clock(rule, keys, TscClock::new()),
        Ticking::Coarse(clock) => with_clock(rule, keys, clock.clone()),
    }
}

fn table<K: Key, C: Clock>(rule: Rule, keys: usize, clock: C) -> Limiter<K, C> {
    Limiter::<K>::builder(rule.tollgate()).capacity(keys).clock(clock).build().unwrap()
}

fn with_clock<K: Key>(rule: Rule, keys: usize, clock: impl Clock + Send + Sync + 'static) -> Contender<K> {
    let limiter = table::<K, _>(rule, keys, clock);
    Contender::new(TOLLGATE, move |key| limiter.check(key).is_allowed())
}

/// By key, `batch` keys at once.
pub(crate) fn batches<K: Key>(rule: Rule, keys: usize, batch: usize) -> Contender<K> {
    let limiter = table::<K, _>(rule, keys, TscClock::new());
    Contender::sweeping("tollgate, batches", move |keys: &[K]| {
        let mut decisions = Vec::with_capacity(batch);
        let mut admitted = 0;
        for keys in keys.chunks(batch) {
            decisions.clear();
            limiter.check_many(black_box(keys), &mut decisions);
            admitted += black_box(&decisions).iter().filter(|decision| decision.is_allowed()).count();
        }
        admitted
    })
}

/// Without keys.
pub(crate) fn direct(rule: Rule) -> Contender<u64> {
    let limiter = DirectLimiter::new(rule.tollgate()).unwrap();
    Contender::new("tollgate, no keys", move |_| limiter.check().is_allowed())
}

/// Without keys, each thread on a lease, which it makes anew for every few thousand calls.
pub(crate) fn leased(rule: Rule) -> Contender<u64> {
    let limiter = DirectLimiter::new(rule.tollgate()).unwrap();
    Contender::sweeping("tollgate, leased", move |keys: &[u64]| {
        let mut lease = limiter.lease();
        keys.iter().filter(|_| black_box(lease.check()).is_allowed()).count()
    })
}

const LOG: &str = "sliding_window_log";

/// The exact log by key, at the counter's time.
pub(crate) fn log_keyed(limit: NonZeroU64, period: Duration) -> Contender<u64> {
    let quota = Quota::new(limit.get(), period);
    let limiter = Limiter::<u64>::builder(quota).algorithm(LOG).build_map().unwrap();
    Contender::new(TOLLGATE, move |key| limiter.check(key).is_allowed())
}

/// The exact log by key, at a time that each call moves on.
pub(crate) fn log_keyed_at(limit: NonZeroU64, period: Duration, steps: Steps) -> Contender<u64> {
    let quota = Quota::new(limit.get(), period);
    let limiter = Limiter::<u64>::builder(quota).algorithm(LOG).build_map().unwrap();
    Contender::new(TOLLGATE, move |key| limiter.check_at(key, steps.next_ns()).is_allowed())
}

/// The exact log without keys; each call is of `cost`.
pub(crate) fn log_direct(name: &str, limit: NonZeroU64, period: Duration, cost: u64) -> Contender<u64> {
    let limiter = DirectLimiter::builder(Quota::new(limit.get(), period)).algorithm(LOG).build().unwrap();
    (0..limit.get()).for_each(|_| assert!(limiter.check().is_allowed()));
    Contender::new(name, move |_| limiter.check_n(cost).is_allowed())
}
