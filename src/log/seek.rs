//! Finding entries in a ring by time and by units.

use crate::log::ring::{Mark, Ring, View};
use crate::log::sums::{BLOCK, BLOCK_BITS};

/// Entries that are looked at one by one before whole blocks are.
const NEAR: u32 = BLOCK;

impl Ring {
    /// The first entry that counts at a time.
    #[inline]
    pub(super) fn expired(&self, tail: Mark, head: Mark, at_ns: u64, window_ns: u64) -> Mark {
        let (layout, mut at) = (self.layout, tail);
        let before_ns = (at_ns + 1).saturating_sub(self.base_ns + window_ns);
        for _ in 0..NEAR {
            if at.index() == head.index() {
                return at;
            }
            let entry = self.load(at.index());
            if layout.offset_ns(entry) >= before_ns {
                return at;
            }
            at = at.plus(1, layout.units(entry));
        }
        self.seek(at, head, |last, _| layout.offset_ns(self.load(last)) < before_ns)
    }

    /// Steps from `from` over entries and whole blocks up to `end`, for as long as `goes_on` for the index of the last entry
    /// stepped over and the mark behind it.
    #[inline(never)]
    pub(super) fn seek(&self, from: Mark, end: Mark, goes_on: impl Fn(u32, Mark) -> bool) -> Mark {
        let (mut at, mut level) = (from, 0);
        loop {
            let span = 1 << (level * BLOCK_BITS);
            if at.index().is_multiple_of(span) && end.index() - at.index() >= span {
                let units = match level {
                    0 => self.units(self.load(at.index())),
                    _ => self.sums.get(level, at.index()),
                };
                let next = at.plus(span, units);
                if goes_on(next.index() - 1, next) {
                    at = next;
                    let is_aligned = at.index().is_multiple_of(span << BLOCK_BITS);
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

    /// The entry of the `nth` unit, from 1, of those from `from` to `end`.
    #[inline]
    pub(super) fn nth(&self, from: Mark, end: Mark, nth: u32) -> u32 {
        match self.each() {
            Some(1) => from.index() + nth - 1,
            Some(each) => from.index() + (nth - 1) / each,
            None => self.seek(from, end, |_, next| next.since(from) < nth).index(),
        }
    }

    /// The first entry, from the tail on, that is not before `time_ns`, by halving.
    fn first_at(&self, view: View, time_ns: u64) -> u32 {
        let (mut low, mut high) = (view.tail.index(), view.head.index());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.time_ns(self.load(middle)) < time_ns { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// An entry of this time that still counts and has units. Which of several does not matter: they go together.
    pub(super) fn stamped(&self, view: View, expired: Mark, stamp_ns: u64) -> Option<(u32, u64)> {
        let first = Mark::new(self.first_at(view, stamp_ns).max(expired.index()), 0);
        let behind = Mark::new(self.first_at(view, stamp_ns + 1).max(first.index()), 0);
        let at = self.seek(first, behind, |_, next| next.since(first) == 0);
        self.with_units(at, behind)
    }

    /// The last entry up to this time that still counts and has units.
    pub(super) fn newest(&self, view: View, expired: Mark, up_to_ns: u64) -> Option<(u32, u64)> {
        let behind = Mark::new(self.first_at(view, up_to_ns + 1).max(expired.index()), 0);
        let behind = self.seek(expired, behind, |_, _| true);
        let at = self.seek(expired, behind, |_, next| next.since(behind) != 0);
        self.with_units(at, behind)
    }

    fn with_units(&self, at: Mark, behind: Mark) -> Option<(u32, u64)> {
        let entry = self.load(at.index());
        (at.index() < behind.index() && self.units(entry) > 0).then_some((at.index(), entry))
    }
}
