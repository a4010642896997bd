//! The words of a ring: pure arithmetic on their bits.
//!
//! | word | bits, from the highest |
//! |---|---|
//! | entry | time since the ring's base, units, parity 1, lap 1, kind 2 |
//! | give-back | index of the entry 32, units 28, parity 1, lap 1, kind 2 |
//! | end | lap 1, kind 2 |
//!
//! The **lap** is the parity of `index / capacity`: it tells the entry of an index from that of one lap before. The
//! **parity** of an entry changes with each give-back from it.

const KIND_BITS: u64 = 0b11;
const ENTRY: u64 = 1;
const GIVE_BACK: u64 = 2;
const END: u64 = 3;
const LAP: u64 = 1 << 2;
const PARITY: u64 = 1 << 3;

/// Bits below an entry's units.
const FLAGS: u32 = 4;
const _: () = assert!(KIND_BITS | LAP | PARITY == (1 << FLAGS) - 1);

/// Bits of an entry's time, at most: one is left for units. More than ten years.
const MAX_TIME_BITS: u32 = u64::BITS - FLAGS - 1;

/// Bits of a give-back's units.
const GIVEN_BITS: u32 = 28;
const _: () = assert!(32 + GIVEN_BITS + FLAGS == u64::BITS);

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing was ever here.
    Empty,
    /// Units were taken.
    Entry,
    /// Units of another entry are given back.
    GiveBack,
    /// Nothing follows.
    End,
}

#[inline]
pub(super) const fn kind(word: u64) -> Kind {
    match word & KIND_BITS {
        ENTRY => Kind::Entry,
        GIVE_BACK => Kind::GiveBack,
        END => Kind::End,
        _ => Kind::Empty,
    }
}

/// The lap bit of the times around of which the lowest bit is 0, or is not; the first is marked, so that an empty word is
/// of none.
#[inline]
pub(super) const fn lap(lowest: u32) -> u64 {
    if lowest == 0 { LAP } else { 0 }
}

/// Whether the word was written in the lap of this bit.
#[inline]
pub(super) const fn is_of(word: u64, lap: u64) -> bool {
    word & KIND_BITS != 0 && word & LAP == lap
}

/// The last word of a ring.
pub(super) const fn end(lap: u64) -> u64 {
    lap | END
}

/// Gives back `units` of the entry at `index`, which is `entry` now.
pub(super) fn give_back(index: u32, units: u32, entry: u64, lap: u64) -> u64 {
    debug_assert!(units < 1 << GIVEN_BITS, "an entry has fewer units");
    u64::from(index) << (GIVEN_BITS + FLAGS) | u64::from(units) << FLAGS | entry & PARITY | lap | GIVE_BACK
}

/// The index and the units of a give-back.
pub(super) const fn given(word: u64) -> (u32, u32) {
    ((word >> (GIVEN_BITS + FLAGS)) as u32, (word >> FLAGS) as u32 & ((1 << GIVEN_BITS) - 1))
}

/// The entry with `units` fewer, if it is still as the give-back found it.
pub(super) const fn less(entry: u64, give_back: u64, units: u32) -> Option<u64> {
    if entry & PARITY == give_back & PARITY {
        // A parity that is the same belongs to the entry that the give-back was made for, which has the units.
        Some(entry.wrapping_sub((units as u64) << FLAGS) ^ PARITY)
    } else {
        None
    }
}

/// How an entry's bits are split between time and units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Bits below the time.
    time_shift: u32,
    max_units: u32,
}

impl Layout {
    /// Room for twice the window, so that a ring lasts for one more than it must, and for `limit` units if that is left.
    pub(super) const fn new(limit: u64, window_ns: u64) -> Self {
        let time_bits = if bits(window_ns) < MAX_TIME_BITS { bits(window_ns) + 1 } else { MAX_TIME_BITS };
        let (wanted, left) = (bits(limit), u64::BITS - FLAGS - time_bits);
        let unit_bits = if wanted < left { wanted } else { left };
        let unit_bits = if unit_bits < GIVEN_BITS { unit_bits } else { GIVEN_BITS };
        Self { time_shift: unit_bits + FLAGS, max_units: (1 << unit_bits) - 1 }
    }

    /// The most units of one entry.
    #[inline]
    pub(super) const fn max_units(self) -> u64 {
        self.max_units as u64
    }

    /// The latest time of an entry, from the ring's base.
    #[inline]
    pub(super) const fn max_offset_ns(self) -> u64 {
        u64::MAX >> self.time_shift
    }

    #[inline]
    pub(super) fn entry(self, offset_ns: u64, units: u64, lap: u64) -> u64 {
        debug_assert!(offset_ns <= self.max_offset_ns() && units <= self.max_units(), "checked before");
        offset_ns << self.time_shift | units << FLAGS | lap | ENTRY
    }

    /// An entry's time, from the ring's base.
    #[inline]
    pub(super) const fn offset_ns(self, word: u64) -> u64 {
        word >> self.time_shift
    }

    /// An entry's units.
    #[inline]
    pub(super) const fn units(self, entry: u64) -> u32 {
        (entry >> FLAGS) as u32 & self.max_units
    }
}

/// Bits that a number takes.
const fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}
