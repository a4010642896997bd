//! The keys that are denied most, in memory that does not grow.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

use crate::cell::{Apart, Stripes, place};
use crate::error::BuildError;

/// The most keys that can be followed.
const MAX_KEYS: usize = 1_024;

/// The keys that are denied most: a summary that a [rule](crate::Rule::top_denied) writes to, and whoever wants to know reads.
///
/// It is the Space-Saving summary of Metwally, Agrawal and El Abbadi (2005): so many keys are followed, and one that is not takes
/// the place of the one with the least. So of n denials no key is overestimated by more than n / `keys`, and every key with more
/// than that is there.
///
/// ```
/// use std::sync::Arc;
/// use tollgate::{Limits, Quota, Rule, TopDenied};
/// struct Request { user: u64 }
/// let top = Arc::new(TopDenied::<u64>::new(100)?);
/// let user = |request: &Request| Some(request.user);
/// let limits = Limits::builder()
///     .rule(Rule::new("user", Quota::per_minute(2), user).top_denied(top.clone(), user))
///     .build()?;
/// for _ in 0..5 {
///     let _ = limits.check(&Request { user: 7 });
/// }
/// let worst = &top.top(10)[0];
/// assert_eq!((worst.key, worst.denied, worst.at_most_over), (7, 3, 0));
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// # Cost
/// Nothing where a rule allows. A denial looks for its key in a part of the summary that few threads share; one that finds it
/// taken is not counted, and does not wait. A key that is not followed yet costs a look at all that are.
pub struct TopDenied<K> {
    /// By the threads' places.
    parts: Box<[Apart<Mutex<Summary<K>>>]>,
    missed: Stripes,
}

/// A key that was denied, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denied<K> {
    /// The key.
    pub key: K,
    /// At most so often.
    pub denied: u64,
    /// By so much it may be too many.
    pub at_most_over: u64,
}

/// What one part knows.
struct Summary<K> {
    keys: usize,
    counts: HashMap<K, Count>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    denied: u64,
    over: u64,
}

impl<K: Hash + Eq + Clone> Summary<K> {
    fn add(&mut self, key: K) {
        if let Some(count) = self.counts.get_mut(&key) {
            count.denied += 1;
            return;
        }
        // What was there before may have been this key's, as far as anybody knows.
        let over = self.least().map_or(0, |(key, least)| {
            self.counts.remove(&key);
            least
        });
        self.counts.insert(key, Count { denied: over + 1, over });
    }

    /// The key with the least, if there is room for no other.
    fn least(&self) -> Option<(K, u64)> {
        if self.counts.len() < self.keys {
            return None;
        }
        let least = self.counts.iter().min_by_key(|(_, count)| count.denied);
        least.map(|(key, count)| (key.clone(), count.denied))
    }
}

impl<K> fmt::Debug for TopDenied<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopDenied").field("parts", &self.parts.len()).finish_non_exhaustive()
    }
}

