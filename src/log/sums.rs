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

/// Slots in a block.
pub(super) const BLOCK: u32 = 1 << BLOCK_BITS;

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

    /// Sums up each block of which the slot at `index` is the last; `units` are those of the slots of the smallest.
    pub(super) fn complete(&self, index: u32, units: impl FnOnce() -> u32) {
        if self.levels.is_empty() {
            return;
        }
        self.set(1, index, index, |_| units());
        for level in 2..=self.height() {
            let span: u32 = 1 << (level * BLOCK_BITS);
            if !(index + 1).is_multiple_of(span) {
                return;
            }
            let parts = (index + 1 - span..=index).step_by((span >> BLOCK_BITS) as usize);
            self.set(level, index, index, |_| {
                parts.map(|at| self.get(level - 1, at)).fold(0, u32::wrapping_add)
            });
        }
    }

    /// Lowers the sums that the slot at `index` is in by `units`, which are given back by the change at index `by`.
    pub(super) fn lower(&self, index: u32, units: u32, by: u32) {
        for level in 1..=self.height() {
            let span_bits = level * BLOCK_BITS;
            let is_summed = by >> span_bits > index >> span_bits;
            if !is_summed {
                return;
            }
            self.set(level, index, by, |sum| sum.wrapping_sub(units));
        }
    }

    /// The change at index `by` makes the block's sum `units(old sum)`, unless it has done so.
    fn set(&self, level: u32, index: u32, by: u32, units: impl FnOnce(u32) -> u32) {
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
