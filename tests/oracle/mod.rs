//! What a limiter should answer: slow models in exact whole-number arithmetic, written from the contract and not from the
//! library. Nothing here is rounded, and nothing wraps: overflow in a model fails the test that uses it.

// Each test file includes this module and uses a part of it.
#![allow(dead_code, unused_imports)]

mod bounds;
mod bucket;
mod counter;
mod fixed;
mod log;
mod trace;

pub(crate) use bounds::{Admitted, AdmittedBetween, worst_case};
pub(crate) use bucket::{Bucket, Readings, Stamp};
pub(crate) use counter::Counter;
pub(crate) use fixed::Fixed;
pub(crate) use log::Log;
pub(crate) use trace::{
    ALL, ARRIVAL, Dice, NS_PER_S, TABLE_ALGORITHMS, WINDOWS, direct, in_a_table, on_manual_clock, per,
};

use tollgate::{Decision, MAX_NOW_NS, Verdict};

/// A decision, as a model says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) taken: u64,
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    pub(crate) retry_after_ns: u128,
    pub(crate) reset_after_ns: u128,
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        Self {
            verdict: decision.verdict(),
            taken: decision.taken(),
            limit: decision.limit(),
            remaining: decision.remaining(),
            retry_after_ns: decision.retry_after().as_nanos(),
            reset_after_ns: decision.reset_after().as_nanos(),
        }
    }
}

/// One key's quota. All times are in nanoseconds from the clock's origin.
pub(crate) trait Model {
    /// The time at which a call is read: its own, or the earliest that fits the state.
    fn read(&self, now_ns: u64) -> u64;
    /// Asks, and takes if allowed.
    fn check(&mut self, cost: u64, now_ns: u64) -> Answer;
    /// Gives back the newest units.
    fn refund(&mut self, units: u64, now_ns: u64);
    /// As good as new.
    fn reset(&mut self, now_ns: u64);
    /// A copy to try things on.
    fn fork(&self) -> Box<dyn Model>;

    /// What `check` would answer.
    fn peek(&self, cost: u64, now_ns: u64) -> Answer {
        self.fork().check(cost, now_ns)
    }
}

/// Times that a limiter tells apart.
pub(crate) fn told_apart(now_ns: u64) -> u64 {
    now_ns.min(MAX_NOW_NS)
}

/// The smallest value from `low` to `high` that passes; the test must not fail again once it has passed.
pub(crate) fn first(mut low: u128, mut high: u128, passes: impl Fn(u128) -> bool) -> u128 {
    assert!(passes(high), "nothing up to {high} passes");
    while low < high {
        let middle = low + (high - low) / 2;
        if passes(middle) { high = middle } else { low = middle + 1 }
    }
    high
}

/// The model of an algorithm by name, for a quota that it accepts and that fits the finest scale.
pub(crate) fn model(algorithm: &str, limit: u64, period_ns: u64, burst: u64) -> Box<dyn Model> {
    match algorithm {
        "fixed_window" => Box::new(Fixed::new(limit, period_ns, 0)),
        "sliding_window_counter" => Box::new(Counter::new(limit, period_ns, 0)),
        "sliding_window_log" => Box::new(Log::new(limit, period_ns)),
        _ => Box::new(Bucket::new(limit, period_ns, burst)),
    }
}
