//! Exact keys in a concurrent hash map that grows.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use crate::algorithm::MAX_WORD;
use crate::cell::{Cell, HighMark};
use crate::log::{self, Dead, Log, Pin};
use crate::store::front::Front;
use crate::store::{Found, KeyHasher, Life, Lookup, NoRoom, Store, Turn, sealed};

/// The word of a cell whose key has not been charged yet: idle at any time.
const NEW: u64 = 0;

/// The word of a cell that is leaving the map: whoever finds it takes the key out and starts anew.
const DEAD: u64 = u64::MAX;
const _: () = assert!(DEAD > MAX_WORD);

/// What is kept of a key: a limiter uses the word or the log.
#[derive(Debug)]
struct State<K> {
    key: K,
    word: Cell,
    log: Log,
}

impl<K> State<K> {
    fn new(key: K) -> Arc<Self> {
        Arc::new(Self { key, word: Cell::new(NEW), log: Log::new() })
    }

    /// It is leaving the map, or has left it.
    fn is_dead(&self, guard: &Pin) -> bool {
        self.word.load() == DEAD || self.log.is_dead(guard)
    }
}

/// Keys kept whole, in [`flurry`]'s map: no two keys ever share a quota.
///
/// # Cost
/// About 270 bytes a key, and twice the key's own. A check of a known key is lock-free, and most of the time does not come to
/// the map; a new key takes the lock of one bin, and a resize is shared by those who insert. Now and then a check allocates a
/// larger index of the keys in use. Nothing leaves by itself: call
/// [`Limiter::evict_idle`](crate::Limiter::evict_idle) now and then, or use [`Table`](crate::Table).
pub struct Map<K, H = KeyHasher> {
    states: flurry::HashMap<K, Arc<State<K>>, H>,
    front: Front<State<K>>,
    /// Above every word, or time, that was evicted: a newcomer starts no earlier.
    floor: HighMark,
    lanes: KeyHasher,
}

impl<K, H> fmt::Debug for Map<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("keys", &self.states.len()).field("floor", &self.floor).finish()
    }
}

