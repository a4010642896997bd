//! Bytes for each key.

use super::{Figure, Reach, Row};
use crate::alloc;
use crate::child::{self, Task};
use crate::effort::{Effort, Sample, Samples};
use crate::keys;
use crate::peers::{self, GOVERNOR, Key, LASTING, MAPS, TOLLGATE};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "memory, u64 keys",
        what: "bytes for each of 786 432 live keys, three quarters of a power of two",
        figures: FIGURES,
        measure: numbers,
    },
    Row {
        name: "memory, strings",
        what: "bytes for each of 786 432 live keys of 20 bytes, with the keys themselves where they are kept",
        figures: FIGURES,
        measure: texts,
    },
];

const FIGURES: &[Figure] = &[figure("allocated"), figure("resident")];

const fn figure(name: &'static str) -> Figure {
    Figure { name, unit: "bytes/key", subject: TOLLGATE, reach: Reach::AtMost(22.0), note: "" }
}

fn numbers(effort: &Effort) -> Vec<Vec<Samples>> {
    child::compare(Task::MemoryOfNumbers, &[&[TOLLGATE, GOVERNOR], &MAPS[..]].concat(), effort)
}

fn texts(effort: &Effort) -> Vec<Vec<Samples>> {
    let contenders = [&[TOLLGATE, GOVERNOR, "throttlecrab"], &MAPS[..]].concat();
    child::compare(Task::MemoryOfTexts, &contenders, effort)
}

pub(crate) fn measure_numbers_here(contender: &str, effort: &Effort) -> Sample<2> {
    measure_here(contender, effort, keys::number)
}

pub(crate) fn measure_texts_here(contender: &str, effort: &Effort) -> Sample<2> {
    measure_here(contender, effort, keys::text)
}

const FEW: usize = 64;

/// Bytes per key that are allocated, and that are resident.
fn measure_here<K: Key>(contender: &str, effort: &Effort, key: fn(usize) -> K) -> Sample<2> {
    let count = effort.size(3 << 18, 3 << 12);
    let keys = keys::population(count, key);
    // What a process pays once, such as for the code, is not what a key costs.
    drop(peers::by_name::<K>(contender, LASTING, FEW, FEW).warm(&keys[..FEW]));
    let before = resident_bytes();
    alloc::start();
    let contender = peers::by_name::<K>(contender, LASTING, count, count).warm(&keys);
    let allocated = alloc::live_bytes();
    let resident = resident_bytes().saturating_sub(before);
    drop(contender);
    let values = [allocated as f64, resident as f64].map(|bytes| bytes / count as f64);
    Sample { values, share: None }
}

/// What of this process is in memory.
fn resident_bytes() -> usize {
    memory_stats::memory_stats().expect("a system that says how much memory a process has").physical_mem
}
