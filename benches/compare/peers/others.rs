//! Other crates that limit rates.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use governor::clock::{Clock as GovernorClock, QuantaClock, QuantaUpkeepClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use tollgate::Clock;

use super::clocks::{COARSE, Fine, Ticking};
use super::{GOVERNOR, Key, Rule};
use crate::contender::Contender;

/// A governor by key, over the map it recommends.
pub(crate) fn governor_keyed<K: Key>(rule: Rule, clocks: &Ticking) -> Contender<K> {
    match clocks {
        Ticking::Fine => with_clock(rule, QuantaClock::default()),
        Ticking::Coarse(_) => with_clock(rule, QuantaUpkeepClock::from_interval(COARSE).unwrap()),
    }
}

fn with_clock<K: Key, C: GovernorClock + Send + Sync + 'static>(rule: Rule, clock: C) -> Contender<K>
where
    C::Instant: Send + Sync,
{
    type Keyed<K, C> =
        governor::RateLimiter<K, DashMapStateStore<K>, C, NoOpMiddleware<<C as GovernorClock>::Instant>>;
    let limiter = Keyed::<K, C>::dashmap_with_clock(rule.governor(), clock);
    Contender::new(GOVERNOR, move |key| limiter.check_key(key).is_ok())
}

/// A governor without keys.
pub(crate) fn governor_direct(rule: Rule) -> Contender<u64> {
    let limiter = governor::RateLimiter::direct_with_clock(rule.governor(), QuantaClock::default());
    Contender::new("governor, no keys", move |_| limiter.check().is_ok())
}

/// It has no keys.
pub(crate) fn ratelimit(rule: Rule) -> Contender<u64> {
    let limiter = ratelimit::Builder::with_clock(rule.limit, Fine::new())
        .period(rule.period)
        .max_tokens(rule.burst.into())
        .initial_available(rule.burst.into())
        .build()
        .unwrap();
    Contender::new("ratelimit, no keys", move |_| limiter.try_wait().is_ok())
}

/// It has no keys. Its own clock is the system's, which it reads only when it has run out of units. It
/// refills once a millisecond at best.
pub(crate) fn leaky_bucket(rule: Rule) -> Contender<u64> {
    let interval = Duration::from_millis(1).max(rule.period / u32::try_from(rule.limit).unwrap());
    let refill = u128::from(rule.limit) * interval.as_nanos() / rule.period.as_nanos();
    let limiter = leaky_bucket::RateLimiter::builder()
        .max(rule.burst as usize)
        .initial(rule.burst as usize)
        .interval(interval)
        .refill(usize::try_from(refill).unwrap())
        .build();
    Contender::new("leaky-bucket, no keys", move |_| limiter.try_acquire(1))
}

/// An estimate: 4 096 counters for all keys, of which the least of four is a key's count, reset every
/// second.
pub(crate) fn pingora_rate<K: Key>(rule: Rule) -> Contender<K> {
    let rate = pingora_limits::rate::Rate::new(Duration::from_secs(1));
    Contender::new("pingora-limits (estimate)", move |key| rate.observe(key, 1) <= rule.burst as isize)
}

/// Behind a mutex, as it says itself, and told how many keys will come: with a map three quarters full
/// it looks through all keys in every call. The time is an argument, from the same counter as everybody's.
pub(crate) fn throttlecrab(rule: Rule, room: usize) -> Contender<String> {
    let limiter =
        Mutex::new(throttlecrab::RateLimiter::new(throttlecrab::AdaptiveStore::with_capacity(room)));
    let clock = Fine::new();
    let (start, start_ns) = (SystemTime::now(), clock.now_ns());
    let (burst, limit) = (i64::from(rule.burst), i64::try_from(rule.limit).unwrap());
    let period_secs = rule.period.as_secs().cast_signed();
    Contender::new("throttlecrab", move |key: &String| {
        let now = start + Duration::from_nanos(clock.now_ns().saturating_sub(start_ns));
        let mut limiter = limiter.lock().unwrap_or_else(PoisonError::into_inner);
        limiter.rate_limit(key, burst, limit, period_secs, 1, now).is_ok_and(|(allowed, _)| allowed)
    })
}
