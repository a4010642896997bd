//! The contract (DESIGN.md, section 3) against the oracle, for random quotas, costs and clocks.

mod oracle;

#[path = "properties/bounds.rs"]
mod bounds;
#[path = "properties/building.rs"]
mod building;
#[path = "properties/forgetting.rs"]
mod forgetting;
#[path = "properties/giving_back.rs"]
mod giving_back;
#[path = "properties/leases.rs"]
mod leases;
#[path = "properties/logs.rs"]
mod logs;
#[path = "properties/long_logs.rs"]
mod long_logs;
#[path = "properties/plans.rs"]
mod plans;
#[path = "properties/rates.rs"]
mod rates;
#[path = "properties/reservations.rs"]
mod reservations;
#[path = "properties/steps.rs"]
mod steps;

use proptest::prelude::*;
use tollgate::{BuildError, DirectLimiter, MAX_NOW_NS, MAX_PERIOD, ManualClock, Quota};

use oracle::{NS_PER_S, Readings, per};

const MAX_PERIOD_NS: u64 = MAX_PERIOD.as_secs() * NS_PER_S;
const MAX_LIMIT: u64 = u32::MAX as u64;

/// A rate as plain numbers. Windows ignore the burst.
#[derive(Clone, Copy, Debug)]
struct Rate {
    limit: u64,
    period_ns: u64,
    burst: u64,
}

impl Rate {
    /// As a quota of an algorithm; for windows with a limit that fits their word, or `None` when none does.
    fn quota(&mut self, algorithm: &str) -> Option<Quota> {
        if !oracle::WINDOWS.contains(&algorithm) {
            return Some(per(self.limit, self.period_ns).burst(self.burst));
        }
        let plain = per(self.limit, self.period_ns);
        if let Err(BuildError::LimitTooLarge { max, .. }) = build(algorithm, plain) {
            self.limit = max;
        }
        if algorithm == "sliding_window_log" {
            self.limit = self.limit.min(most_logged(self.period_ns));
        }
        self.burst = self.limit;
        (self.limit > 0).then(|| per(self.limit, self.period_ns))
    }
}

/// A limit of a log that tests have the memory for: the longer its windows, the fewer units are in a word.
fn most_logged(period_ns: u64) -> u64 {
    ((1_u128 << 70) / u128::from(period_ns)).min(1_000_000) as u64
}

fn build(algorithm: &str, quota: Quota) -> Result<DirectLimiter<ManualClock>, BuildError> {
    DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0)).build()
}

/// As many small numbers as large ones.
fn magnitude(min: u64, max: u64) -> impl Strategy<Value = u64> {
    assert!(min >= 1 && min <= max);
    (min.ilog2()..=max.ilog2())
        .prop_flat_map(|bits| (1 << bits)..=(u64::MAX >> (63 - bits)))
        .prop_map(move |value| value.clamp(min, max))
}

/// Rates that validate: periods from 1 ns to ten years, any limit and burst of 32 bits.
fn any_rate() -> impl Strategy<Value = Rate> {
    let ragged = (magnitude(1, MAX_PERIOD_NS), magnitude(1, MAX_LIMIT))
        .prop_map(|(period_ns, limit)| (limit.min(period_ns), period_ns));
    // Half of them with a whole number of nanoseconds between units.
    let whole = (magnitude(1, MAX_PERIOD_NS), magnitude(1, MAX_LIMIT)).prop_map(|(interval, limit)| {
        let limit = limit.min(MAX_PERIOD_NS / interval);
        (limit, limit * interval)
    });
    (prop_oneof![ragged, whole], magnitude(1, MAX_LIMIT)).prop_map(|((limit, period_ns), burst)| Rate {
        limit,
        period_ns,
        burst,
    })
}

/// Rates of which a full burst fits the finest scale, so that every nanosecond of the model holds.
fn exact_rate() -> impl Strategy<Value = Rate> {
    any_rate().prop_filter_map("no burst fits the finest scale", |rate| {
        let fits = |burst: u64| Readings::are_exact_for(rate.limit, rate.period_ns, burst);
        let burst = (0..32).map(|halvings| rate.burst >> halvings).find(|&burst| burst > 0 && fits(burst))?;
        Some(Rate { burst, ..rate })
    })
}

/// A time to start at.
fn any_origin() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1_000_000_000_000_000_000),
        Just(MAX_NOW_NS - 1),
        Just(u64::MAX),
        magnitude(1, 1 << 61),
    ]
}
