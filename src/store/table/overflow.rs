//! What happens to a new key when its whole window is full of live ones.

use crate::cell::{Apart, Cell};
use crate::store::table::Table;
use crate::store::{Life, NoRoom, Turn};
use crate::sync::{AtomicU64, Ordering, fence};

/// What becomes of a new key for which the table has no room. Each is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// It shares a quota with the other new keys of its part of the table that find no room: no key gets more than its own
    /// quota, and newcomers are not locked out.
    #[default]
    Share,
    /// It is refused until a key becomes idle.
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
    /// Answers for a key that found no room. `None`: it has a slot by now, look again.
    pub(super) fn overflow<T>(
        &self,
        tag: u64,
        home: usize,
        life: Life,
        turn: &mut dyn FnMut(u64, u64) -> Turn<T>,
    ) -> Option<Result<T, NoRoom>> {
        // Relaxed: ordered before the cell's charge by its Release, and for `settle` by the fence below.
        self.shared.overflowed.fetch_add(1, Ordering::Relaxed);
        match self.shared.policy {
            Overflow::Deny => return Some(Err(NoRoom::Deny)),
            Overflow::Allow => return Some(Err(NoRoom::Allow)),
            Overflow::Share => {}
        }
        let floor = self.floor.get();
        let start = life.fresh.max(floor);
        let (answer, charged) = self.shared.cell(tag).turn(|word| match turn(word.max(start), floor) {
            Turn::Keep(answer) => Turn::Keep((answer, false)),
            Turn::Put(next, answer) => Turn::Put(next, (answer, true)),
        });
        // SeqCst: pairs with the fence in `settle`. Either that thread's slot is seen here, or our charge of the cell is
        // seen there and the new slot starts above it.
        fence(Ordering::SeqCst);
        if charged && self.is_here(tag, home) {
            // Decided again on the slot. The cell keeps the charge, which is strict for those who share it.
            return None;
        }
        Some(Ok(answer))
    }

    fn is_here(&self, tag: u64, home: usize) -> bool {
        (0..self.lines.window().min(self.lines.reach(home))).any(|distance| {
            self.lines.line(home, distance).candidates(tag).any(|slot| slot.look(tag).is_some())
        })
    }
}