impl<K, H> Map<K, H>
where
    K: Hash + Ord + Clone + Send + Sync + 'static,
    H: BuildHasher,
{
    pub(crate) fn new(hasher: H) -> Self {
        Self {
            states: flurry::HashMap::with_hasher(hasher),
            front: Front::new(),
            floor: HighMark::new(0),
            lanes: KeyHasher::default(),
        }
    }

    /// Takes a dead key out of the map, unless somebody did and put it in anew.
    fn bury<Q>(&self, key: &Q, dead: &Arc<State<K>>)
    where
        K: Borrow<Q>,
        Q: ?Sized + Hash + Ord,
    {
        self.states.pin().compute_if_present(key, |_, now| (!Arc::ptr_eq(now, dead)).then(|| now.clone()));
    }

    /// The state of a key that was asked for before, or of one that is dead.
    #[inline]
    fn known<'g, Q>(&'g self, guard: &'g Pin, hash: u64, key: &Q) -> Option<&'g State<K>>
    where
        K: Borrow<Q>,
        Q: ?Sized + Eq,
    {
        self.front.get(guard, hash, |state| state.key.borrow() == key)
    }

    fn keep_near(&self, guard: &Pin, hash: u64, state: &Arc<State<K>>) {
        self.front.put(guard, hash, state, self.states.len(), |state| state.is_dead(guard));
    }

    /// The log of a key that `known` does not know, or knows as dead.
    #[cold]
    fn far_log<Q, T>(
        &self,
        guard: &Pin,
        hash: u64,
        key: &Q,
        mut visit: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T>
    where
        K: Borrow<Q>,
        Q: ?Sized + Hash + Ord + ToOwned<Owned = K>,
    {
        let states = self.states.pin();
        loop {
            let Some(state) = states.get(key) else {
                _ = states.try_insert(key.to_owned(), State::new(key.to_owned()));
                continue;
            };
            match visit(&state.log, &self.floor) {
                Ok(answer) => {
                    self.keep_near(guard, hash, state);
                    return Some(answer);
                }
                Err(Dead) => self.bury(key, state),
            }
        }
    }

    /// Forgets the keys that are idle, and says how many. Checks go on meanwhile.
    pub(crate) fn evict_idle(&self, life: Life) -> usize {
        self.evict(|state| {
            let word = state.word.load();
            if word == DEAD || !life.is_idle(word) {
                return false;
            }
            // Before the word goes, so that whoever misses it finds the floor.
            self.floor.raise(life.fresh);
            state.word.swap(word, DEAD).is_ok()
        })
    }

    /// [`evict_idle`](Self::evict_idle) of keys with logs: `die` kills the idle ones, and raises the floor before.
    pub(crate) fn evict_idle_logs(&self, die: impl Fn(&Log, &HighMark) -> bool) -> usize {
        self.evict(|state| die(&state.log, &self.floor))
    }

    fn evict(&self, die: impl Fn(&State<K>) -> bool) -> usize {
        let states = self.states.pin();
        let dead = states.iter().filter(|(_, state)| die(state));
        let count = dead.map(|(key, state)| self.bury(key, state)).count();
        let guard = log::pin();
        self.front.sweep(&guard, states.len(), |state| state.is_dead(&guard));
        count
    }

    /// What a new key starts with, and the floor. To be asked after its word was looked for: whoever evicted the key has
    /// raised the floor before.
    fn start(&self, life: Life) -> (u64, u64) {
        let floor = self.floor.get();
        (life.fresh.max(floor), floor)
    }

    /// `turn` on the word of a state, or on that of a new key.
    fn turn_from<T>(
        &self,
        state: &State<K>,
        life: Life,
        mut turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Option<T> {
        Self::turn(&state.word, |word| {
            let (word, floor) = if word == NEW { self.start(life) } else { (word, 0) };
            turn(word, floor)
        })
    }

    /// `turn` on the word of a cell, or `None` when the cell is dead.
    fn turn<T>(cell: &Cell, mut turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        cell.turn(|word| {
            if word == DEAD {
                return Turn::Keep(None);
            }
            match turn(word) {
                Turn::Keep(answer) => Turn::Keep(Some(answer)),
                Turn::Put(next, answer) => Turn::Put(next, Some(answer)),
            }
        })
    }
}

/// No word.
#[doc(hidden)]
#[derive(Debug)]
pub enum Nowhere {}

impl Found for Nowhere {
    fn word(&self) -> u64 {
        match *self {}
    }

    fn put(&self, _: u64) -> bool {
        match *self {}
    }

    fn is_still_there(&self) -> bool {
        match *self {}
    }
}

impl<K, H> sealed::Sealed for Map<K, H> {}

impl<K, H> Store for Map<K, H>
where
    K: Hash + Ord + Clone + Send + Sync + 'static,
    H: BuildHasher,
{
    type Token = K;
    type Hint = ();
    type Found<'a>
        = Nowhere
    where
        Self: 'a;

    /// A word is reached only while the map is pinned.
    #[inline]
    fn find(&self, (): ()) -> Option<Nowhere> {
        None
    }

    fn decide_token<T>(
        &self,
        key: &K,
        life: Life,
        turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        self.decide(key, (), life, turn)
    }

    fn visit_token<T>(&self, key: &K, turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        self.visit(key, turn)
    }

    fn log_token<T>(&self, key: &K, visit: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T> {
        self.log(key, visit)
    }

    fn log_or_new_token<T>(
        &self,
        guard: &Pin,
        key: &K,
        visit: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T> {
        self.log_or_new(guard, key, visit)
    }

    fn len(&self, life: Life) -> usize {
        let live = |state: &State<K>| {
            let word = state.word.load();
            word != DEAD && !life.is_idle(word)
        };
        self.states.pin().values().filter(|state| live(state)).count()
    }

    fn count_logs(&self, counts: impl Fn(&Log) -> bool) -> usize {
        self.states.pin().values().filter(|state| counts(&state.log)).count()
    }

    fn capacity(&self) -> Option<usize> {
        None
    }
}

impl<K, Q, H> Lookup<Q> for Map<K, H>
where
    K: Borrow<Q> + Hash + Ord + Clone + Send + Sync + 'static,
    Q: ?Sized + Hash + Ord + ToOwned<Owned = K>,
    H: BuildHasher,
{
    fn token(&self, key: &Q) -> K {
        key.to_owned()
    }

    fn hash(&self, key: &Q) -> u64 {
        self.lanes.hash_one(key)
    }

    #[inline]
    fn hint(&self, _: &Q) {}

    fn decide<T>(
        &self,
        key: &Q,
        (): (),
        life: Life,
        mut turn: impl FnMut(u64, u64) -> Turn<T>,
    ) -> Result<T, NoRoom> {
        let (guard, hash) = (log::pin(), self.hash(key));
        if let Some(answer) =
            self.known(&guard, hash, key).and_then(|state| self.turn_from(state, life, &mut turn))
        {
            return Ok(answer);
        }
        let states = self.states.pin();
        loop {
            let Some(state) = states.get(key) else {
                let (word, floor) = self.start(life);
                if let Turn::Keep(answer) = turn(word, floor) {
                    return Ok(answer);
                }
                // Uncharged. A charge decided before the key was in the map could miss that it was evicted meanwhile.
                _ = states.try_insert(key.to_owned(), State::new(key.to_owned()));
                continue;
            };
            match self.turn_from(state, life, &mut turn) {
                Some(answer) => {
                    self.keep_near(&guard, hash, state);
                    return Ok(answer);
                }
                None => self.bury(key, state),
            }
        }
    }

    fn peek<T>(&self, key: &Q, life: Life, mut look: impl FnMut(u64, u64) -> T) -> T {
        let word = self.states.pin().get(key).map(|state| state.word.load());
        match word {
            Some(word) if word != DEAD && word != NEW => look(word, 0),
            _ => {
                let (word, floor) = self.start(life);
                look(word, floor)
            }
        }
    }

    fn visit<T>(&self, key: &Q, turn: impl FnMut(u64) -> Turn<T>) -> Option<T> {
        self.states.pin().get(key).and_then(|state| Self::turn(&state.word, turn))
    }

    fn log<T>(&self, key: &Q, mut visit: impl FnMut(&Log) -> Result<T, Dead>) -> Option<T> {
        self.states.pin().get(key).and_then(|state| visit(&state.log).ok())
    }

    #[inline]
    fn near_log<'g>(&'g self, guard: &'g Pin, key: &Q) -> Option<&'g Log> {
        self.known(guard, self.hash(key), key).map(|state| &state.log)
    }

    fn log_or_new<T>(
        &self,
        guard: &Pin,
        key: &Q,
        mut visit: impl FnMut(&Log, &HighMark) -> Result<T, Dead>,
    ) -> Option<T> {
        let hash = self.hash(key);
        let near = self.known(guard, hash, key).map(|state| visit(&state.log, &self.floor));
        if let Some(Ok(answer)) = near {
            return Some(answer);
        }
        self.far_log(guard, hash, key, visit)
    }
}
