//! Many keys: what memory costs.

use super::{Figure, NS, Reach, Row};
use crate::contender::{Contender, compare_all};
use crate::effort::{Effort, Samples};
use crate::keys;
use crate::peers::{self, GOVERNOR, LASTING, TOLLGATE, Ticking};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "1 M keys, random",
        what: "1 000 000 u64 keys, all live, in random order",
        figures: &[
            against_governor("1 thread", TOLLGATE, 0.30),
            against_governor("2 threads", TOLLGATE, 0.30),
            IN_BATCHES,
        ],
        measure: one_million,
    },
    Row {
        name: "10 M keys, random",
        what: "10 000 000 u64 keys, all live, in random order",
        figures: &[against_governor("1 thread", TOLLGATE, 0.25), IN_BATCHES],
        measure: ten_million,
    },
    Row {
        name: "1 M strings, random",
        what: "1 000 000 strings of 20 bytes, all live, in random order",
        figures: &[against_governor("1 thread", TOLLGATE, 0.30)],
        measure: strings,
    },
];

const fn against_governor(name: &'static str, subject: &'static str, reach: f64) -> Figure {
    Figure { name, unit: NS, subject, reach: Reach::Ratio(reach, GOVERNOR), note: "" }
}

const IN_BATCHES: Figure =
    Figure { note: "", ..against_governor("batches of 32", "tollgate, batches", 0.12) };

const BATCH: usize = 32;

/// Longer than any sample of a fast contender.
const SEQUENCE: usize = 1 << 22;

/// The keys that fill a limiter, and those that it is asked for.
struct Keys<K> {
    population: Vec<K>,
    sequence: Vec<K>,
}

impl<K: peers::Key> Keys<K> {
    fn new(effort: &Effort, count: usize, length: usize, key: fn(usize) -> K) -> Self {
        let count = effort.size(count, 10_000);
        let sequence = keys::random(count, effort.size(length, 1 << 14), key);
        Self { population: keys::population(count, key), sequence }
    }

    fn count(&self) -> usize {
        self.population.len()
    }

    fn warm(&self, contenders: Vec<Contender<K>>) -> Vec<Contender<K>> {
        contenders.into_iter().map(|contender| contender.warm(&self.population)).collect()
    }

    fn compare(&self, effort: &Effort, contenders: &[Contender<K>], threads: usize) -> Vec<Samples> {
        compare_all(effort, &self.sequence, contenders, threads)
    }
}

fn one_million(effort: &Effort) -> Vec<Vec<Samples>> {
    let keys = Keys::new(effort, 1_000_000, SEQUENCE, keys::number);
    let mut contenders = keys.warm(peers::exact(LASTING, keys.count(), &Ticking::Fine));
    contenders.push(peers::pingora_rate(LASTING));
    let one_by_one = [1, 2].map(|threads| keys.compare(effort, &contenders, threads));
    one_by_one.into_iter().chain([in_batches(effort, &keys, contenders)]).collect()
}

fn ten_million(effort: &Effort) -> Vec<Vec<Samples>> {
    let keys = Keys::new(effort, 10_000_000, SEQUENCE, keys::number);
    let contenders = keys.warm(peers::exact(LASTING, keys.count(), &Ticking::Fine));
    let one_by_one = keys.compare(effort, &contenders, 1);
    vec![one_by_one, in_batches(effort, &keys, contenders)]
}

/// Nobody else has a call for many keys, so the others decide one by one.
fn in_batches(effort: &Effort, keys: &Keys<u64>, mut contenders: Vec<Contender<u64>>) -> Vec<Samples> {
    contenders.truncate(2);
    contenders.push(peers::batches(LASTING, keys.count(), BATCH).warm(&keys.population));
    keys.compare(effort, &contenders, 1)
}

fn strings(effort: &Effort) -> Vec<Vec<Samples>> {
    let keys = Keys::new(effort, 1_000_000, SEQUENCE / 4, keys::text);
    let mut contenders = peers::exact(LASTING, keys.count(), &Ticking::Fine);
    contenders.push(peers::throttlecrab(LASTING, keys.count()));
    vec![keys.compare(effort, &keys.warm(contenders), 1)]
}
