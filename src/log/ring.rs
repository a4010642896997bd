//! A ring of entries, every change of which is one exchange of the first free slot.
//!
//! `ctl` and `tail` and the sums say nothing that the slots do not say. They may be one change behind, and any thread may
//! bring them up to date: see `README.md`.

use crate::log::sums::{BLOCK_BITS, Sums};
use crate::log::witness::Witness;
use crate::log::word::{self, Kind, Layout};
use crate::sync::{AtomicU64, Ordering};

/// Indices are never used up: a ring ends before.
const LAST_INDEX: u32 = u32::MAX - 2;

/// A place in the ring, and the units of all entries before it, modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) index: u32,
    pub(super) units: u32,
}

impl Mark {
    const fn word(self) -> u64 {
        (self.index as u64) << 32 | self.units as u64
    }

    const fn of(word: u64) -> Self {
        Self { index: (word >> 32) as u32, units: word as u32 }
    }

    const fn next(self, units: u32) -> Self {
        Self { index: self.index + 1, units: self.units.wrapping_add(units) }
    }

    /// Units from `earlier` up to here.
    pub(super) const fn since(self, earlier: Self) -> u32 {
        self.units.wrapping_sub(earlier.units)
    }
}

#[derive(Debug)]
pub(super) struct Ring {
    /// The first index that is not announced, and the units before it.
    ctl: AtomicU64,
    /// The first index that may still count, and the units before it.
    tail: AtomicU64,
    /// Entries count their time from here.
    base_ns: u64,
    pub(super) layout: Layout,
    slots: Box<[AtomicU64]>,
    sums: Sums,
    witness: Witness,
}

/// What one consistent reading of a ring says.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) tail: Mark,
    /// The first free index, and the units before it.
    pub(super) head: Mark,
    /// The word that is in the first free slot, from a lap before.
    free: u64,
    /// The time of the last entry, or the base.
    pub(super) newest_ns: u64,
    /// No change will ever follow.
    pub(super) is_ended: bool,
}

impl Ring {
    /// A ring with these entries: times that do not decrease, and units that fit the layout.
    pub(super) fn new(
        layout: Layout,
        slot_bits: u32,
        base_ns: u64,
        entries: impl IntoIterator<Item = (u64, u64)>,
    ) -> Self {
        let mut slots = Vec::with_capacity(1 << slot_bits);
        let sums = Sums::new(slot_bits);
        let mut head = Mark { index: 0, units: 0 };
        for (at_ns, units) in entries {
            slots.push(AtomicU64::new(layout.entry(at_ns - base_ns, units, word::lap(0))));
            head = head.next(units as u32);
        }
        debug_assert!(slots.len() < 1 << slot_bits, "a ring has room for its end");
        slots.resize_with(1 << slot_bits, || AtomicU64::new(0));
        let ring = Self {
            ctl: AtomicU64::new(head.word()),
            tail: AtomicU64::new(0),
            base_ns,
            layout,
            slots: slots.into_boxed_slice(),
            sums,
            witness: Witness::new(),
        };
        let block = 1 << BLOCK_BITS;
        for index in (block - 1..head.index).step_by(block as usize) {
            ring.sum_up(index);
        }
        ring
    }

    #[inline]
    pub(super) fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    #[inline]
    fn slot(&self, index: u32) -> &AtomicU64 {
        self.witness.look();
        &self.slots[index as usize & (self.slots.len() - 1)]
    }

    #[inline]
    fn lap(&self, index: u32) -> u64 {
        word::lap(index >> self.slots.len().trailing_zeros())
    }

    #[inline]
    pub(super) fn load(&self, index: u32) -> u64 {
        // Acquire: pairs with the AcqRel of the exchange that wrote it, in `append`, `help` or `settle`: who reads what a
        // change has done finds the free slot taken by it when he looks there again.
        self.slot(index).load(Ordering::Acquire)
    }

    /// The time of an entry.
    #[inline]
    pub(super) fn time_ns(&self, entry: u64) -> u64 {
        self.base_ns + self.layout.offset_ns(entry)
    }

    #[inline]
    pub(super) fn units(&self, entry: u64) -> u32 {
        self.layout.units(entry)
    }

