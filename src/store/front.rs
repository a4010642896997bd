//! A shorter way to what a map holds of a key.
//!
//! The map is what counts: it says which state is a key's. What is found here was the map's when it was put, and the map lets go
//! only of states that are dead and say so, so it is the map's still, or dead. Who finds nothing, or a dead state, asks the map.

use core::{fmt, ptr};
use std::sync::Arc;

use crate::log::{Current, Found, Pin};
use crate::sync::{AtomicU8, AtomicU64, Ordering};

/// States of one line: their hashes and addresses fill a cache line.
const WAYS: usize = 4;

/// Lines to begin with.
const MIN_LINES: usize = 16;

/// States by the hashes of their keys, as far as there is room on their lines.
pub(super) struct Front<T> {
    lines: Current<Box<Lines<T>>>,
    /// Somebody makes other lines: they are large, and one set is enough.
    is_changing: AtomicU8,
}

struct Lines<T>(Box<[Line<T>]>);

#[repr(align(64))]
struct Line<T>([Way<T>; WAYS]);

struct Way<T> {
    /// Of the state's key, as a rule: whoever finds it looks at the key.
    hash: AtomicU64,
    state: Current<Arc<T>>,
}

impl<T> Lines<T> {
    /// A power of two.
    fn new(lines: usize) -> Box<Self> {
        let way = |_| Way { hash: AtomicU64::new(0), state: Current::new() };
        Box::new(Self((0..lines).map(|_| Line(core::array::from_fn(way))).collect()))
    }

    /// The ways of this hash's line, from the one that most of the time is the hash's own: a guess that processors share.
    #[inline]
    fn ways(&self, hash: u64) -> impl Iterator<Item = &Way<T>> {
        let line = &self.0[hash as usize & (self.0.len() - 1)].0;
        let first = (hash >> 32) as usize;
        (0..WAYS).map(move |next| &line[(first + next) % WAYS])
    }
}

impl<T> Front<T> {
    pub(super) fn new() -> Self {
        Self { lines: Current::new(), is_changing: AtomicU8::new(0) }
    }

    /// A state with this hash that `is` the one.
    #[inline]
    pub(super) fn get<'g>(&'g self, guard: &'g Pin, hash: u64, is: impl Fn(&T) -> bool) -> Option<&'g T> {
        let Found::Value(lines) = self.lines.get(guard) else { return None };
        for way in lines.ways(hash) {
            // Relaxed: the state's key decides.
            if way.hash.load(Ordering::Relaxed) == hash
                && let Found::Value(state) = way.state.get(guard)
                && is(state)
            {
                return Some(state);
            }
        }
        None
    }
}

impl<T: Send + Sync + 'static> Front<T> {
    /// Puts a state that the map holds, among `keys` in all, if there is room.
    pub(super) fn put(
        &self,
        guard: &Pin,
        hash: u64,
        state: &Arc<T>,
        keys: usize,
        is_dead: impl Fn(&T) -> bool,
    ) {
        let lines = match self.lines.get(guard) {
            Found::Value(lines) if keys <= lines.0.len() * WAYS / 2 => lines,
            Found::Value(old) => return self.change(guard, Some(old), old.0.len() * 2),
            _ => return self.change(guard, None, MIN_LINES),
        };
        for way in lines.ways(hash) {
            let done = match way.state.get(guard) {
                Found::Value(old) if ptr::eq(old, &**state) => return,
                Found::Value(old) if is_dead(old) => way.state.replace(guard, old, Some(state.clone())),
                Found::Unset => way.state.start(state.clone()),
                _ => false,
            };
            if done {
                // Relaxed: as in `get`.
                way.hash.store(hash, Ordering::Relaxed);
                return;
            }
        }
    }

    /// Other lines in the place of these, empty: what is in use comes back. Unless somebody else is at it.
    fn change(&self, guard: &Pin, old: Option<&Lines<T>>, lines: usize) {
        // Acquire: pairs with the Release store below: who is next finds the lines of the one before.
        // Relaxed on failure: nothing is read.
        if self.is_changing.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return;
        }
        match (old, self.lines.get(guard)) {
            (Some(old), Found::Value(now)) if ptr::eq(old, now) => {
                self.lines.replace(guard, old, Some(Lines::new(lines)));
            }
            (None, Found::Unset) => _ = self.lines.start(Lines::new(lines)),
            _ => {}
        }
        // Release: pairs with the Acquire above.
        self.is_changing.store(0, Ordering::Release);
    }

    /// Lets go of the dead, and of lines that are far too many for `keys`.
    pub(super) fn sweep(&self, guard: &Pin, keys: usize, is_dead: impl Fn(&T) -> bool) {
        let Found::Value(lines) = self.lines.get(guard) else { return };
        let enough = (keys / WAYS * 2 + 1).next_power_of_two().max(MIN_LINES);
        if lines.0.len() > 4 * enough {
            return self.change(guard, Some(lines), enough);
        }
        for way in lines.0.iter().flat_map(|line| &line.0) {
            if let Found::Value(state) = way.state.get(guard)
                && is_dead(state)
            {
                way.state.clear(guard, state);
            }
        }
    }
}

