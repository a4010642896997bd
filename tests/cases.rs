//! `cases.md`, row by row: what other limiters got wrong.

mod oracle;

#[path = "cases/counting.rs"]
mod counting;
#[path = "cases/extremes.rs"]
mod extremes;
#[path = "cases/many_keys.rs"]
mod many_keys;
#[path = "cases/times.rs"]
mod times;
#[path = "cases/waits.rs"]
mod waits;

use tollgate::{DirectLimiter, ManualClock};

pub(crate) const S: u64 = oracle::NS_PER_S;
pub(crate) const MS: u64 = S / 1_000;
pub(crate) const US: u64 = MS / 1_000;

pub(crate) fn direct(algorithm: &str, quota: &str) -> DirectLimiter<ManualClock> {
    oracle::direct(algorithm, quota.parse().unwrap())
}

/// How many of the calls at these times are allowed.
pub(crate) fn allowed<C>(limiter: &DirectLimiter<C>, times_ns: impl IntoIterator<Item = u64>) -> u64 {
    times_ns.into_iter().map(|now_ns| limiter.check_at(now_ns).taken()).sum()
}

/// How many single units are allowed at once; asks no more than `most` times.
pub(crate) fn at_once<C>(limiter: &DirectLimiter<C>, now_ns: u64, most: usize) -> u64 {
    allowed(limiter, std::iter::repeat_n(now_ns, most))
}
