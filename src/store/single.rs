//! The store of a limiter without keys.

use crate::cell::{Apart, Cell};
use crate::store::{Life, Lookup, NoRoom, Store, Turn, sealed};

/// One word for all callers.
#[derive(Debug)]
pub struct Single(Apart<Cell>);

impl Single {
    pub(crate) fn new() -> Self {
        Self(Apart(Cell::new(0)))
    }
}

impl sealed::Sealed for Single {}

impl Store for Single {
    type Token = ();

    fn decide_token<T>(
        &self,
        (): &(),
        _: Life,
        mut turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        Ok(self.0.turn(|word| turn(word, 0)))
    }

    fn visit_token<T>(&self, (): &(), turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        Some(self.0.turn(turn))
    }

    fn len(&self, life: Life) -> usize {
        usize::from(!life.is_idle(self.0.load()))
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
    fn decide<T>(&self, key: &(), life: Life, turn: impl FnMut(u64, u64) -> Turn<T>) -> Result<T, NoRoom> {
        self.decide_token(key, life, turn)
    }

    fn peek<T>(&self, (): &(), _: Life, mut look: impl FnMut(u64, u64) -> T) -> T {
        look(self.0.load(), 0)
    }

    fn visit<T>(&self, key: &(), turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        self.visit_token(key, turn)
    }
}
