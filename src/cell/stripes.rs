//! Sums that many threads add to without sharing a line.

use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::cell::Apart;
use crate::sync::{AtomicU64, Ordering};

/// Sums on one pair of lines.
const PER_LINE: usize = 16;

/// Stripes of a process on a machine that does not say how many threads it runs at once.
const DEFAULT_STRIPES: usize = 8;

/// Several sums, each kept in as many parts as the machine runs threads at once.
#[derive(Debug)]
pub(crate) struct Stripes {
    /// Those of a stripe side by side, one stripe after another.
    lines: Box<[Apart<[AtomicU64; PER_LINE]>]>,
    stripes: usize,
}

impl Stripes {
    pub(crate) fn new(sums: usize) -> Self {
        let stripes = thread::available_parallelism().map_or(DEFAULT_STRIPES, usize::from);
        let line = || Apart([(); PER_LINE].map(|()| AtomicU64::new(0)));
        let lines = stripes * sums.div_ceil(PER_LINE);
        Self { lines: std::iter::repeat_with(line).take(lines).collect(), stripes }
    }

    fn part(&self, stripe: usize, sum: usize) -> &AtomicU64 {
        let line = stripe * (self.lines.len() / self.stripes) + sum / PER_LINE;
        &self.lines[line].0[sum % PER_LINE]
    }

    /// Adds one to a sum.
    pub(crate) fn add(&self, sum: usize) {
        if cfg!(all(loom, feature = "loom")) {
            // A sum is no part of a protocol, and each access would multiply the interleavings.
            return;
        }
        let stripe = place() % self.stripes;
        // Relaxed: a sum says nothing of anything else.
        self.part(stripe, sum).fetch_add(1, Ordering::Relaxed);
    }

    /// A sum: all that was added before, and some of what is added meanwhile.
    pub(crate) fn get(&self, sum: usize) -> u64 {
        // Relaxed: as in `add`.
        (0..self.stripes).map(|stripe| self.part(stripe, sum).load(Ordering::Relaxed)).sum()
    }
}

/// A number of this thread, for what is kept in parts by threads.
pub(crate) fn place() -> usize {
    PLACE.with(|&place| place)
}

thread_local!(static PLACE: usize = next_place());

/// Threads take places in turn, so that those that start together do not share one.
fn next_place() -> usize {
    static NEXT: Mutex<usize> = Mutex::new(0);
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    *next = next.wrapping_add(1);
    *next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_sums_are_apart() {
        let stripes = Stripes::new(PER_LINE + 3);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1_000).for_each(|index| stripes.add(index % (PER_LINE + 2))));
            }
        });
        let total: u64 = (0..PER_LINE + 3).map(|sum| stripes.get(sum)).sum();
        assert_eq!((total, stripes.get(0), stripes.get(PER_LINE + 2)), (4_000, 4 * 56, 0));
    }
}
