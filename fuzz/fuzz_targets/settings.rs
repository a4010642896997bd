//! Any settings build, or are refused with a reason; what was built answers.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use tollgate::store::{Lookup, Store};
use tollgate::{BuildError, DirectLimiter, Limiter, ManualClock, Overflow, Quota};

/// Costs and limits of a log are cut to this: a log of long windows takes a word for a few units.
const LOG_UNITS_MAX: u64 = 1 << 12;

#[derive(Arbitrary, Debug)]
enum AnyQuota {
    Unlimited,
    Blocked,
    Rate {
        limit: u64,
        period: Duration,
        burst: Option<u64>,
    },
    /// More of them validate.
    Small {
        limit: u16,
        period_ns: u32,
        burst: Option<u32>,
    },
}

#[derive(Arbitrary, Debug)]
enum Name<'a> {
    Known(u8),
    Any(&'a str),
}

#[derive(Arbitrary, Debug)]
enum Capacity {
    Small(u16),
    /// So much that it must be refused before any of it is taken.
    Absurd(u8),
}

#[derive(Arbitrary, Debug)]
enum Call {
    Check(u64),
    Peek(u64),
    Refund(u64),
    Reset,
    Commit(u64, u64),
    Plan(AnyQuota, u64),
    Evict,
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    quota: AnyQuota,
    algorithm: Name<'a>,
    offset: Duration,
    capacity: Capacity,
    overflow: u8,
    calls: Vec<(u8, u64, Call)>,
}

impl AnyQuota {
    fn quota(&self) -> Quota {
        let rate = |limit, period, burst: Option<u64>| {
            let quota = Quota::new(limit, period);
            burst.map_or(quota, |burst| quota.burst(burst))
        };
        match *self {
            Self::Unlimited => Quota::unlimited(),
            Self::Blocked => Quota::blocked(),
            Self::Rate { limit, period, burst } => rate(limit, period, burst),
            Self::Small { limit, period_ns, burst } => {
                rate(limit.into(), Duration::from_nanos(period_ns.into()), burst.map(u64::from))
            }
        }
    }
}

impl Capacity {
    fn keys(&self) -> usize {
        match *self {
            Self::Small(keys) => keys.into(),
            Self::Absurd(shift) => usize::MAX >> (shift % 6),
        }
    }
}

fn refused(error: &BuildError) {
    assert!(!error.to_string().is_empty());
}

fn call<S>(limiter: &Limiter<u8, ManualClock, S>, is_log: bool, key: &u8, now_ns: u64, call: &Call)
where
    S: Store + Lookup<u8>,
{
    let units = |units: u64| if is_log { units % LOG_UNITS_MAX } else { units };
    match call {
        Call::Check(cost) => _ = limiter.check_n_at(key, units(*cost), now_ns),
        Call::Peek(cost) => _ = limiter.peek_n_at(key, *cost, now_ns),
        Call::Refund(units) => limiter.refund_at(key, *units, now_ns),
        Call::Reset => limiter.reset_at(key, now_ns),
        Call::Commit(reserved, actual) => {
            if let Ok(held) = limiter.reserve_at(key, units(*reserved), now_ns) {
                held.commit_at(units(*actual), now_ns);
            }
        }
        Call::Plan(quota, cost) => match limiter.plan(quota.quota()) {
            Ok(plan) => _ = limiter.check_n_with_at(key, units(*cost), &plan, now_ns),
            Err(error) => refused(&error),
        },
        Call::Evict => _ = limiter.len_at(now_ns),
    }
}

fuzz_target!(|input: Input<'_>| {
    let known = tollgate::algorithm::names();
    let (algorithm, quota) = (
        match input.algorithm {
            Name::Known(index) => &known[usize::from(index) % known.len()],
            Name::Any(name) => name,
        },
        input.quota.quota(),
    );
    let is_log = algorithm == "sliding_window_log";
    let keyed = || {
        Limiter::<u8>::builder(quota)
            .algorithm(algorithm)
            .window_offset(input.offset)
            .capacity(input.capacity.keys())
            .overflow([Overflow::Deny, Overflow::Allow, Overflow::default()][usize::from(input.overflow % 3)])
            .clock(ManualClock::new(0))
    };
    let direct = DirectLimiter::builder(quota).algorithm(algorithm).window_offset(input.offset).build();
    match direct {
        Ok(limiter) => {
            for (_, now_ns, call) in &input.calls {
                if let Call::Check(cost) = call {
                    _ = limiter.check_n_at(if is_log { cost % LOG_UNITS_MAX } else { *cost }, *now_ns);
                }
            }
        }
        Err(error) => refused(&error),
    }
    match keyed().build() {
        Ok(limiter) => input.calls.iter().for_each(|(key, at, what)| call(&limiter, is_log, key, *at, what)),
        Err(error) => refused(&error),
    }
    match keyed().build_map() {
        Ok(limiter) => {
            for (key, now_ns, what) in &input.calls {
                call(&limiter, is_log, key, *now_ns, what);
                if let Call::Evict = what {
                    _ = limiter.evict_idle_at(*now_ns);
                }
            }
        }
        Err(error) => refused(&error),
    }
});
