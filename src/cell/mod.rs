//! One word that threads change together.

mod places;
#[cfg(any(feature = "redis", all(loom, feature = "loom")))]
mod refusal;
mod returns;
mod stripes;

#[cfg(any(feature = "redis", all(loom, feature = "loom")))]
pub(crate) use refusal::{Refusal, Refused};
pub(crate) use returns::{Mark, Returns};
pub(crate) use stripes::{Stripes, place};

use core::ops::Deref;

use crate::sync::{AtomicU64, Ordering};

/// What to do with the word that was found.
#[derive(Clone, Copy, Debug)]
pub enum Turn<T> {
    /// Leave it, and answer.
    Keep(T),
    /// Put this in its place, and answer if nobody else was faster.
    Put(u64, T),
}

/// A word behind an atomic. Zero is the word of a key never seen.
#[derive(Debug)]
pub(crate) struct Cell(AtomicU64);

impl Cell {
    pub(crate) fn new(word: u64) -> Self {
        Self(AtomicU64::new(word))
    }

    /// The word as it is now.
    #[inline]
    pub(crate) fn load(&self) -> u64 {
        // Acquire: pairs with the AcqRel exchange in `turn`, so that what was written before a charge is seen with it.
        self.0.load(Ordering::Acquire)
    }

    /// Applies `turn` to the word until it is applied to the word that is there.
    ///
    /// This is the only loop over a lone cell, and it is argued here once. `turn` is a function of the word alone (its
    /// time was read before), so when the exchange succeeds the cell holds what `turn` made of the word it replaced:
    /// all changes of a cell form one sequence, each decided on the outcome of the one before, whatever the
    /// interleaving. A `Keep` is decided on a word that was there at one instant, and writes nothing. The exchange
    /// fails only when another thread's succeeded, so somebody always gets on: lock-free.
    #[inline]
    pub(crate) fn turn<T>(&self, mut turn: impl FnMut(u64) -> Turn<T>) -> T {
        let mut word = self.load();
        loop {
            match turn(word) {
                Turn::Keep(answer) => return answer,
                Turn::Put(next, answer) => match self.swap(word, next) {
                    Ok(()) => return answer,
                    Err(found) => word = found,
                },
            }
        }
    }

    /// Puts `next` where `word` is still there, or says what is.
    #[inline]
    pub(crate) fn swap(&self, word: u64, next: u64) -> Result<(), u64> {
        // AcqRel: pairs with itself and with the Acquire of `load`, in the thread that finds `next`.
        // Acquire on failure: pairs with the AcqRel of the exchange that was faster; its word is decided on next.
        self.0.compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire).map(drop)
    }
}

/// The highest value ever raised to.
#[derive(Debug)]
pub struct HighMark(AtomicU64);

impl HighMark {
    pub(crate) fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: a mark publishes nothing but itself. Where it must be seen together with a word, it is raised before the
        // word is put and read after the word was found, and the word's Release and Acquire carry it.
        self.0.load(Ordering::Relaxed)
    }

    /// Writes only if need be: whoever reads keeps the line.
    #[inline]
    pub(crate) fn raise(&self, value: u64) {
        if self.get() < value {
            // Relaxed: as in `get`.
            self.0.fetch_max(value, Ordering::Relaxed);
        }
    }
}

/// A value on cache lines of its own, so that writing it does not take what lies beside it from other cores. Two lines:
/// processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

impl<T> Deref for Apart<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
