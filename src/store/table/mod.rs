//! The default store: fixed memory, one cache line per decision, lock-free.
//!
//! `README.md` beside this file is the protocol: what the slot states mean, why a charge is never lost and a key never in
//! two slots, and which ordering pairs with which.

mod insert;
mod memory;
#[cfg(all(loom, feature = "loom"))]
mod model;
mod overflow;
mod slot;
mod window;

use std::fmt;
use std::hash::{BuildHasher, Hash};

use crate::cell::{Apart, HighMark, Stripes};
use crate::error::BuildError;
use crate::log::{Dead, Log, Pin};
use crate::store::{self, KeyHasher, Life, Lookup, NoRoom, Store, Turn, sealed};

use overflow::Shared;
use slot::{Slot, State, Word};
use window::{Line, Lines, SLOTS};

pub use overflow::Overflow;

/// Keys for which the table has a place, of 100 slots.
const LOAD_PERCENT: usize = 75;

/// A table of no more slots than this, 256 kB, is for half as many keys: then 4 of 100 live behind their home line, not 13.
const ROOMY_SLOTS: usize = 1 << 14;

/// A table of fixed size from a keyed 64-bit hash of the key to its word.
///
/// # Consistency
/// Keys are not stored. Two keys with the same 64-bit hash share a quota, which errs on the strict side; among n keys that
/// happens with probability n²/2^65, one in 37 million for a million keys. [`Map`](crate::Map) keeps exact keys.
///
/// A key is forgotten only when its word is idle, so forgetting changes no decision. While `capacity` keys are live at
/// once, about 2 in a million of them find no place and meet the [`Overflow`] policy.
///
/// # Cost
/// About 22 bytes a key of the capacity, allocated and touched when built; 33 for up to 8 192 keys, whose table is twice as large
/// as they need. A check of a known key reads one cache line (1.3 to 2 on average when full) and writes it when allowed. A new key
/// in a table long in use may read a dozen lines.
pub struct Table<H = KeyHasher> {
    lines: Lines,
    shared: Shared,
    /// Above every word whose key was forgotten: a newcomer starts no earlier.
    floor: Apart<HighMark>,
    /// Idle keys that made room for others.
    reclaimed: Stripes,
    capacity: usize,
    hasher: H,
}

impl<H> fmt::Debug for Table<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("capacity", &self.capacity)
            .field("lines", &self.lines.count())
            .field("floor", &self.floor.get())
            .field("overflowed", &self.shared.overflowed())
            .finish_non_exhaustive()
    }
}

/// What a look at the whole window found.
enum Found<'a> {
    /// The key's slot.
    Own(Place<'a>, Word),
    /// No slot of the key's, and one that can be claimed.
    Room(Place<'a>, Word),
    /// Neither; a digest of the tags that were seen.
    Full(u64),
}

/// A slot in a key's window.
#[derive(Clone, Copy)]
struct Place<'a> {
    slot: &'a Slot,
    /// Lines from home.
    distance: usize,
}

impl<H> Table<H> {
    pub(crate) fn new(capacity: usize, overflow: Overflow, hasher: H) -> Result<Self, BuildError> {
        if capacity == 0 {
            return Err(BuildError::CapacityZero);
        }
        let too_large = || BuildError::CapacityTooLarge { capacity };
        let slots = capacity.checked_mul(100).ok_or_else(too_large)?.div_ceil(LOAD_PERCENT);
        let roomy = ROOMY_SLOTS.min(2 * capacity);
        let lines = Lines::new(slots.max(roomy).div_ceil(SLOTS)).ok_or_else(too_large)?;
        let shared = Shared::new(overflow, lines.count());
        let floor = Apart(HighMark::new(0));
        Ok(Self { lines, shared, floor, reclaimed: Stripes::new(1), capacity, hasher })
    }

    /// New keys that found no room since the table was built.
    pub(crate) fn overflowed(&self) -> u64 {
        self.shared.overflowed()
    }

