//! How many at once: permits that are held for as long as the work takes.

use core::fmt;
use core::marker::PhantomData;
use std::hash::Hash;

use crate::algorithm::permits;
use crate::error::BuildError;
use crate::store::{KeyHasher, Life, Lookup, Overflow, Store, Table, Turn};

/// At most so many at once for each key, so that slow requests cannot pile up within a rate that is kept.
///
/// A [`Permit`] is held until it is dropped. [`acquire_if_at`](Self::acquire_if_at) asks a rate as well, and takes both or neither.
///
/// ```
/// use tollgate::{Limiter, Permits, Quota, Refused};
/// let rate = Limiter::<str>::new(Quota::per_second(100))?;
/// let at_once = Permits::<str>::new(2, 10_000)?;
/// let ask = || at_once.acquire_if_at("alice", 0, || rate.check_at("alice", 0).into_result());
/// let (first, second) = (ask().unwrap(), ask().unwrap());
/// assert_eq!(ask().unwrap_err(), Refused::AtOnce);
/// drop(first);
/// let (permit, decision) = ask().unwrap();
/// // What was refused by one took nothing of the other.
/// assert_eq!((at_once.out("alice"), decision.remaining()), (2, 97));
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// # Cost
/// About 22 bytes a key of the capacity, allocated when built. Taking a permit and putting it back write one cache line each. Nothing
/// blocks. A key is forgotten when it has no permit out.
pub struct Permits<K: ?Sized> {
    words: Table,
    max: u64,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized> fmt::Debug for Permits<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permits").field("max", &self.max).field("words", &self.words).finish()
    }
}

/// Why there is no permit. Nothing was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused<E> {
    /// As many as there may be are out, or there is no room for one more key: when one comes back, nobody knows.
    AtOnce,
    /// The rate refused.
    Rate(E),
}

impl<E: fmt::Display> fmt::Display for Refused<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtOnce => f.write_str("too many at once: wait for one to end"),
            Self::Rate(refusal) => refusal.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for Refused<E> {}

/// One of the key's permits. Dropping it puts it back.
#[must_use = "a permit that is dropped is put back"]
pub struct Permit<'a> {
    words: &'a Table,
    token: <Table as Store>::Token,
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.words.visit_token(&self.token, |word| Turn::Put(permits::put_back(word), ()));
    }
}

fn life(now_ns: u64) -> Life {
    Life { fresh: permits::fresh(now_ns), lead: 0 }
}

impl<K: ?Sized> Permits<K> {
    /// At most `max` permits of each key, and room for so many keys with a permit out at once.
    ///
    /// # Errors
    /// When `max` is 0 or above 65 535, the capacity is 0, or there is no memory for it.
    pub fn new(max: u64, capacity: usize) -> Result<Self, BuildError> {
        if max == 0 || max > permits::MAX_PERMITS {
            let most = permits::MAX_PERMITS;
            return Err(BuildError::Other(format!("{max} permits at once: write 1 to {most}")));
        }
        let words = Table::new(capacity, Overflow::Deny, KeyHasher::default())?;
        Ok(Self { words, max, key: PhantomData })
    }

    /// Permits that one key may have at once.
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// Keys with a permit out.
    ///
    /// # Cost
    /// Reads the whole table.
    pub fn keys(&self) -> usize {
        self.words.len(life(u64::MAX))
    }
}

impl<K: ?Sized + Hash> Permits<K> {
    /// A permit, if one is left. The time says which keys can be forgotten, to make room for this one, and need be right to a few
    /// milliseconds only; by a time that stands still no key is ever forgotten.
    pub fn acquire_at(&self, key: &K, now_ns: u64) -> Option<Permit<'_>> {
        let life = life(now_ns);
        let turn = |word, _| match permits::take(word, life.fresh, self.max) {
            Some(next) => Turn::Put(next, true),
            None => Turn::Keep(false),
        };
        let taken = self.words.decide(key, self.words.hint(key), life, turn) == Ok(true);
        taken.then(|| Permit { words: &self.words, token: self.words.token(key) })
    }

    /// A permit, and what a rate allows: both or neither. The rate is asked when there is a permit, which is put back if it
    /// refuses: for that moment, another call may find it missing.
    ///
    /// # Errors
    /// Which of the two refused.
    pub fn acquire_if_at<T, E>(
        &self,
        key: &K,
        now_ns: u64,
        rate: impl FnOnce() -> Result<T, E>,
    ) -> Result<(Permit<'_>, T), Refused<E>> {
        let permit = self.acquire_at(key, now_ns).ok_or(Refused::AtOnce)?;
        let allowed = rate().map_err(Refused::Rate)?;
        Ok((permit, allowed))
    }

    /// Permits of a key that are out.
    pub fn out(&self, key: &K) -> u64 {
        self.words.visit(key, |word| Turn::Keep(permits::count(word))).unwrap_or(0)
    }
}
