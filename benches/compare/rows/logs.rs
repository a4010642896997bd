//! The exact log of calls.

use std::num::NonZeroU64;
use std::time::Duration;

use super::{Figure, NS, Reach, Row};
use crate::contender::{Contender, compare_all};
use crate::effort::{Effort, Samples};
use crate::keys;
use crate::peers::{self, Steps, TOLLGATE};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "log of 10, by key",
        what: "1 000 keys in turn, each log full: a call is admitted as one expires; the time is an argument",
        figures: &[against_queues("1 thread", NS, 1.1)],
        measure: |effort| steady(effort, 10, 1_000),
    },
    Row {
        name: "log of 100 000, by key",
        what: "10 keys in turn, each log full: a call is admitted as one expires; the time is an argument",
        figures: &[against_queues("1 thread", NS, 1.1)],
        measure: |effort| steady(effort, effort.size(100_000, 1_000) as u64, 10),
    },
    Row {
        name: "log, hot key",
        what: "one key with a log of at most 100 000 calls per ms, admitted to by 8 threads",
        figures: &[against_queues("time per call", NS, 0.8), against_queues("p99.99 of a call", "ns", 0.2)],
        measure: hot,
    },
    Row {
        name: "log, denials by cost",
        what: "a full log of 100 000 units, asked for 1 and for 50 000",
        figures: &[Figure {
            name: "50 000 to 1",
            unit: NS,
            subject: "tollgate, cost 50 000",
            reach: Reach::Ratio(2.0, "tollgate, cost 1"),
            note: "",
        }],
        measure: denials,
    },
];

const fn against_queues(name: &'static str, unit: &'static str, reach: f64) -> Figure {
    Figure { name, unit, subject: TOLLGATE, reach: Reach::Ratio(reach, "queues in dashmap"), note: "" }
}

/// The time between two calls, where the time is an argument.
const STEP: Duration = Duration::from_micros(1);

fn steady(effort: &Effort, limit: u64, count: u32) -> Vec<Vec<Samples>> {
    let limit = NonZeroU64::new(limit).unwrap();
    let period = STEP * count * u32::try_from(limit.get()).unwrap();
    let keys = keys::in_turn(count as usize, effort.size(1 << 14, 1 << 8), keys::number);
    let fill = keys::in_turn(count as usize, 2 * count as usize * limit.get() as usize, keys::number);
    let contenders = [
        peers::log_keyed_at(limit, period, Steps::of(STEP)),
        peers::deque_keyed_at(limit, period, Steps::of(STEP)),
    ];
    vec![compare_all(effort, &keys, &contenders.map(|contender| contender.warm(&fill)), 1)]
}

fn hot(effort: &Effort) -> Vec<Vec<Samples>> {
    let threads = 8;
    let (limit, period) = (NonZeroU64::new(100_000).unwrap(), Duration::from_millis(1));
    let keys = keys::in_turn(1, 1 << 10, keys::number);
    let contenders = [peers::log_keyed(limit, period), peers::deque_keyed(limit, period)];
    let contenders = contenders.map(|contender| contender.warm(&keys));
    let names = contenders.each_ref().map(|contender| contender.name.clone());
    let latencies = effort.interleave(&names, |contender, _| {
        effort.undisturbed(|| contenders[contender].latency(&keys, threads, 0.999_9, 5 * effort.sample()))
    });
    std::iter::once(compare_all(effort, &keys, &contenders, threads)).chain(latencies).collect()
}

fn denials(effort: &Effort) -> Vec<Vec<Samples>> {
    let (limit, day) = (NonZeroU64::new(100_000).unwrap(), Duration::from_secs(86_400));
    let contenders: [Contender<u64>; 4] = [
        peers::log_direct("tollgate, cost 1", limit, day, 1),
        peers::log_direct("tollgate, cost 50 000", limit, day, 50_000),
        peers::deque_direct("queue, cost 1", limit, day, 1),
        peers::deque_direct("queue, cost 50 000", limit, day, 50_000),
    ];
    let keys = keys::in_turn(1, 1 << 10, keys::number);
    contenders.iter().for_each(|contender| assert_eq!(contender.sweep(&keys), 0, "{}", contender.name));
    vec![compare_all(effort, &keys, &contenders, 1)]
}
