//! A ring of entries, every change of which is one exchange of the first free slot.
//!
//! `ctl` and `tail` and the sums say nothing that the slots do not say. They may be one change behind, and any thread may
//! bring them up to date: see `README.md`.

use crate::log::sums::{BLOCK, Sums};
use crate::log::witness::Witness;
use crate::log::word::{self, Kind, Layout};
use crate::sync::{AtomicU8, AtomicU64, Ordering};

/// Indices are never used up: a ring ends before.
const LAST_INDEX: u32 = u32::MAX - 2;

/// A place in the ring, and the units of all entries before it, modulo 2^32: those are the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(pub(super) u64);

impl Mark {
    #[inline]
    pub(super) const fn new(index: u32, units: u32) -> Self {
        Self((units as u64) << 32 | index as u64)
    }

    #[inline]
    pub(super) const fn index(self) -> u32 {
        self.0 as u32
    }

    /// So many entries of so many units further on.
    #[inline]
    pub(super) const fn plus(self, entries: u32, units: u32) -> Self {
        // Indices do not wrap, so there is no carry from them.
        Self(self.0.wrapping_add((units as u64) << 32 | entries as u64))
    }

    /// Units from `earlier` up to here.
    #[inline]
    pub(super) const fn since(self, earlier: Self) -> u32 {
        ((self.0 >> 32) as u32).wrapping_sub((earlier.0 >> 32) as u32)
    }
}

#[derive(Debug)]
pub(super) struct Ring {
    /// The first index that is not announced, and the units before it.
    pub(super) ctl: AtomicU64,
    /// The first index that may still count, and the units before it.
    tail: AtomicU64,
    /// Entries count their time from here.
    pub(super) base_ns: u64,
    slots: Box<[AtomicU64]>,
    pub(super) layout: Layout,
    /// The units of each entry, unless they are mixed.
    each: u32,
    /// There may be entries of other units than `each`.
    is_mixed: AtomicU8,
    pub(super) sums: Sums,
    witness: Witness,
}

/// The first free slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Free<'r> {
    slot: &'r AtomicU64,
    /// What is in it, from a lap before.
    word: u64,
    /// The lap bit of what is to be put there.
    pub(super) lap: u64,
}

/// What one consistent reading of a ring says.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'r> {
    pub(super) tail: Mark,
    /// The first free index, and the units before it.
    pub(super) head: Mark,
    pub(super) free: Free<'r>,
    /// The time of the last entry, or the base.
    pub(super) newest_ns: u64,
    /// No change will ever follow.
    pub(super) is_ended: bool,
}

#[inline]
fn slot(slots: &[AtomicU64], index: u32) -> &AtomicU64 {
    &slots[index as usize & (slots.len() - 1)]
}

impl Ring {
    /// A ring with these entries: times that do not decrease, and units that fit the layout.
    pub(super) fn new(
        layout: Layout,
        slot_bits: u32,
        base_ns: u64,
        entries: impl IntoIterator<Item = (u64, u64)>,
    ) -> Self {
        let (mut head, mut each, mut is_mixed) = (Mark::new(0, 0), 0, false);
        let words = entries.into_iter().map(|(at_ns, units)| {
            each = if head.index() == 0 { units as u32 } else { each };
            is_mixed |= units != u64::from(each);
            head = head.plus(1, units as u32);
            layout.entry(at_ns - base_ns, units, word::lap(0))
        });
        let mut words = words.fuse();
        let slots = (0..1 << slot_bits).map(|_| AtomicU64::new(words.next().unwrap_or(0))).collect();
        debug_assert!(head.index() < 1 << slot_bits, "a ring has room for its end");
        let ring = Self {
            ctl: AtomicU64::new(head.0),
            tail: AtomicU64::new(0),
            base_ns,
            slots,
            layout,
            each,
            is_mixed: AtomicU8::new((is_mixed || each == 0).into()),
            sums: Sums::new(slot_bits),
            witness: Witness::new(),
        };
        for index in (BLOCK - 1..head.index()).step_by(BLOCK as usize) {
            ring.sum_up(index);
        }
        ring
    }

    #[inline]
    pub(super) fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    #[inline]
    pub(super) fn slot(&self, index: u32) -> &AtomicU64 {
        self.witness.look();
        slot(&self.slots, index)
    }

    #[inline]
    fn lap(&self, index: u32) -> u64 {
        word::lap(index & self.capacity())
    }

    #[inline]
    pub(super) fn load(&self, index: u32) -> u64 {
        // Acquire: pairs with the AcqRel of the exchange that wrote it, in `append`, `help` or `settle`: who reads an entry
        // sees those before it, and who reads what a change has done finds the free slot taken by it when he looks there again.
        self.slot(index).load(Ordering::Acquire)
    }

    /// The time of an entry.
    #[inline]
    pub(super) fn time_ns(&self, entry: u64) -> u64 {
        self.base_ns + self.layout.offset_ns(entry)
    }

    #[inline]
    pub(super) fn units(&self, word: u64) -> u32 {
        if word::kind(word) == Kind::Entry { self.layout.units(word) } else { 0 }
    }

