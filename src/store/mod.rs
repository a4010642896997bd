//! From a key to its word.
//!
//! | store | memory | keys | a check of a known key | a new key |
//! |---|---|---|---|---|
//! | [`Table`] | fixed when built, about 22 bytes a key | 64-bit keyed hash | lock-free, one cache line | lock-free |
//! | [`Map`] | grows with the keys, until [`evict_idle`](crate::Limiter::evict_idle) | exact | lock-free | takes the lock of a bin |
//!
//! A store knows nothing of algorithms: it is told what an idle word looks like ([`Life`]) and what to do with the word
//! it finds.

mod front;
mod hasher;
mod map;
mod single;
mod table;

pub use hasher::{KeyHasher, KeyState};
pub use map::Map;
pub use single::Single;
pub use table::{Overflow, Table};

use crate::cell::HighMark;
pub(crate) use crate::cell::Turn;
use crate::log::{Dead, Log, Pin};

/// What a fresh word and an idle one look like at the time of a call.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// The word of a key never seen.
    pub(crate) fresh: u64,
    /// How far below it an idle word is.
    pub(crate) lead: u64,
}

impl Life {
    /// Forgetting the word changes no decision at this time or later.
    #[inline]
    pub(crate) const fn is_idle(self, word: u64) -> bool {
        word.saturating_add(self.lead) <= self.fresh
    }

    /// What a newcomer starts with that may have been charged as `debt` elsewhere: that if it still counts, or else `base`.
    pub(crate) const fn start(self, base: u64, debt: u64) -> u64 {
        if debt.saturating_add(self.lead) > base { debt } else { base }
    }

    /// Idle, and below whatever a newcomer starts with: no word of the newcomer's equals it.
    #[inline]
    pub(crate) const fn is_claimable(self, word: u64) -> bool {
        word.saturating_add(self.lead) < self.fresh
    }
}

/// There was no room for a new key, and what the settings say about that.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Refuse it.
    Deny,
    /// Let it pass uncounted.
    Allow,
}

/// A word that was found, and where. A decision on it is inlined where it is made, which one that is handed through the
/// store is not.
#[doc(hidden)]
pub trait Found {
    /// The word.
    fn word(&self) -> u64;

    /// Puts the next word, if the one that was found is still there.
    fn put(&self, next: u64) -> bool;

    /// Whether the word that was found is still there.
    fn is_still_there(&self) -> bool;
}

/// Where the words of a limiter live. Sealed: [`Table`], [`Map`] and [`Single`] implement it.
pub trait Store: sealed::Sealed {
    /// What finds a key again without the key.
    type Token;

    /// What is worked out of a key once, before it is looked for.
    #[doc(hidden)]
    type Hint: Copy;

    /// A word that was found.
    #[doc(hidden)]
    type Found<'a>: Found
    where
        Self: 'a;

    /// The word of a key that has been charged, if it is where it is looked for first.
    #[doc(hidden)]
    fn find(&self, hint: Self::Hint) -> Option<Self::Found<'_>>;

    /// Has what `find` reads fetched, without waiting for it.
    #[doc(hidden)]
    fn prefetch(&self, _: Self::Hint) {}

    /// [`Lookup::decide`] by token.
    #[doc(hidden)]
    fn decide_token<T>(
        &self,
        token: &Self::Token,
        life: Life,
        turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom>;

    /// [`Lookup::visit`] by token.
    #[doc(hidden)]
    fn visit_token<T>(&self, token: &Self::Token, turn: impl FnMut(u64) -> Turn<T>) -> Option<T>;

    /// [`Lookup::log`] by token.
    #[doc(hidden)]
    fn log_token<T>(&self, token: &Self::Token, visit: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T>;

    /// [`Lookup::log_or_new`] by token.
    #[doc(hidden)]
    fn log_or_new_token<T>(
        &self,
        guard: &Pin,
        token: &Self::Token,
        visit: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T>;

    /// Keys that are not idle.
    #[doc(hidden)]
    fn len(&self, life: Life) -> usize;

    /// Keys with a log that counts.
    #[doc(hidden)]
    fn count_logs(&self, counts: impl Fn(&Log) -> bool) -> usize;

    /// Keys that the store was built for, if that is bounded.
    #[doc(hidden)]
    fn capacity(&self) -> Option<usize>;
}

/// A [`Store`] that finds keys by a borrowed form `Q`. Sealed.
pub trait Lookup<Q: ?Sized>: Store {
    /// What finds the key again.
    #[doc(hidden)]
    fn token(&self, key: &Q) -> Self::Token;

    /// The same for the same key, and spread evenly over all values.
    #[doc(hidden)]
    fn hash(&self, key: &Q) -> u64;

    /// What [`Store::find`] finds the key by.
    #[doc(hidden)]
    fn hint(&self, key: &Q) -> Self::Hint;

    /// Applies `turn` to the key's word. A new key's word is the fresh one, or what the store remembers of those it
    /// has forgotten; `turn` also gets the store's floor, below which no newcomer starts (0 for a known key). A
    /// newcomer is stored only if `turn` puts something.
    #[doc(hidden)]
    fn decide<T>(
        &self,
        key: &Q,
        hint: Self::Hint,
        life: Life,
        turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom>;

    /// Shows `look` the word and the floor that `decide` would start from, and changes nothing.
    #[doc(hidden)]
    fn peek<T>(&self, key: &Q, life: Life, look: impl FnMut(u64, u64) -> T) -> T;

    /// Applies `turn` to the word of a known key; it may lower the word, though never below the store's floor.
    #[doc(hidden)]
    fn visit<T>(&self, key: &Q, turn: impl FnMut(u64) -> Turn<T>) -> Option<T>;

    /// Shows the log of a known key.
    #[doc(hidden)]
    fn log<T>(&self, key: &Q, visit: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T>;

    /// The log of a key, if it is at hand; it may be dead.
    #[doc(hidden)]
    fn near_log<'g>(&'g self, guard: &'g Pin, key: &Q) -> Option<&'g Log>;

    /// Shows the key's log, a new one if need be, and the mark that nothing new may start before. `None`: this store keeps
    /// no logs.
    #[doc(hidden)]
    fn log_or_new<T>(
        &self,
        guard: &Pin,
        key: &Q,
        visit: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T>;
}

mod sealed {
    pub trait Sealed {}
}
