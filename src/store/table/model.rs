//! The table with its insides open, for `loom-tests`.

use crate::cell::{Apart, HighMark, Stripes};
use crate::model::{Slot, SlotState, Stop, Tags};
use crate::store::Life;
use crate::store::table::overflow::Shared;
use crate::store::table::slot::{Slot as Place, State, Word};
use crate::store::table::window::{Lines, SLOTS};
use crate::store::table::{Found, Overflow, Table};

impl Table<Tags> {
    pub(crate) const LINE: usize = SLOTS;

    /// A table of these slots.
    pub(crate) fn with_slots(slots: &[Slot], floor: u64, policy: Overflow) -> Self {
        let place = |slot: &Slot| Place::with(slot.tag, Word::new(inside(slot.state), slot.value));
        Self {
            lines: Lines::with_slots(slots.iter().map(place)),
            shared: Shared::new(policy, 1),
            floor: Apart(HighMark::new(floor)),
            reclaimed: Stripes::new(1),
            capacity: slots.len(),
            hasher: Tags::default(),
        }
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
            Slot { tag: place.tag(), state: outside(word.state()), value: word.value() }
        };
        self.lines.slots().map(open).collect()
    }

    /// The word of the overflow cell that `tag` falls back on; 0 if there is none.
    pub(crate) fn debt(&self, tag: u64) -> u64 {
        self.shared.debt(tag)
    }
}

const fn inside(state: SlotState) -> State {
    match state {
        SlotState::Vacant => State::Vacant,
        SlotState::Time => State::Time,
        SlotState::Claimed => State::Claimed,
        SlotState::Pending => State::Pending,
    }
}

const fn outside(state: State) -> SlotState {
    match state {
        State::Vacant => SlotState::Vacant,
        State::Time => SlotState::Time,
        State::Claimed => SlotState::Claimed,
        State::Pending => SlotState::Pending,
    }
}
