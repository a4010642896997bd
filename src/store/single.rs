//! The store of a limiter without keys.

use crate::cell::{Apart, Cell, HighMark};
use crate::log::{Dead, Log, Pin};
use crate::store::{Found, Life, Lookup, NoRoom, Store, Turn, sealed};

/// One word, or one log, for all callers.
#[derive(Debug)]
pub struct Single {
    word: Apart<Cell>,
    log: Apart<Log>,
    floor: HighMark,
}

impl Single {
    pub(crate) fn new() -> Self {
        Self { word: Apart(Cell::new(0)), log: Apart(Log::new()), floor: HighMark::new(0) }
    }
}

impl sealed::Sealed for Single {}

/// The word as it was.
#[doc(hidden)]
#[derive(Debug)]
pub struct Seen<'a>(&'a Cell, u64);

impl Found for Seen<'_> {
    #[inline]
    fn word(&self) -> u64 {
        self.1
    }

    #[inline]
    fn put(&self, next: u64) -> bool {
        self.0.swap(self.1, next).is_ok()
    }

    /// A word that was there at one instant is enough for a decision that changes nothing.
    #[inline]
    fn is_still_there(&self) -> bool {
        true
    }
}

impl Store for Single {
    type Token = ();
    type Hint = ();
    type Found<'a> = Seen<'a>;

    #[inline]
    fn find(&self, (): ()) -> Option<Seen<'_>> {
        Some(Seen(&self.word, self.word.load()))
    }

    fn decide_token<T>(
        &self,
        (): &(),
        _: Life,
        mut turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        Ok(self.word.turn(|word| turn(word, 0)))
    }

    fn visit_token<T>(&self, (): &(), turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        Some(self.word.turn(turn))
    }

    fn log_token<T>(&self, key: &(), visit: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T> {
        self.log(key, visit)
    }

    fn log_or_new_token<T>(
        &self,
        guard: &Pin,
        key: &(),
        visit: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T> {
        self.log_or_new(guard, key, visit)
    }

    fn len(&self, life: Life) -> usize {
        usize::from(!life.is_idle(self.word.load()))
    }

    fn count_logs(&self, counts: impl Fn(&Log) -> bool) -> usize {
        usize::from(counts(&self.log))
    }

    fn capacity(&self) -> Option<usize> {
        Some(1)
    }
}

impl Lookup<()> for Single {
    fn token(&self, (): &()) {}

    fn hash(&self, (): &()) -> u64 {
        0
    }

    #[inline]
    fn hint(&self, (): &()) {}

    fn decide<T>(
        &self,
        key: &(),
        (): (),
        life: Life,
        turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        self.decide_token(key, life, turn)
    }

    fn peek<T>(&self, (): &(), _: Life, mut look: impl FnMut(u64, u64) -> T) -> T {
        look(self.word.load(), 0)
    }

    fn visit<T>(&self, key: &(), turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        self.visit_token(key, turn)
    }

    fn log<T>(&self, (): &(), mut visit: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T> {
        visit(&self.log).ok()
    }

    #[inline]
    fn near_log<'g>(&'g self, _: &'g Pin, (): &()) -> Option<&'g Log> {
        Some(&self.log)
    }

    fn log_or_new<T>(
        &self,
        _: &Pin,
        (): &(),
        mut visit: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T> {
        visit(&self.log, &self.floor).ok()
    }
}