impl<T> fmt::Debug for Front<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Front").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicBool;

    use super::*;
    use crate::log;

    /// A state: its key, and whether it is dead.
    type State = (u64, AtomicBool);

    fn is_dead(state: &State) -> bool {
        state.1.load(Ordering::Relaxed)
    }

    fn state(key: u64) -> Arc<State> {
        Arc::new((key, AtomicBool::new(false)))
    }

    fn found(front: &Front<State>, hash: u64, key: u64) -> bool {
        front.get(&log::pin(), hash, |state| state.0 == key).is_some_and(|state| state.0 == key)
    }

    /// A front with lines.
    fn front() -> Front<State> {
        let front = Front::new();
        // The first only makes lines.
        front.put(&log::pin(), 0, &state(0), 1, is_dead);
        front
    }

    #[test]
    fn finds_what_was_put_by_hash_and_key() {
        let front = front();
        assert!(!found(&front, 5, 7));
        front.put(&log::pin(), 5, &state(7), 1, is_dead);
        assert!(found(&front, 5, 7));
        assert!(!found(&front, 5, 8), "another key of that hash");
        assert!(!found(&front, 6, 7), "another hash");
    }

    #[test]
    fn a_full_line_takes_nothing_until_one_of_it_is_dead() {
        let front = front();
        let states: Vec<_> = (0..=WAYS as u64).map(state).collect();
        let hash = |key: u64| key * MIN_LINES as u64;
        for (key, state) in (0..).zip(&states) {
            front.put(&log::pin(), hash(key), state, 1, is_dead);
        }
        let last = WAYS as u64;
        assert!((0..last).all(|key| found(&front, hash(key), key)));
        assert!(!found(&front, hash(last), last));
        states[1].1.store(true, Ordering::Relaxed);
        front.put(&log::pin(), hash(last), &states[WAYS], 1, is_dead);
        assert!(found(&front, hash(last), last) && !found(&front, hash(1), 1));
    }

    #[test]
    fn grows_with_the_keys() {
        let front = front();
        let keys = MIN_LINES * WAYS;
        front.put(&log::pin(), 1, &state(1), keys, is_dead);
        assert!(!found(&front, 1, 1), "the new lines are empty");
        front.put(&log::pin(), 1, &state(1), keys, is_dead);
        assert!(found(&front, 1, 1));
    }

    #[test]
    fn lets_go_of_the_dead() {
        let front = front();
        let states = [state(1), state(2)];
        for state in &states {
            front.put(&log::pin(), state.0, state, 2, is_dead);
        }
        states[0].1.store(true, Ordering::Relaxed);
        front.sweep(&log::pin(), 1, is_dead);
        assert!(!found(&front, 1, 1) && found(&front, 2, 2));
    }

    #[test]
    fn shrinks_with_the_keys() {
        let front = front();
        let lines = |front: &Front<State>| match front.lines.get(&log::pin()) {
            Found::Value(lines) => lines.0.len(),
            _ => 0,
        };
        for _ in 0..3 {
            let keys = lines(&front) * WAYS;
            front.put(&log::pin(), 1, &state(1), keys, is_dead);
        }
        assert_eq!(lines(&front), 8 * MIN_LINES);
        front.sweep(&log::pin(), 4 * MIN_LINES, is_dead);
        assert_eq!(lines(&front), 8 * MIN_LINES, "not by much");
        front.sweep(&log::pin(), 0, is_dead);
        assert_eq!(lines(&front), MIN_LINES);
    }

    #[test]
    fn a_state_is_put_once() {
        let front = front();
        let states = [state(1), state(2)];
        for _ in 0..=WAYS {
            front.put(&log::pin(), 5, &states[0], 1, is_dead);
        }
        front.put(&log::pin(), 5, &states[1], 1, is_dead);
        assert!(found(&front, 5, 1) && found(&front, 5, 2));
    }
}
