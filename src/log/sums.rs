//! Sums of units over blocks of slots, blocks of blocks, and so on: what lets a decision step over many entries at once.
//!
//! A sum is a word of its own: the units, and the index of the last change that is in it. A block is summed when its last
//! slot is filled, and changed when units of it are given back; both are part of the change that does it, and whoever
//! helps that change does it too. An index only grows, so a helper that comes late finds a later one and leaves it alone.

use crate::sync::{AtomicU64, Ordering};

/// Slots in a block, as a power of two.
#[cfg(not(all(loom, feature = "loom")))]
pub(super) const BLOCK_BITS: u32 = 3;
#[cfg(all(loom, feature = "loom"))]
pub(super) const BLOCK_BITS: u32 = 1;

/// One word for each block of each level.
#[derive(Debug)]
pub(super) struct Sums {
    levels: Box<[Box<[AtomicU64]>]>,
}

fn pack(units: u32, index: u32) -> u64 {
    u64::from(units) << 32 | u64::from(index)
}

fn unpack(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl Sums {
    /// For a ring of `1 << slot_bits` slots, none of them filled.
    pub(super) fn new(slot_bits: u32) -> Self {
        let zeros = |blocks| std::iter::repeat_with(|| AtomicU64::new(0)).take(blocks).collect();
        let levels = (1..).map(|level| level * BLOCK_BITS).take_while(|&bits| bits < slot_bits);
        Self { levels: levels.map(|bits| zeros(1 << (slot_bits - bits))).collect() }
    }

    /// How many levels there are above the slots.
    #[inline]
    pub(super) fn height(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Where the block of this slot is kept.
    #[inline]
    fn at(&self, level: u32, index: u32) -> &AtomicU64 {
        let blocks = &self.levels[level as usize - 1];
        &blocks[(index >> (level * BLOCK_BITS)) as usize & (blocks.len() - 1)]
    }

    /// The units of a whole block, which begins at or contains `index`.
    #[inline]
    pub(super) fn get(&self, level: u32, index: u32) -> u32 {
        // Acquire: pairs with the exchange in `set`; the sum is at least as new as the `ctl` that covers the block.
        unpack(self.at(level, index).load(Ordering::Acquire)).0
    }

    /// The change at index `by` makes the block's sum `units(old sum)`, unless it has done so.
    pub(super) fn set(&self, level: u32, index: u32, by: u32, units: impl FnOnce(u32) -> u32) {
        let sum = self.at(level, index);
        // Acquire: as in `get`.
        let old = sum.load(Ordering::Acquire);
        let (old_units, last) = unpack(old);
        if last < by {
            // AcqRel: Release pairs with the Acquire in `get`; Acquire as in it.
            // Relaxed on failure: another helper has made the same change.
            _ = sum.compare_exchange(old, pack(units(old_units), by), Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}
