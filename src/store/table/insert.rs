//! How a new key gets a slot: claim, settle, kill.

use crate::store::table::slot::{State, Word};
use crate::store::table::{Place, Table};
use crate::store::{Life, Turn};
use crate::sync::{Ordering, fence};

impl<H> Table<H> {
    /// Puts a new key in a slot that is nobody's or idle, if `turn` charges it at all. `None`: look again.
    pub(super) fn insert<T>(
        &self,
        tag: u64,
        home: usize,
        place: Place<'_>,
        word: Word,
        life: Life,
        turn: &mut dyn FnMut(u64, u64) -> Turn<T>,
    ) -> Option<T> {
        let (start, floor) = self.start(tag, life);
        if let Turn::Keep(answer) = turn(start, floor) {
            return Some(answer);
        }
        let pending = self.claim(tag, home, place, word, life)?;
        if word.state() == State::Time {
            self.reclaimed.add(0);
        }
        self.settle(tag, home, place, pending, life, turn)
    }

    /// Takes the slot for `tag` and publishes it, uncharged. `None`: somebody else took it.
    pub(super) fn claim(
        &self,
        tag: u64,
        home: usize,
        place: Place<'_>,
        word: Word,
        life: Life,
    ) -> Option<Word> {
        // First the floor: whoever misses the word that goes away here starts above it.
        if word.value().saturating_add(life.lead) >= self.floor.get() {
            self.floor.raise(life.fresh);
        }
        self.lines.spread_to(home, place.distance);
        // The word before the tag: an exchange of an older word must fail before the tag says that it is ours.
        place.slot.claim(word).then(|| place.slot.publish(tag, word.value()))
    }

    /// Charges a pending slot of this key, our own or another thread's, unless the key has another slot. `None`: look again.
    ///
    /// Of two threads that insert one key, each publishes its slot, passes the fence, and looks through the window. One
    /// fence comes first in the total order of fences, so the thread of the other sees both slots. The same rule decides
    /// for all who see them: a charged slot beats a pending one, and the earlier of two pending ones wins.
    pub(super) fn settle<T>(
        &self,
        tag: u64,
        home: usize,
        place: Place<'_>,
        pending: Word,
        life: Life,
        turn: &mut dyn FnMut(u64, u64) -> Turn<T>,
    ) -> Option<T> {
        // SeqCst: pairs with this fence in any other thread that settles a slot of the same key, and with the one in
        // `overflow`. It stands between the publication that we made or saw, and the look at the window and the cell.
        fence(Ordering::SeqCst);
        if self.has_better_twin(tag, home, place) {
            place.slot.kill(pending);
            return None;
        }
        // Acquire: pairs with the Release store of the tag in `label`. A twin may have been charged and forgotten since the
        // fence above: what the look found in its slot is then the tag of the next owner, who raised the floor first.
        fence(Ordering::Acquire);
        // After the look, for the same reason.
        let (start, floor) = self.start(tag, life);
        match turn(start, floor) {
            // Above every former owner's word, whatever the debt that it started with.
            Turn::Put(next, answer) => place.slot.activate(pending, next.max(floor)).then_some(answer),
            Turn::Keep(answer) => {
                place.slot.kill(pending);
                Some(answer)
            }
        }
    }

    /// Looks for other slots of the key, and kills those that lose against this one.
    fn has_better_twin(&self, tag: u64, home: usize, place: Place<'_>) -> bool {
        let mut before = true;
        for distance in 0..self.lines.window().min(self.lines.reach(home)) {
            for slot in self.lines.line(home, distance).candidates(tag) {
                if std::ptr::eq(slot, place.slot) {
                    before = false;
                    continue;
                }
                while let Some(twin) = slot.look(tag) {
                    if before || twin.state() == State::Time {
                        return true;
                    }
                    if slot.kill(twin) {
                        break;
                    }
                }
            }
        }
        false
    }

    /// The word that a newcomer starts with, and the floor it contains.
    pub(super) fn start(&self, tag: u64, life: Life) -> (u64, u64) {
        let floor = self.floor.get();
        (life.start(life.fresh.max(floor), self.shared.debt(tag)), floor)
    }
}