    /// Idle keys that made room for others since the table was built.
    pub(crate) fn reclaimed(&self) -> u64 {
        self.reclaimed.get(0)
    }

    /// Applies `turn` to the word of `tag`, inserting it if need be.
    fn decide_tag<T>(
        &self,
        tag: u64,
        life: Life,
        mut turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        let home = self.lines.home(tag);
        let turn = &mut turn;
        let mut seen_full = None;
        loop {
            let answer = match self.search(tag, home, life) {
                Found::Own(place, word) if word.state() == State::Time => {
                    charge(place.slot, word, |word| turn(word, 0))
                }
                Found::Own(place, pending) => self.settle(tag, home, place, pending, life, turn),
                Found::Room(place, word) => self.insert(tag, home, place, word, life, turn),
                // One look can miss a key that was put behind it; two that agree cannot.
                Found::Full(tags) if seen_full == Some(tags) => {
                    self.overflow(tag, home, life, tags, turn).transpose()?
                }
                Found::Full(tags) => {
                    seen_full = Some(tags);
                    None
                }
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
    }

    /// Looks through the key's window: for its slot as far as keys of this home have spread, and for room.
    fn search(&self, tag: u64, home: usize, life: Life) -> Found<'_> {
        let reach = self.lines.reach(home);
        let mut room = None;
        let mut tags = 0_u64;
        for distance in 0..self.lines.window() {
            if distance >= reach && room.is_some() {
                break;
            }
            let line = self.lines.line(home, distance);
            for slot in line.candidates(tag) {
                if let Some(word) = slot.look(tag) {
                    return Found::Own(Place { slot, distance }, word);
                }
            }
            if room.is_none() {
                room = line.slots().iter().find_map(|slot| {
                    let word = slot.word();
                    let claimable = word.is_settled() && life.is_claimable(word.value());
                    claimable.then_some((Place { slot, distance }, word))
                });
                tags = digest(tags, line);
            }
        }
        match room {
            Some((place, word)) => Found::Room(place, word),
            None => Found::Full(tags),
        }
    }

    /// The digest of a window without room.
    fn tags(&self, home: usize) -> u64 {
        (0..self.lines.window()).fold(0, |tags, distance| digest(tags, self.lines.line(home, distance)))
    }

    /// The slot of `tag` if it has been charged. Inlined for the home line, where most lookups end.
    #[inline]
    fn charged(&self, tag: u64) -> Option<Seen<'_>> {
        let home = self.lines.home(tag);
        let candidate = self.lines.home_line(home).candidate(tag);
        let at_home = candidate.and_then(|slot| Seen::charged(slot, tag));
        at_home.or_else(|| self.charged_from(home, usize::from(candidate.is_none()), tag))
    }

    /// The same from a distance on, as far as keys of that home have spread.
    #[inline(never)]
    fn charged_from(&self, home: usize, distance: usize, tag: u64) -> Option<Seen<'_>> {
        // Past a pending slot: nothing has been charged there, and the key may be charged further on.
        (distance..self.lines.window().min(self.lines.reach(home)))
            .flat_map(|distance| self.lines.line(home, distance).candidates(tag))
            .find_map(|slot| Seen::charged(slot, tag))
    }

    /// Applies `turn` to the word of `tag` if it is here. A word is not lowered below the floor: at or above it, it is
    /// above every word that a former owner of the slot left.
    fn visit_tag<T>(&self, tag: u64, mut turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        loop {
            let Seen { slot, word } = self.charged(tag)?;
            let floor = self.floor.get();
            let clamped = |word| match turn(word) {
                Turn::Put(next, answer) if next < word => Turn::Put(next.max(floor.min(word)), answer),
                other => other,
            };
            if let Some(answer) = charge(slot, word, clamped) {
                return Some(answer);
            }
        }
    }
}

/// Applies `turn` to the word of an owned slot; `None` when it has changed meanwhile.
#[inline]
fn charge<T>(slot: &Slot, word: Word, mut turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
    match turn(word.value()) {
        Turn::Keep(answer) => slot.still(word).then_some(answer),
        Turn::Put(next, answer) => slot.charge(word, next).then_some(answer),
    }
}

