//! What has been given back, for those who still hold units.
//!
//! A reservation remembers the word that its charge left. Units come back in the order in which they were taken, so when
//! earlier units are given back, later ones move up, and the word that was remembered is too late: by it the units would
//! seem to be there when they have come back long ago. Each return that moves others is therefore added up here, and who
//! gives back later subtracts what was added since. Units move up no further than to the time at which they were taken.
//!
//! Sums are kept per lane of keys, not per key, and a sum does not say who was in front: for the last returns of a lane that is
//! kept as well (`places.rs`), and what did not move the units is not subtracted. Of returns before those all is, which gives back less than
//! it might, and never more.
//!
//! Returns of one lane take turns by a lock. A compare-and-swap does not see that a word was lowered and then charged up
//! to what it was, so a return that overlaps with others could give back what they have given back; there is no bit left in a word
//! to tell. Decisions never take the lock: they only raise words.

use std::sync::PoisonError;

use crate::cell::places::{Left, Places};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Lanes of a limiter by key.
const LANES: usize = 64;

/// Returns that a lane remembers: without keys, and of a limiter by key.
const PLACES: [usize; 2] = [1_024, 128];

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
    turn: Mutex<Places>,
}

/// The sums at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    settled: u64,
    refunded: u64,
    resets: u64,
    /// Nothing was added between the sums and the charge, so that the charge's place is known.
    is_sure: bool,
}

/// What was given back between two times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) settled: u64,
    pub(crate) refunded: u64,
}

/// One who gives units back, in turn.
#[derive(Debug)]
pub(crate) struct Giver<'a> {
    lane: &'a Lane,
    hash: u64,
    places: MutexGuard<'a, Places>,
    has_added: bool,
}

impl Mark {
    /// Where in line the units are whose charge left the word at `stamp`. Returns lower the words of those behind by what they add to the
    /// sum, so who comes later has a higher place.
    const fn place(self, stamp: u64) -> u64 {
        self.settled.saturating_add(stamp)
    }
}

impl Giver<'_> {
    /// As [`Returns::since`], but that `settled` is only what moved up the units whose charge left the word at `stamp`. To be asked of each
    /// word that is found: what was added for the one before was not given back.
    pub(crate) fn since(&mut self, mark: Mark, stamp: u64) -> Option<Since> {
        if self.has_added {
            self.places.void_last();
            self.has_added = false;
        }
        let since = self.lane.since(mark)?;
        let place = if mark.is_sure { mark.place(stamp) } else { u64::MAX };
        let others = self.places.not_moving(self.hash, place, mark.settled);
        Some(Since { settled: since.settled.saturating_sub(others), ..since })
    }

    /// Adds what a holder gives back. To be made between finding the word and putting the lower one: whoever finds that one by its Acquire
    /// sees the sum, by the exchange's Release. If the exchange fails, by a charge, the sum is too large, which is strict.
    ///
    /// What was refunded may have been in front, so that units which came later are at places lower by as much.
    pub(crate) fn settle(&mut self, mark: Mark, stamp: u64, since: Since, given: u64) {
        let place = if mark.is_sure { mark.place(stamp).saturating_sub(since.refunded) } else { 0 };
        let (sum, is_anew) = self.lane.add(&self.lane.settled, given);
        if is_anew {
            return self.places.clear();
        }
        self.places.add(Left { hash: self.hash, place, sum, given });
        self.has_added = true;
    }
}

impl Lane {
    /// In turn. What the sum was, and whether it begins anew: that counts as a reset, or what was given back between two times could seem
    /// to be little.
    fn add(&self, sum: &AtomicU64, given: u64) -> (u64, bool) {
        // Relaxed: as `Giver::settle` says; all additions are made in turn.
        let before = sum.load(Ordering::Relaxed);
        let is_anew = before.checked_add(given).is_none();
        if is_anew {
            // Relaxed: as above.
            self.resets.fetch_add(1, Ordering::Relaxed);
        }
        // Relaxed: as above.
        sum.store(before.wrapping_add(given), Ordering::Relaxed);
        (before, is_anew)
    }

    fn mark(&self) -> Mark {
        // Relaxed: an addition that belongs to a word put after our charge is made after that charge was found, so it is
        // not in here; that the addition is seen later is the word's Release and Acquire, see `Giver::settle`.
        Mark {
            settled: self.settled.load(Ordering::Relaxed),
            refunded: self.refunded.load(Ordering::Relaxed),
            resets: self.resets.load(Ordering::Relaxed),
            is_sure: false,
        }
    }

    fn since(&self, mark: Mark) -> Option<Since> {
        let now = self.mark();
        (now.resets == mark.resets).then(|| Since {
            settled: now.settled.wrapping_sub(mark.settled),
            refunded: now.refunded.wrapping_sub(mark.refunded),
        })
    }
}

