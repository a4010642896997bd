//! What has been given back, for those who still hold units.
//!
//! A reservation remembers the word that its charge left. Units come back in the order in which they were taken, so when
//! earlier units are given back, later ones move up, and the word that was remembered is too late: by it the units would
//! seem to be there when they have come back long ago. Each return that moves others is therefore added up here, and who
//! gives back later subtracts what was added since. Units move up no further than to the time at which they were taken.
//!
//! Sums are kept per lane of keys, not per key: a return of another key of the lane is subtracted too, which gives back
//! less than it might, and never more.
//!
//! Returns of one lane take turns by a lock. A compare-and-swap does not see that a word was lowered and then charged up
//! to what it was, so a return that overlaps with others could give back what they have given back; there is no bit left in a word
//! to tell. Decisions never take the lock: they only raise words.

use std::sync::PoisonError;

use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Lanes of a limiter by key.
const LANES: usize = 64;

/// Sums of returns.
#[derive(Debug)]
pub(crate) struct Returns(Box<[Lane]>);

#[derive(Debug)]
struct Lane {
    /// By those who held the units.
    settled: AtomicU64,
    /// By anybody: they may be units that somebody holds.
    refunded: AtomicU64,
    resets: AtomicU64,
    turn: Mutex<()>,
}

/// The sums at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    settled: u64,
    refunded: u64,
    resets: u64,
}

/// What was given back between two times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) settled: u64,
    pub(crate) refunded: u64,
}

impl Lane {
    /// In turn. A sum that begins anew counts as a reset, or what was given back between two times could seem to be little.
    fn add(&self, sum: &AtomicU64, given: u64) {
        // Relaxed: as `Returns::settle` says; all additions are made in turn.
        let before = sum.load(Ordering::Relaxed);
        if before.checked_add(given).is_none() {
            // Relaxed: as above.
            self.resets.fetch_add(1, Ordering::Relaxed);
        }
        // Relaxed: as above.
        sum.store(before.wrapping_add(given), Ordering::Relaxed);
    }
}

impl Returns {
    /// For one key, or for many.
    pub(crate) fn new(many: bool) -> Self {
        let lane = || Lane {
            settled: AtomicU64::new(0),
            refunded: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            turn: Mutex::new(()),
        };
        Self(std::iter::repeat_with(lane).take(if many { LANES } else { 1 }).collect())
    }

    fn lane(&self, hash: u64) -> &Lane {
        &self.0[((u128::from(hash) * self.0.len() as u128) >> 64) as usize]
    }

    /// The sums now. To be read before the charge that is remembered is put.
    pub(crate) fn mark(&self, hash: u64) -> Mark {
        let lane = self.lane(hash);
        // Relaxed: an addition that belongs to a word put after our charge is made after that charge was found, so it is
        // not in here; that the addition is seen later is the word's Release and Acquire, see `add`.
        Mark {
            settled: lane.settled.load(Ordering::Relaxed),
            refunded: lane.refunded.load(Ordering::Relaxed),
            resets: lane.resets.load(Ordering::Relaxed),
        }
    }

    /// Held from before a word is found until a lower one is put, by whoever gives units back.
    pub(crate) fn turn(&self, hash: u64) -> MutexGuard<'_, ()> {
        // A thread that panicked in its turn leaves nothing half done: what it did is one exchange.
        self.lane(hash).turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was given back since `mark`, or `None` after a reset: then nothing is held any more. To be read after the word
    /// was found.
    pub(crate) fn since(&self, hash: u64, mark: Mark) -> Option<Since> {
        let now = self.mark(hash);
        (now.resets == mark.resets).then(|| Since {
            settled: now.settled.wrapping_sub(mark.settled),
            refunded: now.refunded.wrapping_sub(mark.refunded),
        })
    }

    /// Adds what a holder gives back. To be made between finding the word and putting the lower one: whoever finds that one by its Acquire
    /// sees the sum, by the exchange's Release. If the exchange fails, by a charge, the sum is too large, which is strict.
    pub(crate) fn settle(&self, hash: u64, given: u64) {
        let lane = self.lane(hash);
        lane.add(&lane.settled, given);
    }

    /// Adds what anybody gives back, in the same way.
    pub(crate) fn refund(&self, hash: u64, given: u64) {
        let lane = self.lane(hash);
        lane.add(&lane.refunded, given);
    }

    /// Notes a reset, in the same way.
    pub(crate) fn reset(&self, hash: u64) {
        // Relaxed: as said of `settle`.
        self.lane(hash).resets.fetch_add(1, Ordering::Relaxed);
    }
}