/// Mixes a line's tags into a digest, so that two different windows are very unlikely to look the same.
fn digest(tags: u64, line: &Line) -> u64 {
    let mix = |tags: u64, tag: u64| (tags.rotate_left(5) ^ tag).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    line.slots().iter().fold(tags, |tags, slot| mix(tags, slot.tag()))
}

/// The slot of a key that has been charged.
#[doc(hidden)]
#[derive(Debug)]
pub struct Seen<'a> {
    slot: &'a Slot,
    word: Word,
}

impl<'a> Seen<'a> {
    #[inline]
    fn charged(slot: &'a Slot, tag: u64) -> Option<Self> {
        slot.charged(tag).map(|word| Self { slot, word })
    }
}

impl store::Found for Seen<'_> {
    #[inline]
    fn word(&self) -> u64 {
        self.word.value()
    }

    #[inline]
    fn put(&self, next: u64) -> bool {
        self.slot.charge(self.word, next)
    }

    /// What a denial rests on was then the key's, and not a former owner's.
    #[inline]
    fn is_still_there(&self) -> bool {
        self.slot.still(self.word)
    }
}

impl<H> sealed::Sealed for Table<H> {}

impl<H: BuildHasher> Store for Table<H> {
    /// The tag.
    type Token = u64;

    /// The tag.
    type Hint = u64;

    type Found<'a>
        = Seen<'a>
    where
        H: 'a;

    #[inline]
    fn prefetch(&self, tag: u64) {
        self.lines.prefetch(tag);
    }

    #[inline]
    fn find(&self, tag: u64) -> Option<Seen<'_>> {
        self.charged(tag)
    }

    fn decide_token<T>(
        &self,
        &tag: &u64,
        life: Life,
        turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        self.decide_tag(tag, life, turn)
    }

    fn visit_token<T>(&self, &tag: &u64, turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        self.visit_tag(tag, turn)
    }

    fn log_token<T>(&self, _: &u64, _: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T> {
        None
    }

    fn log_or_new_token<T>(
        &self,
        _: &Pin,
        _: &u64,
        _: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T> {
        None
    }

    fn count_logs(&self, _: impl Fn(&Log) -> bool) -> usize {
        0
    }

    fn len(&self, life: Life) -> usize {
        let live = |word: Word| word.state() == State::Time && !life.is_idle(word.value());
        self.lines.slots().filter(|slot| live(slot.word())).count()
    }

    fn capacity(&self) -> Option<usize> {
        Some(self.capacity)
    }
}

impl<Q: ?Sized + Hash, H: BuildHasher> Lookup<Q> for Table<H> {
    #[inline]
    fn token(&self, key: &Q) -> u64 {
        self.hasher.hash_one(key)
    }

    fn hash(&self, key: &Q) -> u64 {
        self.token(key)
    }

    #[inline]
    fn hint(&self, key: &Q) -> u64 {
        self.token(key)
    }

    fn decide<T>(
        &self,
        _: &Q,
        tag: u64,
        life: Life,
        turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        self.decide_tag(tag, life, turn)
    }

    fn peek<T>(&self, key: &Q, life: Life, mut look: impl FnMut(u64, u64) -> T) -> T {
        let tag = self.token(key);
        if let Some(answer) = self.visit_tag(tag, |word| Turn::Keep(look(word, 0))) {
            return answer;
        }
        let (start, floor) = self.start(tag, life);
        look(start, floor)
    }

    fn visit<T>(&self, key: &Q, turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        self.visit_tag(self.token(key), turn)
    }

    fn log<T>(&self, _: &Q, _: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T> {
        None
    }

    #[inline]
    fn near_log<'g>(&'g self, _: &'g Pin, _: &Q) -> Option<&'g Log> {
        None
    }

    fn log_or_new<T>(&self, _: &Pin, _: &Q, _: impl FnMut(&Log, &HighMark) -> Result<T, Dead>) -> Option<T> {
        None
    }
}
