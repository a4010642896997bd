//! The table with its insides open, for `loom-tests`.

use crate::model::{Slot, SlotState, Stop, Tags};
use crate::store::Life;
use crate::store::table::Overflow;
use crate::store::table::slot::{Slot as Place, State, Word};
use crate::store::table::window::SLOTS;
use crate::store::table::{Found, LOAD_PERCENT, Table};

impl Table<Tags> {
    pub(crate) const LINE: usize = SLOTS;

    /// A table of `lines` lines whose slots are as given; those not given were never used.
    pub(crate) fn with_slots(lines: usize, slots: &[Slot], floor: u64, policy: Overflow) -> Self {
        let table = Self::new((lines * SLOTS * LOAD_PERCENT / 100).max(1), policy, Tags::default())
            .expect("a table of a few slots fits memory");
        assert_eq!(table.lines.count(), lines, "lines of the table");
        assert!(slots.len() <= lines * SLOTS, "more slots than {lines} lines have");
        for (place, given) in table.lines.slots().zip(slots) {
            if (given.state, given.value) == (SlotState::Vacant, 0) {
                continue;
            }
            assert!(place.claim(Word::new(State::Vacant, 0)));
            match given.state {
                SlotState::Vacant => assert!(place.kill(place.publish(given.tag, given.value - 1))),
                SlotState::Time => assert!(place.activate(place.publish(given.tag, 0), given.value)),
                SlotState::Claimed => {}
                SlotState::Pending => _ = place.publish(given.tag, given.value),
            }
        }
        table.floor.raise(floor);
        table
    }

    /// The first steps of an insert of a new key, whose thread then stops for ever.
    pub(crate) fn abandon(&self, tag: u64, life: Life, stop: Stop) {
        let home = self.lines.home(tag);
        let Found::Room(place, word) = self.search(tag, home, life) else { return };
        match stop {
            Stop::Published => _ = self.claim(tag, home, place, word, life),
            Stop::Claimed | Stop::Tagged => {
                self.floor.raise(life.fresh);
                self.lines.spread_to(home, place.distance);
                if place.slot.claim(word) && stop == Stop::Tagged {
                    place.slot.label(tag);
                }
            }
        }
    }

    /// All slots as they are.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let open = |place: &Place| {
            let word = place.word();
            let state = match word.state() {
                State::Vacant => SlotState::Vacant,
                State::Time => SlotState::Time,
                State::Claimed => SlotState::Claimed,
                State::Pending => SlotState::Pending,
            };
            Slot { tag: place.tag(), state, value: word.value() }
        };
        self.lines.slots().map(open).collect()
    }

    /// The word of the overflow cell that `tag` falls back on; 0 if there is none.
    pub(crate) fn debt(&self, tag: u64) -> u64 {
        self.shared.debt(tag)
    }
}
