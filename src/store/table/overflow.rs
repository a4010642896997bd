//! What happens to a new key when its whole window is full of live ones.

use crate::cell::{Apart, Cell};
use crate::store::table::Table;
use crate::store::table::slot::Slot;
use crate::store::{Life, NoRoom, Turn};
use crate::sync::{AtomicU64, Ordering, fence};

/// What becomes of a new key for which the table has no room. Each is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// It shares a quota with the other new keys of its part of the table that find no room: no key gets more than its own
    /// quota, and newcomers get in as that quota comes back. Until it has come back whole, new keys of that part start from
    /// what is left of it, even if they find room. What was taken from it is not given back: `refund`, `reset`, a
    /// cancelled reservation and a lease that ends do nothing for a key without a place.
    #[default]
    Share,
    /// It is refused until a key becomes idle. Nobody knows when, so `retry_after` is a guess: the time in which what it asks
    /// for would come back.
    Deny,
    /// It is let pass, uncounted. The limit does not hold for it.
    Allow,
}

/// Lines that have an overflow cell in common.
const LINES_PER_CELL: usize = 64;

/// The cells of keys without a slot.
#[derive(Debug)]
pub(super) struct Shared {
    policy: Overflow,
    cells: Box<[Cell]>,
    overflowed: Apart<AtomicU64>,
}

impl Shared {
    pub(super) fn new(policy: Overflow, lines: usize) -> Self {
        let count = if policy == Overflow::Share { lines.div_ceil(LINES_PER_CELL) } else { 0 };
        Self {
            policy,
            cells: (0..count).map(|_| Cell::new(0)).collect(),
            overflowed: Apart(AtomicU64::new(0)),
        }
    }

    /// Keys that found no room so far.
    pub(super) fn overflowed(&self) -> u64 {
        // Relaxed: a count. `debt` reads it after the fence in `settle`, which orders it.
        self.overflowed.load(Ordering::Relaxed)
    }

    /// The cell that `tag` falls back on. Not by the bits that choose its home line: a crowded region spreads.
    fn cell(&self, tag: u64) -> &Cell {
        &self.cells[((u128::from(tag.rotate_left(32)) * self.cells.len() as u128) >> 64) as usize]
    }

    /// What `tag` may have been charged while it had no slot.
    pub(super) fn debt(&self, tag: u64) -> u64 {
        if self.overflowed() == 0 || self.cells.is_empty() { 0 } else { self.cell(tag).load() }
    }
}

impl<H> Table<H> {
    /// Answers for a key that found no room where it saw `tags`. `None`: it has a slot by now, or had one; look again.
    pub(super) fn overflow<T>(
        &self,
        tag: u64,
        home: usize,
        life: Life,
        tags: u64,
        turn: &mut dyn FnMut(u64, u64) -> Turn<T>,
    ) -> Option<Result<T, NoRoom>> {
        // Relaxed: ordered before the cell's charge by its Release, and for `settle` by the fence below.
        self.shared.overflowed.fetch_add(1, Ordering::Relaxed);
        match self.shared.policy {
            Overflow::Deny => return Some(Err(NoRoom::Deny)),
            Overflow::Allow => return Some(Err(NoRoom::Allow)),
            Overflow::Share => {}
        }
        // Acquire: as in `may_be_forgotten`, for what the searches saw.
        fence(Ordering::Acquire);
        let floor = self.floor.get();
        let start = life.fresh.max(floor);
        let cell = self.shared.cell(tag);
        let (answer, charge) = cell.turn(|word| match turn(life.start(start, word), floor) {
            Turn::Keep(answer) => Turn::Keep((answer, None)),
            Turn::Put(next, answer) => Turn::Put(next, (answer, Some((word, next)))),
        });
        let Some((word, next)) = charge else { return Some(Ok(answer)) };
        // SeqCst: pairs with the fence in `settle`. Either that thread's slot is seen here, or our charge of the cell is
        // seen there and the new slot starts above it.
        fence(Ordering::SeqCst);
        if self.is_here(tag, home) || self.may_be_forgotten(tag, home, tags, start) {
            // Taken back and decided again. Where others have charged the cell since it stays, which is strict for those
            // who share it.
            _ = cell.swap(next, word);
            return None;
        }
        Some(Ok(answer))
    }

    /// Whether, after a look that did not find the key, it may have been charged in a slot and forgotten since `tags` were
    /// seen: newcomers start later than `start` by now, and a slot has changed hands, or says that the key had it.
    fn may_be_forgotten(&self, tag: u64, home: usize, tags: u64, start: u64) -> bool {
        // Acquire: pairs with the Release store of the tag in `label`. Whoever took the slot of the key, and whose tag was
        // seen there, raised the floor first.
        fence(Ordering::Acquire);
        // The key's own tag first: if it goes in between, the tags differ.
        self.floor.get() > start && (self.window(home, tag).next().is_some() || self.tags(home) != tags)
    }

    /// Whether the key has a slot by now. A former owner's word can make it seem so, which costs another look.
    fn is_here(&self, tag: u64, home: usize) -> bool {
        self.window(home, tag).any(|slot| slot.look(tag).is_some())
    }

    /// The slots that may be the key's.
    fn window(&self, home: usize, tag: u64) -> impl Iterator<Item = &Slot> {
        (0..self.lines.window().min(self.lines.reach(home)))
            .flat_map(move |distance| self.lines.line(home, distance).candidates(tag))
    }
}
