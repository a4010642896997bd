//! A pointer to what is replaced while others read it, and the only `unsafe` code of the log.
//!
//! Readers are pinned; what was swapped out is dropped when everybody who was pinned then is not any more.

#![allow(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;
use core::ptr;
use std::sync::Arc;

use crate::sync::{AtomicPtr, Ordering};

/// Keeps what a [`Current`] points to for as long as it lives.
///
/// # Safety
/// What is given to [`retire`](Self::retire) while `self` lives must not be dropped before `self` and every other guard that lives
/// at that time are gone.
pub(crate) unsafe trait Guard {
    /// Drops it later.
    fn retire<P: Owner + Send + 'static>(&self, unlinked: P);
}

// SAFETY: that is what an epoch's guard is for: a deferred function runs when no thread is pinned that was pinned when it
// was deferred.
unsafe impl Guard for crossbeam_epoch::Guard {
    fn retire<P: Owner + Send + 'static>(&self, unlinked: P) {
        self.defer(move || drop(unlinked));
    }
}

/// What owns a value by its address.
///
/// # Safety
/// The value stays at the address for as long as the owner, or what is made from the address in its place, is there.
pub(crate) unsafe trait Owner {
    /// What is owned.
    type Value;

    /// The address, which owns from now on.
    fn into_raw(self) -> *mut Self::Value;

    /// The owner again.
    ///
    /// # Safety
    /// Once for each [`into_raw`](Self::into_raw).
    unsafe fn from_raw(pointer: *mut Self::Value) -> Self;
}

// SAFETY: a box's value is on the heap, and is moved with it.
unsafe impl<T> Owner for Box<T> {
    type Value = T;

    fn into_raw(self) -> *mut T {
        Self::into_raw(self)
    }

    unsafe fn from_raw(pointer: *mut T) -> Self {
        // SAFETY: as the caller says.
        unsafe { Self::from_raw(pointer) }
    }
}

// SAFETY: as for a box, until the last owner is dropped.
unsafe impl<T> Owner for Arc<T> {
    type Value = T;

    fn into_raw(self) -> *mut T {
        Self::into_raw(self).cast_mut()
    }

    unsafe fn from_raw(pointer: *mut T) -> Self {
        // SAFETY: as the caller says.
        unsafe { Self::from_raw(pointer) }
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
pub(crate) struct Current<P: Owner> {
    pointer: AtomicPtr<P::Value>,
    owns: PhantomData<P>,
}

/// The pointer that says dead: nothing is there, as `T` is aligned to more.
fn dead<T>() -> *mut T {
    const { assert!(align_of::<T>() > 1) };
    ptr::without_provenance_mut(1)
}

fn is_value<T>(pointer: *mut T) -> bool {
    !pointer.is_null() && pointer != dead()
}

impl<P: Owner> Current<P> {
    pub(crate) fn new() -> Self {
        Self { pointer: AtomicPtr::new(ptr::null_mut()), owns: PhantomData }
    }

    /// What is there now.
    #[inline]
    pub(crate) fn get<'g>(&'g self, _: &'g impl Guard) -> Found<'g, P::Value> {
        // Acquire: pairs with the Release of the exchange in `put`: the value's contents.
        let pointer = self.pointer.load(Ordering::Acquire);
        if is_value(pointer) {
            // SAFETY: it came from an owner in `put`, which is dropped only with us, or after it was swapped out, through
            // a guard's `retire`: not before our guard is gone, which was there when we read the pointer.
            Found::Value(unsafe { &*pointer })
        } else if pointer.is_null() {
            Found::Unset
        } else {
            Found::Dead
        }
    }

    /// Puts the first value.
    pub(crate) fn start(&self, value: P) -> bool
    where
        P: Send,
    {
        self.put(ptr::null_mut(), value.into_raw()).is_some()
    }

    /// Nothing was ever put, and nothing will be.
    pub(crate) fn die(&self) -> bool {
        self.put(ptr::null_mut(), dead()).is_some()
    }

    /// Drops `new` again if it is not wanted.
    fn put(&self, old: *mut P::Value, new: *mut P::Value) -> Option<*mut P::Value> {
        // AcqRel: Release pairs with the Acquire in `get`, and passes on what made the old value old.
        // Relaxed on failure: whoever was faster is found by `get`.
        let done = self.pointer.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).ok();
        if done.is_none() && is_value(new) {
            // SAFETY: the callers made it from an owner, and nobody else has it from here.
            drop(unsafe { P::from_raw(new) });
        }
        done
    }
}

impl<P: Owner + Send + 'static> Current<P> {
    /// Puts `new`, or nothing for ever, in the place of `old`, which is what [`get`](Self::get) found under this guard.
    pub(crate) fn replace(&self, guard: &impl Guard, old: &P::Value, new: Option<P>) -> bool {
        self.swap(guard, old, new.map_or_else(dead, P::into_raw))
    }

    /// Takes `old` out, as if nothing had ever been put.
    pub(crate) fn clear(&self, guard: &impl Guard, old: &P::Value) {
        self.swap(guard, old, ptr::null_mut());
    }

    fn swap(&self, guard: &impl Guard, old: &P::Value, new: *mut P::Value) -> bool {
        let out = self.put(ptr::from_ref(old).cast_mut(), new);
        if let Some(out) = out {
            // SAFETY: it came from an owner that was put, and each exchange takes out one: while our guard lives nothing that
            // was put is dropped, so no other value has its address. Nobody who is pinned from now on finds it.
            guard.retire(unsafe { P::from_raw(out) });
        }
        out.is_some()
    }
}

impl<P: Owner> Drop for Current<P> {
    fn drop(&mut self) {
        // Relaxed: nobody else is left, and whoever handed us the last reference has synchronised with us.
        let pointer = self.pointer.load(Ordering::Relaxed);
        if is_value(pointer) {
            // SAFETY: it came from an owner, and whatever was swapped out is not in here.
            drop(unsafe { P::from_raw(pointer) });
        }
    }
}

impl<P: Owner> fmt::Debug for Current<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").finish_non_exhaustive()
    }
}
