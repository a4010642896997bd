//! What is measured, by the public interface only.

use std::hint::black_box;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tollgate::{DirectLimiter, Limiter, Quota};

use super::floor::Floor;
use super::sample::{Gauge, Worker, one_by_one};

pub(super) const COUNT: usize = 9;
/// Keys decided together.
pub(super) const BATCH: usize = 32;

/// Admits all that any machine can ask for: a unit in a nanosecond, and 31 years of them at once.
const AMPLE: Quota = Quota::per_second(1_000_000_000).burst(1_000_000_000_000_000_000);
/// For many keys: admits all of a run, and what was admitted counts for its length, so that no key may be forgotten.
const LASTING: Quota = Quota::per_second(1).burst(1_000_000_000);
/// Refuses from the second call on.
const SCARCE: Quota = Quota::per_day(1);

/// Longer than a short sample of few keys.
const FEW: usize = 1 << 14;
/// Longer than a short sample of many keys.
const MANY: usize = 1 << 21;

/// Measures all rows.
pub(super) fn measure(gauge: &mut Gauge) {
    keyed(gauge, ["one key", "one key, in batches"], AMPLE, 1, FEW);
    keyed(gauge, ["1,000 keys", "1,000 keys, in batches"], LASTING, 1_000, FEW);
    keyed(gauge, ["1,000,000 keys", "1,000,000 keys, in batches"], LASTING, 1_000_000, MANY);
    denials(gauge);
    without_keys(gauge);
}

/// `length` of so many keys in random order, one by one and in batches.
fn keyed(gauge: &mut Gauge, names: [&'static str; 2], quota: Quota, keys: usize, length: usize) {
    let limiter = limiter(quota, keys);
    let population: Vec<u64> = (0..keys as u64).collect();
    batches(&limiter)(&population);
    let mut rng = Pcg64::seed_from_u64(1);
    let sequence: Vec<u64> = (0..length).map(|_| population[rng.random_range(0..keys)]).collect();
    let floor = Floor::new(keys, gauge.threads_max());
    gauge.row(names[0], &sequence, &|_| one_by_one(|key| limiter.check(key).is_allowed()), &|thread| {
        floor.admit(thread)
    });
    gauge.row(names[1], &sequence, &|_| batches(&limiter), &|thread| floor.admit_batch(thread));
}

fn denials(gauge: &mut Gauge) {
    let limiter = limiter(SCARCE, 1);
    let keys = [0; FEW];
    batches(&limiter)(&keys);
    let floor = Floor::new(1, gauge.threads_max());
    gauge.row(
        "denials of one key",
        &keys,
        &|_| one_by_one(|key| limiter.check(key).is_allowed()),
        &|thread| floor.refuse(thread),
    );
}

fn without_keys(gauge: &mut Gauge) {
    let limiter = DirectLimiter::new(AMPLE).expect("a rate of one in a nanosecond can be kept");
    let keys = [0; FEW];
    let floor = Floor::new(1, gauge.threads_max());
    gauge.row("without keys", &keys, &|_| one_by_one(|_| limiter.check().is_allowed()), &|thread| {
        floor.admit_without_key(thread)
    });
    let leased = |_| {
        let mut lease = limiter.lease();
        one_by_one(move |_| lease.check().is_allowed())
    };
    gauge.row("without keys, leased", &keys, &leased, &|thread| floor.count(thread));
}

fn limiter(quota: Quota, keys: usize) -> Limiter<u64> {
    Limiter::<u64>::builder(quota).capacity(keys).build().expect("these quotas and capacities can be kept")
}

fn batches(limiter: &Limiter<u64>) -> Worker<'_> {
    let mut decisions = Vec::with_capacity(BATCH);
    Box::new(move |keys| {
        let mut allowed = 0;
        for batch in keys.chunks(BATCH) {
            decisions.clear();
            limiter.check_many(black_box(batch), &mut decisions);
            allowed += black_box(&decisions).iter().filter(|decision| decision.is_allowed()).count();
        }
        allowed
    })
}