    /// A consistent reading, or `None` if something moved, or had to be helped on, meanwhile.
    ///
    /// The slots before `head` are those of the same state for as long as the free slot keeps its word: see
    /// [`is_still`](Self::is_still).
    #[inline]
    pub(super) fn view(&self) -> Option<View> {
        // Acquire: pairs with the Release in `pass`: who sees a tail sees a `ctl` that covers the entry by whose time it
        // was passed.
        let tail = Mark::of(self.tail.load(Ordering::Acquire));
        // Acquire: pairs with the Release in `announce`: who sees an index sees what is before it, sums included.
        let ctl = self.ctl.load(Ordering::Acquire);
        let head = Mark::of(ctl);
        // An old tail may name slots that later entries have taken. Within one lap each slot from the tail on holds its own
        // entry until the free slot changes, which the caller looks at last.
        if head.index - tail.index > self.capacity() {
            return None;
        }
        let free = self.load(head.index);
        // A lap is one bit: the word is of this lap or of the one before only if `ctl` has not moved.
        // Acquire: as above.
        if self.ctl.load(Ordering::Acquire) != ctl {
            return None;
        }
        let mut is_ended = false;
        if word::is_of(free, self.lap(head.index)) {
            if word::kind(free) != Kind::End {
                self.help(head, free);
                return None;
            }
            is_ended = true;
        }
        let mut newest_ns = self.base_ns;
        if head.index > 0 {
            let last = self.load(head.index - 1);
            if word::kind(last) == Kind::GiveBack {
                self.settle(head.index - 1, last);
                return None;
            }
            newest_ns = self.time_ns(last);
        }
        Some(View { tail, head, free, newest_ns, is_ended })
    }

    /// Nothing was announced since the reading: all that was read since is of one state. A ring that has ended does not change
    /// any more, and was the log's when it ended, or when it was found.
    #[inline]
    pub(super) fn is_still(&self, view: &View) -> bool {
        self.load(view.head.index) == view.free
    }

    /// Steps from `from` over entries and whole blocks up to `end`, for as long as `goes_on` for the word of the last entry
    /// stepped over and the mark behind it.
    #[inline]
    pub(super) fn seek(&self, from: Mark, end: Mark, goes_on: impl Fn(u64, Mark) -> bool) -> Mark {
        let (mut at, mut level) = (from, 0);
        loop {
            let span_bits = level * BLOCK_BITS;
            let span = 1 << span_bits;
            if at.index.is_multiple_of(span) && end.index - at.index >= span {
                let last = self.load(at.index + span - 1);
                let units = if level == 0 { self.units(last) } else { self.sums.get(level, at.index) };
                let next = Mark { index: at.index + span, units: at.units.wrapping_add(units) };
                if goes_on(last, next) {
                    at = next;
                    let is_aligned = at.index.is_multiple_of(span << BLOCK_BITS);
                    level += u32::from(is_aligned && level < self.sums.height());
                    continue;
                }
            }
            if level == 0 {
                return at;
            }
            level -= 1;
        }
    }

