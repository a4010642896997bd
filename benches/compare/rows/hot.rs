//! One key that everybody wants.

use super::{Figure, NS, Reach, Row};
use crate::contender::{Contender, compare, compare_all};
use crate::effort::{Effort, Samples};
use crate::keys;
use crate::peers::{self, AMPLE, SCARCE, Ticking};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "hot key, denials",
        what: "one key that is refused: a decision in each of 2 threads against one in a single thread",
        figures: &[Figure {
            name: "2 threads to 1",
            unit: NS,
            subject: "tollgate, 2 threads",
            reach: Reach::Ratio(1.15, "tollgate, 1 thread"),
            note: "",
        }],
        measure: denials,
    },
    Row {
        name: "hot key, admissions",
        what: "one quota without keys, taken from by 2 threads",
        figures: &[Figure {
            name: "2 threads, leased",
            unit: NS,
            subject: "tollgate, leased",
            reach: Reach::Ratio(0.25, "governor, no keys"),
            note: "",
        }],
        measure: admissions,
    },
];

fn hot(effort: &Effort) -> Vec<u64> {
    keys::in_turn(1, effort.size(1 << 14, 1 << 8), keys::number)
}

fn denials(effort: &Effort) -> Vec<Vec<Samples>> {
    let contenders = peers::exact(SCARCE, 1, &Ticking::Fine);
    let keys = hot(effort);
    contenders.iter().for_each(|contender| assert_eq!(contender.sweep(&keys), 1, "{}", contender.name));
    let cases: Vec<_> = contenders.iter().flat_map(|contender| [(contender, 1), (contender, 2)]).collect();
    let mut samples = compare(effort, &keys, &cases);
    for (samples, (_, threads)) in samples.iter_mut().zip(cases) {
        samples.contender += if threads == 1 { ", 1 thread" } else { ", 2 threads" };
    }
    vec![samples]
}

fn admissions(effort: &Effort) -> Vec<Vec<Samples>> {
    let contenders: [Contender<u64>; 5] = [
        peers::leased(AMPLE),
        peers::direct(AMPLE),
        peers::governor_direct(AMPLE),
        peers::ratelimit(AMPLE),
        peers::leaky_bucket(AMPLE),
    ];
    vec![compare_all(effort, &hot(effort), &contenders, 2)]
}
