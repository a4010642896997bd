//! Few keys: what the instructions cost, with all memory in the caches.

use super::{Figure, NS, Reach, Row};
use crate::contender::{Contender, compare_all};
use crate::effort::{Effort, Samples};
use crate::keys;
use crate::peers::{self, AMPLE, GOVERNOR, LASTING, Rule, TOLLGATE, Ticking};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "1 key, 1 thread",
        what: "one u64 key, always admitted",
        figures: FIGURES,
        measure: |effort| fine_and_coarse(effort, 1, AMPLE),
    },
    Row {
        name: "1 000 keys, 1 thread",
        what: "1 000 u64 keys, all live, in random order, always admitted",
        figures: FIGURES,
        measure: |effort| fine_and_coarse(effort, 1_000, LASTING),
    },
    Row {
        name: "1 000 keys against the floor",
        what: "a clock read, a hash, one line and one exchange, without any check, against a whole decision",
        figures: &[Figure {
            name: "TSC clock",
            unit: NS,
            subject: TOLLGATE,
            reach: Reach::Ratio(1.35, "floor"),
            note: "",
        }],
        measure: against_floor,
    },
];

const FIGURES: &[Figure] = &[
    Figure { name: "TSC clock", unit: NS, subject: TOLLGATE, reach: Reach::Ratio(0.6, GOVERNOR), note: "" },
    Figure {
        name: "coarse clock",
        unit: NS,
        subject: TOLLGATE,
        reach: Reach::Ratio(0.4, GOVERNOR),
        note: "",
    },
];

/// Short enough for the caches, too long to be learnt by heart.
const SEQUENCE: usize = 1 << 14;

fn fine_and_coarse(effort: &Effort, count: usize, rule: Rule) -> Vec<Vec<Samples>> {
    let mut fine = peers::exact(rule, count, &Ticking::Fine);
    fine.push(peers::pingora_rate(rule));
    if count == 1 {
        fine.extend(keyless());
    }
    let coarse = peers::exact(rule, count, &Ticking::coarse());
    [fine, coarse].map(|contenders| measure(effort, count, contenders)).into()
}

/// Those that limit one thing only.
fn keyless() -> [Contender<u64>; 4] {
    [peers::direct(AMPLE), peers::governor_direct(AMPLE), peers::ratelimit(AMPLE), peers::leaky_bucket(AMPLE)]
}

fn against_floor(effort: &Effort) -> Vec<Vec<Samples>> {
    let contenders = vec![peers::keyed(LASTING, 1_000, &Ticking::Fine), peers::floor(1_000)];
    vec![measure(effort, 1_000, contenders)]
}

fn measure(effort: &Effort, count: usize, contenders: Vec<Contender<u64>>) -> Vec<Samples> {
    let keys = keys::random(count, effort.size(SEQUENCE, 1 << 10), keys::number);
    let population = keys::population(count, keys::number);
    let contenders: Vec<_> = contenders.into_iter().map(|contender| contender.warm(&population)).collect();
    compare_all(effort, &keys, &contenders, 1)
}
