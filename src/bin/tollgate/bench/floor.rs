//! The least that a decision takes: a clock read, a hash and one line of memory, without any check and in memory that no
//! other thread touches.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ahash::RandomState;
use quanta::Clock;

use super::rows::BATCH;
use super::sample::{Worker, one_by_one};

#[derive(Clone, Default)]
#[repr(align(64))]
struct Line([u64; 8]);

/// What a limiter for some number of keys consists of at the least.
pub(super) struct Floor {
    clock: Clock,
    hasher: RandomState,
    /// A share for each thread, which it holds while it works.
    shares: Vec<Mutex<Vec<Line>>>,
}

impl Floor {
    /// As many lines as a table of four keys a line, three quarters full, shared out among `threads`.
    pub(super) fn new(keys: usize, threads: usize) -> Self {
        let lines = (keys / 3).next_power_of_two();
        let share = 1 << (lines / threads).max(1).ilog2();
        Self {
            clock: Clock::new(),
            hasher: RandomState::new(),
            shares: (0..threads).map(|_| Mutex::new(vec![Line::default(); share])).collect(),
        }
    }

    /// A reading for each key, whose word is written.
    pub(super) fn admit(&self, thread: usize) -> Worker<'_> {
        let mut lines = self.share(thread);
        one_by_one(move |key| write(self.word(&mut lines, key), self.clock.raw()))
    }

    /// One reading for a batch of keys.
    pub(super) fn admit_batch(&self, thread: usize) -> Worker<'_> {
        let mut lines = self.share(thread);
        Box::new(move |keys| {
            let mut written = 0;
            for batch in keys.chunks(BATCH) {
                let now = self.clock.raw();
                let each =
                    batch.iter().filter(|key| black_box(write(self.word(&mut lines, black_box(key)), now)));
                written += each.count();
            }
            written
        })
    }

    /// A reading for each key, whose word is only read.
    pub(super) fn refuse(&self, thread: usize) -> Worker<'_> {
        let mut lines = self.share(thread);
        one_by_one(move |key| *self.word(&mut lines, key) > self.clock.raw())
    }

    /// A reading and a word without a key.
    pub(super) fn admit_without_key(&self, thread: usize) -> Worker<'_> {
        let mut lines = self.share(thread);
        one_by_one(move |_| write(black_box(&mut lines[0].0[0]), self.clock.raw()))
    }

    /// A word, without a reading or a key.
    pub(super) fn count(&self, thread: usize) -> Worker<'_> {
        let mut lines = self.share(thread);
        one_by_one(move |_| write(black_box(&mut lines[0].0[0]), 0))
    }

    fn share(&self, thread: usize) -> MutexGuard<'_, Vec<Line>> {
        self.shares[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn word<'l>(&self, lines: &'l mut [Line], key: &u64) -> &'l mut u64 {
        let hash = self.hasher.hash_one(key) as usize;
        let line = (hash >> 3) & (lines.len() - 1);
        &mut lines[line].0[hash & 7]
    }
}

/// As an admission does, whatever the word says.
fn write(word: &mut u64, now: u64) -> bool {
    *word = (*word).max(now) + 1;
    true
}
