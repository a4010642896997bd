//! The hands of a limiter, by key, and a thread's shorter way to those that it used last.

use std::array;
use std::cell::RefCell;
use std::hash::BuildHasher;
use std::sync::Arc;

use super::hand::Hand;
use crate::redis::key::RedisKey;
use crate::store::KeyHasher;
use crate::sync::{AtomicU64, Ordering};

/// Keys that have leases at once; those beyond are decided by Redis.
const MAX_KEYS: usize = 65_536;

/// Hands that a thread finds without the map.
const NEAR: usize = 64;

pub(super) struct Hands {
    map: flurry::HashMap<Vec<u8>, Arc<Hand>, KeyHasher>,
    hasher: KeyHasher,
    /// Of no other in this process, ever.
    id: u64,
}

/// What a thread has at hand, of all limiters.
struct Desk {
    /// For a key that has no bytes until they are written: nothing is allocated.
    written: Vec<u8>,
    /// Hands and whose they are, by the hashes of their keys.
    near: [Option<(u64, Arc<Hand>)>; NEAR],
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::new(Desk { written: Vec::new(), near: array::from_fn(|_| None) });
}

impl Hands {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let hasher = KeyHasher::default();
        let map = flurry::HashMap::with_hasher(hasher.clone());
        // Relaxed: all that counts is that no two are the same.
        Self { map, hasher, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// What `ask` says of the hand of a key, if there is one. `None` as well where a key asks for another while it is written, and
    /// where the thread is ending.
    #[inline]
    pub(super) fn near<T>(
        &self,
        key: &(impl RedisKey + ?Sized),
        ask: impl FnOnce(&Arc<Hand>) -> Option<T>,
    ) -> Option<T> {
        let answer = DESK.try_with(|desk| {
            let Desk { written, near } = &mut *desk.try_borrow_mut().ok()?;
            let key = key.as_bytes().unwrap_or_else(|| {
                written.clear();
                key.append_to(written);
                written
            });
            let place = &mut near[self.hasher.hash_one(key) as usize % NEAR];
            match place {
                Some((id, hand)) if *id == self.id && hand.key() == key && !hand.is_gone() => ask(hand),
                _ => ask(&place.insert((self.id, self.get(key)?)).1),
            }
        });
        answer.ok().flatten()
    }

    /// The hand of a key that has one.
    pub(super) fn get(&self, key: &[u8]) -> Option<Arc<Hand>> {
        self.map.pin().get(key).cloned()
    }

    /// The hand of a key, made if there is room for it, with the name that Redis knows it by.
    pub(super) fn get_or_make(&self, key: &[u8], name: &[u8]) -> Option<Arc<Hand>> {
        let map = self.map.pin();
        if let Some(hand) = map.get(key) {
            return Some(hand.clone());
        }
        if map.len() >= MAX_KEYS {
            return None;
        }
        match map.try_insert(key.to_vec(), Arc::new(Hand::new(key, name))) {
            Ok(hand) => Some(hand.clone()),
            Err(taken) => Some(taken.current.clone()),
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Hand>> {
        self.map.pin().values().cloned().collect()
    }

    /// Lets go of a hand that is gone.
    pub(super) fn remove(&self, hand: &Hand) {
        self.map.pin().remove(hand.key());
    }
}