impl<K: Hash + Eq + Clone> TopDenied<K> {
    /// A summary of so many keys.
    ///
    /// # Errors
    /// When they are none, or more than 1 024.
    pub fn new(keys: usize) -> Result<Self, BuildError> {
        if keys == 0 || keys > MAX_KEYS {
            return Err(BuildError::Other(format!("a summary of {keys} keys: write 1 to {MAX_KEYS}")));
        }
        let part = || Apart(Mutex::new(Summary { keys, counts: HashMap::with_capacity(keys) }));
        let parts = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { parts: std::iter::repeat_with(part).take(parts).collect(), missed: Stripes::new(1) })
    }

    /// One more denial of a key.
    pub fn add(&self, key: K) {
        match self.parts[place() % self.parts.len()].0.try_lock() {
            Ok(mut summary) => summary.add(key),
            // Whoever panicked was in the code of a key, and has left counts that are as good as before.
            Err(TryLockError::Poisoned(summary)) => summary.into_inner().add(key),
            Err(TryLockError::WouldBlock) => self.missed.add(0),
        }
    }

    /// The keys denied most, the worst first.
    ///
    /// # Cost
    /// Waits for who is adding to one part after the other, and copies what is followed.
    pub fn top(&self, keys: usize) -> Vec<Denied<K>> {
        let parts: Vec<_> = (0..self.parts.len())
            .map(|part| {
                let part = self.part(part);
                (part.counts.clone(), part.least().map_or(0, |(_, least)| least))
            })
            .collect();
        let mut all: HashMap<&K, Count> = HashMap::new();
        for key in parts.iter().flat_map(|(counts, _)| counts.keys()) {
            // A part that does not follow the key may have forgotten as many of it as it has of any.
            let of_part = |(counts, least): &(HashMap<K, Count>, u64)| {
                counts.get(key).copied().unwrap_or(Count { denied: *least, over: *least })
            };
            let sum = |sum: Count, part: Count| Count {
                denied: sum.denied + part.denied,
                over: sum.over + part.over,
            };
            all.entry(key).or_insert_with(|| parts.iter().map(of_part).fold(Count::default(), sum));
        }
        let denied = |(key, count): (&K, Count)| Denied {
            key: key.clone(),
            denied: count.denied,
            at_most_over: count.over,
        };
        let mut top: Vec<_> = all.into_iter().map(denied).collect();
        top.sort_by_key(|denied| std::cmp::Reverse(denied.denied));
        top.truncate(keys);
        top
    }

    /// Denials that were not counted, as another thread was adding to the same part.
    pub fn missed(&self) -> u64 {
        self.missed.get(0)
    }

    /// Forgets all.
    pub fn clear(&self) {
        (0..self.parts.len()).for_each(|part| self.part(part).counts.clear());
    }

    fn part(&self, part: usize) -> MutexGuard<'_, Summary<K>> {
        // As in `add`.
        self.parts[part].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn none_and_too_many_are_refused() {
        for keys in [0, MAX_KEYS + 1] {
            let error = TopDenied::<u64>::new(keys).unwrap_err().to_string();
            assert!(error.contains("1 to 1024"), "{error}");
        }
    }

    proptest! {
        /// Whatever the stream: no key is underestimated, none overestimated by more than was said, nor by more than the bound,
        /// and none that is over the bound is missing.
        #[test]
        fn the_bound_is_kept(keys in 1..8_usize, stream in prop::collection::vec(0..12_u8, 0..300), threads in 1..4_usize) {
            let top = TopDenied::new(keys).unwrap();
            // One after the other, so that none is missed; each thread has a place of its own.
            for part in stream.chunks(stream.len().div_ceil(threads).max(1)) {
                thread::scope(|scope| {
                    scope.spawn(|| part.iter().for_each(|&key| top.add(key)));
                });
            }
            prop_assert_eq!(top.missed(), 0);
            let found = top.top(usize::MAX);
            let bound = (stream.len() / keys) as u64;
            for key in 0..12 {
                let exact = stream.iter().filter(|&&other| other == key).count() as u64;
                match found.iter().find(|denied| denied.key == key) {
                    Some(denied) => {
                        prop_assert!(denied.denied >= exact && denied.denied - denied.at_most_over <= exact);
                        prop_assert!(denied.denied <= exact + bound, "{} for {exact}, and {bound}", denied.denied);
                    }
                    None => prop_assert!(exact <= bound, "{exact} and {bound}"),
                }
            }
            top.clear();
            prop_assert!(top.top(1).is_empty());
        }
    }

    #[test]
    fn nothing_is_lost_but_what_is_said_to_be() {
        let top = TopDenied::new(4).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|nth: u64| top.add(nth % 4)));
            }
        });
        let counted: u64 = top.top(4).iter().map(|denied| denied.denied).sum();
        assert_eq!(counted + top.missed(), 40_000);
    }
}