    /// The first entry, from the tail on, that is not before `time_ns`, by halving.
    fn first_at(&self, view: &View, time_ns: u64) -> u32 {
        let (mut low, mut high) = (view.tail.index, view.head.index);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.time_ns(self.load(middle)) < time_ns { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// An entry of this time that still counts and has units. Which of several does not matter: they go together.
    pub(super) fn stamped(&self, view: &View, expired: Mark, stamp_ns: u64) -> Option<(u32, u64)> {
        let first = Mark { index: self.first_at(view, stamp_ns).max(expired.index), units: 0 };
        let behind = Mark { index: self.first_at(view, stamp_ns + 1).max(first.index), units: 0 };
        let at = self.seek(first, behind, |_, next| next.units == 0);
        self.with_units(at, behind)
    }

    /// The last entry up to this time that still counts and has units.
    pub(super) fn newest(&self, view: &View, expired: Mark, up_to_ns: u64) -> Option<(u32, u64)> {
        let behind = Mark { index: self.first_at(view, up_to_ns + 1).max(expired.index), units: 0 };
        let behind = self.seek(expired, behind, |_, _| true);
        let at = self.seek(expired, behind, |_, next| next.units != behind.units);
        self.with_units(at, behind)
    }

    fn with_units(&self, at: Mark, behind: Mark) -> Option<(u32, u64)> {
        let entry = self.load(at.index);
        (at.index < behind.index && self.units(entry) > 0).then_some((at.index, entry))
    }

    /// Whether one more entry fits, and after it the end.
    #[inline]
    pub(super) fn has_slot(&self, view: &View) -> bool {
        view.head.index - view.tail.index + 2 <= self.capacity() && view.head.index < LAST_INDEX
    }

    /// Whether an entry of `units` at this time can be appended.
    #[inline]
    pub(super) fn fits(&self, view: &View, at_ns: u64, units: u64) -> bool {
        self.has_slot(view)
            && at_ns - self.base_ns <= self.layout.max_offset_ns()
            && units <= self.layout.max_units()
    }

    /// Replaces the free slot's word, if it is still there: the one instant at which anything happens to a ring.
    #[inline]
    fn append(&self, view: &View, word: u64) -> bool {
        // AcqRel: pairs with the Acquire in `load`. Nobody needs it to: whoever goes by this word has come here by `ctl`, and
        // moves `ctl` on before anything else. It costs nothing here.
        // Relaxed on failure: the caller looks again.
        let slot = self.slot(view.head.index);
        slot.compare_exchange(view.free, word, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Takes units that fit, at a time no earlier than the newest. `expired`: the first entry that still counts then.
    #[inline]
    pub(super) fn take(&self, view: &View, at_ns: u64, units: u64, expired: Mark) -> bool {
        let entry = self.layout.entry(at_ns - self.base_ns, units, self.lap(view.head.index));
        if !self.append(view, entry) {
            return false;
        }
        self.announce(view.head, units as u32);
        if expired.index != view.tail.index {
            // Only now is that time the newest, and what it has expired can be passed.
            self.pass(view, expired);
        }
        true
    }

    /// Gives back `units` of the entry at `index`, as it was read; it has as many.
    pub(super) fn give_back(&self, view: &View, index: u32, entry: u64, units: u32) -> bool {
        let word = word::give_back(index, units, entry, self.lap(view.head.index));
        let done = self.append(view, word);
        if done {
            self.help(view.head, word);
        }
        done
    }

    /// No change will follow.
    #[cold]
    pub(super) fn end(&self, view: &View) {
        _ = self.append(view, word::end(self.lap(view.head.index)));
    }

    /// Passes what the newest entry has expired: its thread may have been stopped before. Says whether there was anything.
    #[cold]
    pub(super) fn catch_up(&self, view: &View, window_ns: u64) -> bool {
        let expired = self.expired(view, view.newest_ns, window_ns);
        if expired.index == view.tail.index || view.head.index >= LAST_INDEX {
            return false;
        }
        self.pass(view, expired);
        true
    }

    /// The first entry that counts at a time.
    #[inline]
    pub(super) fn expired(&self, view: &View, at_ns: u64, window_ns: u64) -> Mark {
        self.seek(view.tail, view.head, |entry, _| self.time_ns(entry) + window_ns <= at_ns)
    }

    fn pass(&self, view: &View, to: Mark) {
        // AcqRel: Release pairs with the Acquire of the tail in `view`.
        // Relaxed on failure: somebody has passed on. Indices only grow, so success means that the tail is as it was read,
        // and that no slot behind it was used again.
        _ = self.tail.compare_exchange(view.tail.word(), to.word(), Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Moves `ctl` over an entry that was appended at `head`, and sums up the blocks that it completes.
    #[inline]
    fn announce(&self, head: Mark, units: u32) {
        if (head.index + 1).is_multiple_of(1 << BLOCK_BITS) {
            self.sum_up(head.index);
        }
        self.move_on(head, head.next(units));
    }

    #[inline]
    fn move_on(&self, from: Mark, to: Mark) {
        // AcqRel: Release pairs with the Acquire of `ctl` in `view`.
        // Relaxed on failure: a helper has done it.
        _ = self.ctl.compare_exchange(from.word(), to.word(), Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Completes the change that the slot at `head` announces. `word` was read there between two equal readings of `ctl`.
    #[cold]
    fn help(&self, head: Mark, word: u64) {
        if word::kind(word) == Kind::Entry {
            return self.announce(head, self.units(word));
        }
        let (index, units) = word::given(word);
        let entry = self.load(index);
        // Only while `ctl` is at the head is that the entry as it was before, or is after, this very change.
        // Acquire: as in `view`.
        if self.ctl.load(Ordering::Acquire) != head.word() {
            return;
        }
        if let Some(less) = word::less(entry, word, units) {
            // AcqRel: Release pairs with the Acquire in `load`. Relaxed on failure: a helper has done it.
            _ = self.slot(index).compare_exchange(entry, less, Ordering::AcqRel, Ordering::Relaxed);
        }
        for level in 1..=self.sums.height() {
            let span_bits = level * BLOCK_BITS;
            let is_summed = head.index >> span_bits > index >> span_bits;
            if !is_summed {
                break;
            }
            self.sums.set(level, index, head.index, |sum| sum.wrapping_sub(units));
        }
        self.sum_up(head.index);
        self.move_on(head, Mark { index: head.index + 1, units: head.units.wrapping_sub(units) });
        self.settle(head.index, word);
    }

    /// Sums up each block of which the slot at `index` is the last.
    #[cold]
    fn sum_up(&self, index: u32) {
        for level in 1..=self.sums.height() {
            let span: u32 = 1 << (level * BLOCK_BITS);
            if !(index + 1).is_multiple_of(span) {
                break;
            }
            let (first, part) = (index + 1 - span, span >> BLOCK_BITS);
            let parts = (first..=index).step_by(part as usize);
            let units =
                |at| if level == 1 { self.units(self.load(at)) } else { self.sums.get(level - 1, at) };
            self.sums.set(level, index, index, |_| parts.map(units).fold(0, u32::wrapping_add));
        }
    }

    /// Turns a give-back that is done into an entry of no units, at the time of the one before.
    fn settle(&self, index: u32, word: u64) {
        // Nothing is appended before it is settled: while the word is here, the entry before is still the one before.
        let before = self.load(index - 1);
        let entry = self.layout.entry(self.layout.offset_ns(before), 0, self.lap(index));
        // AcqRel: Release pairs with the Acquire in `load`. Relaxed on failure: another thread has settled it.
        _ = self.slot(index).compare_exchange(word, entry, Ordering::AcqRel, Ordering::Relaxed);
    }
}