    /// A consistent reading, or `None` if something moved, or had to be helped on, meanwhile.
    ///
    /// The slots before `head` are those of the same state for as long as the free slot keeps its word: see
    /// [`is_still`](Self::is_still).
    #[inline]
    pub(super) fn view(&self) -> Option<View<'_>> {
        // Acquire: pairs with the Release in `pass`: who sees a tail sees a `ctl` that covers the entry by whose time it
        // was passed.
        let tail = Mark(self.tail.load(Ordering::Acquire));
        // Acquire: pairs with the Release in `move_on`: who sees an index sees what is before it, sums included.
        let ctl = self.ctl.load(Ordering::Acquire);
        let head = Mark(ctl);
        // An old tail may name slots that later entries have taken. Within one lap each slot from the tail on holds its own
        // entry until the free slot changes, which the caller looks at last.
        if head.index() - tail.index() > self.capacity() {
            return None;
        }
        let slots = &*self.slots;
        self.witness.look();
        let slot = slot(slots, head.index());
        // Acquire: as in `load`.
        let free = Free { slot, word: slot.load(Ordering::Acquire), lap: self.lap(head.index()) };
        let last = self.load(head.index().wrapping_sub(1));
        // A lap is one bit: the word is of this lap or of the one before only if `ctl` has not moved.
        // Acquire: as above.
        if self.ctl.load(Ordering::Acquire) != ctl {
            return None;
        }
        let is_ended = word::is_of(free.word, free.lap);
        if (is_ended || word::kind(last) == Kind::GiveBack) && !self.resume(head, free.word, last) {
            return None;
        }
        Some(View { tail, head, free, newest_ns: self.time_ns(last), is_ended })
    }

    /// Does what was left undone, after which the ring is to be looked at again. Only an end is as it should be.
    #[cold]
    fn resume(&self, head: Mark, free: u64, last: u64) -> bool {
        match (word::kind(last), word::kind(free)) {
            (Kind::GiveBack, _) => self.settle(head.index() - 1, last),
            (_, Kind::End) => return true,
            (_, Kind::GiveBack) => self.help(head, free),
            (_, Kind::Entry | Kind::Empty) => self.announce(head, self.units(free)),
        }
        false
    }

    /// Nothing was announced since the reading: all that was read since is of one state. A ring that has ended does not change
    /// any more, and was the log's when it ended, or when it was found.
    #[inline]
    pub(super) fn is_still(&self, view: View) -> bool {
        // Acquire: as in `load`.
        view.free.slot.load(Ordering::Acquire) == view.free.word
    }

    /// Whether one more entry fits, and after it the end.
    #[inline]
    pub(super) fn has_slot(&self, view: View) -> bool {
        view.head.index() - view.tail.index() + 2 <= self.capacity() && self.lasts(view.head)
    }

    /// Indices are left.
    #[inline]
    pub(super) fn lasts(&self, head: Mark) -> bool {
        head.index() < LAST_INDEX
    }

    /// Whether an entry of `units` at this time can be appended.
    #[inline]
    pub(super) fn fits(&self, view: View, at_ns: u64, units: u64) -> bool {
        self.has_slot(view)
            && at_ns - self.base_ns <= self.layout.max_offset_ns()
            && units <= self.layout.max_units()
    }

    /// Replaces the free slot's word, if it is still there: the one instant at which anything happens to a ring.
    #[inline]
    pub(super) fn append(&self, free: Free, word: u64) -> bool {
        // AcqRel: Release pairs with the Acquire in `load`. Acquire needs no partner: the word was read with it before.
        // Relaxed on failure: the caller looks again.
        free.slot.compare_exchange(free.word, word, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Takes units that fit, at a time no earlier than the newest. `expired`: the first entry that still counts then.
    #[inline]
    pub(super) fn take(&self, view: View, at_ns: u64, units: u64, expired: Mark) -> bool {
        if units != u64::from(self.each) {
            self.mix();
        }
        let entry = self.layout.entry(at_ns - self.base_ns, units, view.free.lap);
        if !self.append(view.free, entry) {
            return false;
        }
        self.announce(view.head, units as u32);
        if expired != view.tail {
            // Only now is that time the newest, and what it has expired can be passed.
            self.pass(view.tail, expired);
        }
        true
    }

    /// Says that an entry of other units, or a give-back, is going to be appended.
    #[cold]
    pub(super) fn mix(&self) {
        // Relaxed: the Release of the exchange that appends is what orders it, with the Acquire in `load` or of `ctl`.
        self.is_mixed.store(1, Ordering::Relaxed);
    }

    /// The units of each entry, if they are all alike.
    #[inline]
    pub(super) fn each(&self) -> Option<u32> {
        // Relaxed: who has seen an entry sees what was said before it was appended.
        (self.is_mixed.load(Ordering::Relaxed) == 0).then_some(self.each)
    }

    /// No change will follow.
    #[cold]
    pub(super) fn end(&self, free: Free) {
        _ = self.append(free, word::end(free.lap));
    }

    /// Moves the tail over what has expired by the time of an entry.
    pub(super) fn pass(&self, tail: Mark, to: Mark) {
        // AcqRel: Release pairs with the Acquire of the tail in `view`.
        // Relaxed on failure: somebody has passed on. Indices only grow, so success means that the tail is as it was read,
        // and that no slot behind it was used again.
        _ = self.tail.compare_exchange(tail.0, to.0, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Moves `ctl` over an entry that was appended at `head`, and sums up the blocks that it completes.
    #[inline]
    fn announce(&self, head: Mark, units: u32) {
        if (head.index() + 1).is_multiple_of(BLOCK) {
            self.sum_up(head.index());
        }
        self.move_on(head, head.plus(1, units));
    }

    #[inline]
    pub(super) fn move_on(&self, from: Mark, to: Mark) {
        // AcqRel: Release pairs with the Acquire of `ctl` in `view`.
        // Relaxed on failure: a helper has done it.
        _ = self.ctl.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Sums up each block of which the slot at `index` is the last.
    #[inline(never)]
    pub(super) fn sum_up(&self, index: u32) {
        self.sums.complete(index, || match self.each() {
            Some(each) => each * BLOCK,
            None => {
                (index + 1 - BLOCK..=index).map(|at| self.units(self.load(at))).fold(0, u32::wrapping_add)
            }
        });
    }
}
