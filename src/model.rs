//! The cell, the table, the log and the coarse clock's reading with their insides open, for `loom-tests`. No part of the crate's interface.

use std::hash::{BuildHasherDefault, DefaultHasher};

use crate::store::{Found, Life, Store};

pub use crate::cell::Turn;
pub use crate::clock::Cached;
pub use crate::log::model::{Log, LogOp, LogOut, LogState, Memory};
pub use crate::store::NoRoom;

/// The arithmetic of permits.
pub mod permits {
    /// The word of a key that never had a permit.
    pub fn fresh(now_ns: u64) -> u64 {
        crate::algorithm::permits::fresh(now_ns)
    }

    /// Permits that are out.
    pub fn count(word: u64) -> u64 {
        crate::algorithm::permits::count(word)
    }

    /// The word with one permit more, if there are fewer than `max`.
    pub fn take(word: u64, fresh: u64, max: u64) -> Option<u64> {
        crate::algorithm::permits::take(word, fresh, max)
    }

    /// The word with one permit fewer.
    pub fn put_back(word: u64) -> u64 {
        crate::algorithm::permits::put_back(word)
    }
}

/// A refusal that is kept: what it refused, until when, when it fits, and when its key is idle.
#[derive(Debug)]
pub struct Refusal(crate::cell::Refusal);

impl Refusal {
    /// With none.
    #[allow(clippy::new_without_default, reason = "nobody needs it")]
    pub fn new() -> Self {
        Self(crate::cell::Refusal::new())
    }

    /// Puts another in its place.
    pub fn set(&self, [cost, until_ns, fits_at_ns, idle_at_ns]: [u64; 4]) {
        self.0.set(crate::cell::Refused { cost, until_ns, fits_at_ns, idle_at_ns });
    }

    /// The last one.
    pub fn get(&self) -> Option<[u64; 4]> {
        self.0.get().map(|refused| [refused.cost, refused.until_ns, refused.fits_at_ns, refused.idle_at_ns])
    }
}

/// Whether every access is counted, which closes loom's hole: see `sync`.
#[cfg(not(feature = "shuttle"))]
pub fn is_counted() -> bool {
    crate::sync::ticks()
}

/// Whether loads read the newest value only: see `sync`.
#[cfg(not(feature = "shuttle"))]
pub fn is_strong() -> bool {
    crate::sync::is_strong()
}

/// A word of the shim, for the canary.
#[derive(Debug)]
pub struct Word(crate::sync::AtomicU64);

impl Word {
    /// A word.
    pub fn new(value: u64) -> Self {
        Self(crate::sync::AtomicU64::new(value))
    }

    /// Its value.
    pub fn load(&self) -> u64 {
        // Acquire: pairs with the Release of `store`, as in the code under test.
        self.0.load(crate::sync::Ordering::Acquire)
    }

    /// Another value.
    pub fn store(&self, value: u64) {
        // Release: pairs with the Acquire of `load`.
        self.0.store(value, crate::sync::Ordering::Release);
    }
}

/// The cell.
#[derive(Debug)]
pub struct Cell(crate::cell::Cell);

impl Cell {
    /// A cell with a word.
    pub fn new(word: u64) -> Self {
        Self(crate::cell::Cell::new(word))
    }

    /// Its word.
    pub fn load(&self) -> u64 {
        self.0.load()
    }

    /// See the cell's own.
    pub fn turn<T>(&self, turn: impl FnMut(u64) -> Turn<T>) -> T {
        self.0.turn(turn)
    }
}

/// Who a slot belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Nobody.
    Vacant,
    /// The tag's key.
    Time,
    /// One thread.
    Claimed,
    /// The tag's key, uncharged.
    Pending,
}

/// A slot of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The key, if the state says so.
    pub tag: u64,
    /// Who it belongs to.
    pub state: SlotState,
    /// The word without its state.
    pub value: u64,
}

/// After which step an insert is abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The slot is taken.
    Claimed,
    /// The tag is written.
    Tagged,
    /// The slot is pending.
    Published,
}

pub(crate) type Tags = BuildHasherDefault<DefaultHasher>;

/// The table, whose keys are their own tags.
#[derive(Debug)]
pub struct Table(crate::Table<Tags>);

impl Table {
    /// Slots in a line.
    pub const LINE: usize = crate::Table::<Tags>::LINE;

    /// A table of these slots, in whole lines.
    pub fn new(slots: &[Slot], floor: u64, policy: crate::Overflow) -> Self {
        Self(crate::Table::with_slots(slots, floor, policy))
    }

    /// Applies `turn` to the word of `tag` or to that of a newcomer, at a time when idle words are `lead` below `fresh`: first
    /// as a limiter's core does where the key is at home, and then as the store does.
    ///
    /// # Errors
    /// When there is no room.
    pub fn decide<T>(
        &self,
        tag: u64,
        fresh: u64,
        lead: u64,
        mut turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        while let Some(found) = self.0.find(tag) {
            let (is_done, answer) = match turn(found.word(), 0) {
                Turn::Keep(answer) => (found.is_still_there(), answer),
                Turn::Put(next, answer) => (found.put(next), answer),
            };
            if is_done {
                return Ok(answer);
            }
        }
        self.0.decide_token(&tag, Life { fresh, lead }, turn)
    }

    /// Applies `turn` to the word of `tag` if it is here.
    pub fn visit<T>(&self, tag: u64, turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        self.0.visit_token(&tag, turn)
    }

    /// The first steps of an insert of a new key, whose thread then stops for ever.
    pub fn abandon(&self, tag: u64, fresh: u64, lead: u64, stop: Stop) {
        self.0.abandon(tag, Life { fresh, lead }, stop);
    }

    /// Keys that are not idle.
    pub fn len(&self, fresh: u64, lead: u64) -> usize {
        self.0.len(Life { fresh, lead })
    }

    /// All slots as they are.
    pub fn slots(&self) -> Vec<Slot> {
        self.0.slots()
    }

    /// The word of the overflow cell of `tag`; 0 if nothing ever overflowed.
    pub fn debt(&self, tag: u64) -> u64 {
        self.0.debt(tag)
    }
}