impl Returns {
    /// For one key, or for many.
    pub(crate) fn new(many: bool) -> Self {
        let lane = || Lane {
            settled: AtomicU64::new(0),
            refunded: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            turn: Mutex::new(Places::new(PLACES[usize::from(many)])),
        };
        Self(std::iter::repeat_with(lane).take(if many { LANES } else { 1 }).collect())
    }

    fn lane(&self, hash: u64) -> &Lane {
        &self.0[((u128::from(hash) * self.0.len() as u128) >> 64) as usize]
    }

    /// The sums now. To be read before the charge that is remembered is put.
    pub(crate) fn mark(&self, hash: u64) -> Mark {
        self.lane(hash).mark()
    }

    /// The mark of a charge that has been put. If units came back meanwhile, the word may have been lowered and charged up to what it
    /// was, and who is in front is not known.
    pub(crate) fn confirm(&self, hash: u64, mark: Mark) -> Mark {
        // Relaxed: the charge's Acquire has seen the additions that belong to words before it.
        let settled = self.lane(hash).settled.load(Ordering::Relaxed);
        Mark { is_sure: settled == mark.settled, ..mark }
    }

    /// Held from before a word is found until a lower one is put, by whoever gives units back.
    pub(crate) fn turn(&self, hash: u64) -> Giver<'_> {
        let lane = self.lane(hash);
        // A thread that panicked in its turn leaves nothing half done: what it did is one exchange.
        let places = lane.turn.lock().unwrap_or_else(PoisonError::into_inner);
        Giver { lane, hash, places, has_added: false }
    }

    /// What was given back since `mark`, or `None` after a reset: then nothing is held any more. To be read after the word
    /// was found.
    pub(crate) fn since(&self, hash: u64, mark: Mark) -> Option<Since> {
        self.lane(hash).since(mark)
    }

    /// Adds what anybody gives back, as [`Giver::settle`] does.
    pub(crate) fn refund(&self, hash: u64, given: u64) {
        let lane = self.lane(hash);
        lane.add(&lane.refunded, given);
    }

    /// Notes a reset, in the same way.
    pub(crate) fn reset(&self, hash: u64) {
        // Relaxed: as said of `Giver::settle`.
        self.lane(hash).resets.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mark of a charge that nobody came between.
    fn mark(returns: &Returns) -> Mark {
        returns.confirm(7, returns.mark(7))
    }

    #[test]
    fn a_return_that_is_tried_again_moves_those_behind_once() {
        let returns = Returns::new(false);
        let mark = mark(&returns);
        let mut giver = returns.turn(7);
        for given in [5, 4] {
            let since = giver.since(mark, 10).unwrap();
            assert_eq!(since.settled, 0);
            giver.settle(mark, 10, since, given);
        }
        drop(giver);
        let settled_for = |stamp| returns.turn(7).since(mark, stamp).unwrap().settled;
        assert_eq!((settled_for(9), settled_for(20)), (0, 4));
    }

    #[test]
    fn a_sum_that_begins_anew_is_a_reset() {
        let returns = Returns::new(true);
        let first = mark(&returns);
        let settle = |given| {
            let mut giver = returns.turn(7);
            let (mark, stamp) = (mark(&returns), 10);
            let since = giver.since(mark, stamp).unwrap();
            giver.settle(mark, stamp, since, given);
        };
        [10, u64::MAX - 10].into_iter().for_each(settle);
        assert_eq!(returns.turn(7).since(first, 40).unwrap().settled, u64::MAX);
        settle(2);
        assert!(returns.turn(7).since(first, 40).is_none());
        // What was remembered of the former sum does not count.
        let later = mark(&returns);
        settle(3);
        assert_eq!(returns.turn(7).since(later, 12).unwrap().settled, 3);
    }

    /// As if the word had been lowered and charged up again between the look at it and the charge.
    #[test]
    fn a_charge_that_a_return_came_between_is_moved_by_all_and_moves_all() {
        let returns = Returns::new(false);
        let (first, raced) = (mark(&returns), returns.mark(7));
        let settle = |mark, given| {
            let mut giver = returns.turn(7);
            let since = giver.since(mark, 30).unwrap();
            giver.settle(mark, 30, since, given);
        };
        settle(first, 4);
        let raced = returns.confirm(7, raced);
        assert_eq!(returns.turn(7).since(raced, 20).unwrap().settled, 4, "it seems to be in front");
        settle(raced, 2);
        assert_eq!(returns.turn(7).since(first, 20).unwrap().settled, 2, "it seems to be behind");
    }
}
