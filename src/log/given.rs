//! Units given back: the changes that are more than one exchange.

use crate::log::ring::{Mark, Ring, View};
use crate::log::sums::BLOCK;
use crate::log::word;
use crate::sync::Ordering;

impl Ring {
    /// Gives back `units` of the entry at `index`, as it was read; it has as many.
    pub(super) fn give_back(&self, view: View, index: u32, entry: u64, units: u32) -> bool {
        self.mix();
        let word = word::give_back(index, units, entry, view.free.lap);
        let done = self.append(view.free, word);
        if done {
            self.help(view.head, word);
        }
        done
    }

    /// Completes the give-back that is in the slot at `head`, where `ctl` is. `word` was read there between two equal readings of `ctl`.
    #[cold]
    pub(super) fn help(&self, head: Mark, word: u64) {
        let (index, units) = word::given(word);
        let entry = self.load(index);
        // Only while `ctl` is at the head is that the entry as it was before, or is after, this very change.
        // Acquire: as in `view`.
        if self.ctl.load(Ordering::Acquire) != head.0 {
            return;
        }
        if let Some(less) = word::less(entry, word, units) {
            // AcqRel: Release pairs with the Acquire in `load`. Relaxed on failure: a helper has done it.
            _ = self.slot(index).compare_exchange(entry, less, Ordering::AcqRel, Ordering::Relaxed);
        }
        self.sums.lower(index, units, head.index());
        if (head.index() + 1).is_multiple_of(BLOCK) {
            self.sum_up(head.index());
        }
        self.move_on(head, head.plus(1, units.wrapping_neg()));
        self.settle(head.index(), word);
    }

    /// Turns a give-back that is done into an entry of no units, at the time of the one before.
    pub(super) fn settle(&self, index: u32, word: u64) {
        // Nothing is appended before it is settled: while the word is here, the entry before is still the one before.
        let before = self.load(index - 1);
        let entry = self.layout.entry(self.layout.offset_ns(before), 0, word::lap(index & self.capacity()));
        // AcqRel: Release pairs with the Acquire in `load`. Relaxed on failure: another thread has settled it.
        _ = self.slot(index).compare_exchange(word, entry, Ordering::AcqRel, Ordering::Relaxed);
    }
}
