//! Where a key may live: its home line and the lines behind it.

use crate::store::table::memory;
use crate::store::table::slot::Slot;
use crate::sync::{AtomicU8, Ordering};

/// Slots in a line; fewer when a model is being checked.
pub(super) const SLOTS: usize = if cfg!(all(loom, feature = "loom")) { 2 } else { 4 };

/// Lines that a key may live in, its home line first.
///
/// Simulated with all keys live and steady replacement, 48 lines leave 2 keys in a million without a place at 75 % load,
/// and 32 lines leave 37; the mean lookup reads 1.3 lines of a freshly filled table and 2.0 of one long in use, with
/// either.
pub(super) const WINDOW: usize = if cfg!(all(loom, feature = "loom")) { 2 } else { 48 };

/// What one load of a cache line brings.
#[derive(Debug)]
#[cfg_attr(not(all(loom, feature = "loom")), repr(align(64)))]
pub(super) struct Line([Slot; SLOTS]);

#[cfg(not(all(loom, feature = "loom")))]
const _: () = assert!(size_of::<Line>() == 64);

impl Line {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Slot::new()))
    }

    /// Which slots may be `tag`'s, a bit each. Compared without branching on which one matches: that cannot be predicted.
    #[inline]
    fn matches(&self, tag: u64) -> u32 {
        self.0.iter().enumerate().fold(0, |bits, (i, slot)| bits | u32::from(slot.may_be(tag)) << i)
    }

    /// The first slot that may be `tag`'s; nearly always the only one.
    #[inline]
    pub(super) fn candidate(&self, tag: u64) -> Option<&Slot> {
        self.0.get(self.matches(tag).trailing_zeros() as usize)
    }

    /// All slots that may be `tag`'s.
    pub(super) fn candidates(&self, tag: u64) -> impl Iterator<Item = &Slot> {
        let mut bits = self.matches(tag);
        std::iter::from_fn(move || {
            let slot = self.0.get(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(slot)
        })
    }

    #[inline]
    pub(super) fn slots(&self) -> &[Slot; SLOTS] {
        &self.0
    }
}

/// All lines, and how far the keys of each home line have spread.
#[derive(Debug)]
pub(super) struct Lines {
    lines: Box<[Line]>,
    /// The farthest line, from home, in which a key of this home was ever put. Raised before the key can be seen.
    spread: Box<[AtomicU8]>,
}

impl Lines {
    /// `None` when there is not enough memory.
    pub(super) fn new(count: usize) -> Option<Self> {
        Some(Self { lines: filled(count, Line::new)?, spread: filled(count, || AtomicU8::new(0))? })
    }

    /// Lines of these slots, from which no key has spread.
    #[cfg(all(loom, feature = "loom"))]
    pub(super) fn with_slots(slots: impl IntoIterator<Item = Slot>) -> Self {
        let mut slots = slots.into_iter().peekable();
        let mut lines = Vec::new();
        while slots.peek().is_some() {
            lines.push(Line(std::array::from_fn(|_| slots.next().expect("whole lines"))));
        }
        let spread = lines.iter().map(|_| AtomicU8::new(0)).collect();
        Self { lines: lines.into_boxed_slice(), spread }
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    /// Which line is the home of a tag: the high half of a product spreads hashes over any number of lines (Lemire, "Fast random
    /// integer generation in an interval", 2019).
    #[inline]
    pub(super) fn home(&self, tag: u64) -> usize {
        ((u128::from(tag) * self.lines.len() as u128) >> 64) as usize
    }

    /// The home line itself.
    #[inline]
    pub(super) fn home_line(&self, home: usize) -> &Line {
        &self.lines[home]
    }

    /// Has the home line of a tag fetched.
    #[inline]
    pub(super) fn prefetch(&self, tag: u64) {
        memory::prefetch(self.home_line(self.home(tag)));
    }

    /// The line `distance` behind a home line, below the count of lines.
    #[inline]
    pub(super) fn line(&self, home: usize, distance: usize) -> &Line {
        let index = home + distance;
        &self.lines[if index < self.lines.len() { index } else { index - self.lines.len() }]
    }

    /// The lines that a key of this home may be put in.
    pub(super) fn window(&self) -> usize {
        WINDOW.min(self.lines.len())
    }

    /// The lines that keys of this home were ever put in.
    pub(super) fn reach(&self, home: usize) -> usize {
        // Relaxed: an insert that must not miss a twin reads it after the SeqCst fence of `settle`; any other reader may
        // miss a key that is being inserted.
        usize::from(self.spread[home].load(Ordering::Relaxed)) + 1
    }

    /// Says that a key of this home is about to be put `distance` lines away.
    pub(super) fn spread_to(&self, home: usize, distance: usize) {
        if distance > 0 {
            // Relaxed: ordered before the slot's pending word by that word's Release store, and for the twin by the
            // SeqCst fence of `settle`.
            self.spread[home].fetch_max(distance as u8, Ordering::Relaxed);
        }
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.lines.iter().flat_map(Line::slots)
    }
}

const _: () = assert!(WINDOW <= u8::MAX as usize + 1);

/// `count` values, or `None` when there is not enough memory.
fn filled<T>(count: usize, value: impl FnMut() -> T) -> Option<Box<[T]>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).ok()?;
    memory::ask_for_huge(values.spare_capacity_mut());
    values.extend(std::iter::repeat_with(value).take(count));
    Some(values.into_boxed_slice())
}
