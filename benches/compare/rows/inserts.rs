//! New keys: the calls that have to make room.

use super::{Figure, Reach, Row};
use crate::child::{self, Task};
use crate::contender;
use crate::effort::{Effort, Sample, Samples};
use crate::keys;
use crate::peers::{self, GOVERNOR, LASTING, MAPS, TOLLGATE};
use crate::processor::{self, Stopwatch};

pub(super) const ROWS: &[Row] = &[Row {
    name: "inserts, 5 M new keys",
    what: "each call timed while 5 000 000 u64 keys are seen for the first time, 1 thread; maps start empty",
    figures: &[figure("worst call"), figure("p99.999 of a call")],
    measure,
}];

const fn figure(name: &'static str) -> Figure {
    Figure { name, unit: "ns", subject: TOLLGATE, reach: Reach::Ratio(0.05, GOVERNOR), note: "" }
}

fn measure(effort: &Effort) -> Vec<Vec<Samples>> {
    child::compare(Task::Inserts, &[&[TOLLGATE, GOVERNOR], &MAPS[..]].concat(), effort)
}

/// The worst call, and the 99.999th percentile.
pub(crate) fn measure_here(contender: &str, effort: &Effort) -> Sample<2> {
    let keys = keys::population(effort.size(5_000_000, 50_000), keys::number);
    let contender = peers::by_name::<u64>(contender, LASTING, keys.len(), 0);
    let mut calls = contender::histogram();
    let watch = Stopwatch::start();
    contender.time_each(&keys, &mut calls);
    let values = [calls.max() as f64, calls.value_at_quantile(0.999_99) as f64];
    Sample { values, share: processor::share(&[watch.used()]) }
}
