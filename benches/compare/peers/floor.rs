//! What no keyed decision can do without.

use std::sync::atomic::{AtomicU64, Ordering};

use ahash::RandomState;
use tollgate::Clock;

use super::Key;
use super::clocks::Fine;
use crate::contender::Contender;

#[derive(Default)]
#[repr(align(64))]
struct Line([AtomicU64; 8]);

/// A clock read, a hash, one line of memory and one exchange. Nothing is compared, refused or tried again,
/// and keys that fall on one word share it.
pub(crate) fn floor<K: Key>(keys: usize) -> Contender<K> {
    let (clock, hasher) = (Fine::new(), RandomState::new());
    // As many lines as a table of four slots a line, three quarters full.
    let lines: Vec<Line> = (0..(keys / 3).next_power_of_two()).map(|_| Line::default()).collect();
    let mask = lines.len() - 1;
    Contender::new("floor", move |key| {
        let now_ns = clock.now_ns();
        let hash = hasher.hash_one(key) as usize;
        let word = &lines[(hash >> 3) & mask].0[hash & 7];
        let arrival = word.load(Ordering::Relaxed);
        word.compare_exchange(arrival, arrival.max(now_ns) + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    })
}
