//! What a log points to, and the only `unsafe` code of the log.
//!
//! A pointer that is swapped while others read what it pointed to. Readers are pinned; what was swapped out is dropped when
//! everybody who was pinned then is not any more.

#![allow(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;
use core::ptr;

use crate::sync::{AtomicPtr, Ordering};

/// Keeps what a [`Current`] points to for as long as it lives.
///
/// # Safety
/// What is given to [`retire`](Self::retire) while `self` lives must not be dropped before `self` and every other guard that lives
/// at that time are gone.
pub(crate) unsafe trait Guard {
    /// Drops it later.
    fn retire<T: Send + 'static>(&self, unlinked: Box<T>);
}

// SAFETY: that is what an epoch's guard is for: a deferred function runs when no thread is pinned that was pinned when it
// was deferred.
unsafe impl Guard for crossbeam_epoch::Guard {
    fn retire<T: Send + 'static>(&self, unlinked: Box<T>) {
        self.defer(move || drop(unlinked));
    }
}

/// A value that is there, not yet, or not any more.
pub(crate) enum Found<'g, T> {
    /// Nothing was ever put.
    Unset,
    /// The value.
    Value(&'g T),
    /// Nothing will ever be put again.
    Dead,
}

/// A replaceable value.
pub(crate) struct Current<T> {
    pointer: AtomicPtr<T>,
    owns: PhantomData<T>,
}

/// The pointer that says dead: no box is there, as `T` is aligned to more.
fn dead<T>() -> *mut T {
    const { assert!(align_of::<T>() > 1) };
    ptr::without_provenance_mut(1)
}

impl<T> Current<T> {
    pub(crate) fn new() -> Self {
        Self { pointer: AtomicPtr::new(ptr::null_mut()), owns: PhantomData }
    }

    /// What is there now.
    #[inline]
    pub(crate) fn get<'g>(&self, _: &'g impl Guard) -> Found<'g, T> {
        // Acquire: pairs with the Release of the exchange in `put`: the value's contents.
        let pointer = self.pointer.load(Ordering::Acquire);
        if pointer.is_null() {
            Found::Unset
        } else if pointer == dead() {
            Found::Dead
        } else {
            // SAFETY: it came from a box in `replace`, and is dropped only after it was swapped out, through a guard's
            // `retire`: not before our guard is gone, which was there when we read the pointer.
            Found::Value(unsafe { &*pointer })
        }
    }

    /// Puts the first value.
    pub(crate) fn start(&self, value: Box<T>) -> bool {
        self.put(ptr::null_mut(), Box::into_raw(value))
    }

    /// Nothing was ever put, and nothing will be.
    pub(crate) fn die(&self) -> bool {
        self.put(ptr::null_mut(), dead())
    }
}

impl<T: Send + 'static> Current<T> {
    /// Puts `new`, or nothing for ever, in the place of `old`, which is what [`get`](Self::get) found under this guard.
    pub(crate) fn replace(&self, guard: &impl Guard, old: &T, new: Option<Box<T>>) -> bool {
        let old = ptr::from_ref(old).cast_mut();
        let done = self.put(old, new.map_or_else(dead, Box::into_raw));
        if done {
            // SAFETY: it came from a box, and was in `pointer` until the exchange above, which happens once for it: while
            // our guard lives it is not dropped, so no other box has its address. Nobody who is pinned from now on finds it.
            guard.retire(unsafe { Box::from_raw(old) });
        }
        done
    }
}

impl<T> Current<T> {
    /// Drops `new` again if it is not wanted.
    fn put(&self, old: *mut T, new: *mut T) -> bool {
        // AcqRel: Release pairs with the Acquire in `get`, and passes on what made the old value old.
        // Relaxed on failure: whoever was faster is found by `get`.
        let done = self.pointer.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !done && new != dead() {
            // SAFETY: the callers made it from a box, and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
        }
        done
    }
}

impl<T> Drop for Current<T> {
    fn drop(&mut self) {
        // Relaxed: nobody else is left, and whoever handed us the last reference has synchronised with us.
        let pointer = self.pointer.load(Ordering::Relaxed);
        if !pointer.is_null() && pointer != dead() {
            // SAFETY: it came from a box, and whatever was swapped out is not in here.
            drop(unsafe { Box::from_raw(pointer) });
        }
    }
}

impl<T> fmt::Debug for Current<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").finish_non_exhaustive()
    }
}
