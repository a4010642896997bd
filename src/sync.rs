//! The only file that names atomics: the standard library's, or those of loom or shuttle when a model is being checked.
//!
//! loom 0.7 remembers one last access per object, so where one thread loads a value and another loads and
//! then writes it, it never tries the write before the first load (loom issues 166 and 392). Under loom every
//! access here therefore first does a relaxed `fetch_add` on one shared counter when the environment variable
//! `TOLLGATE_TICK` is set: all accesses become dependent, and no happens-before edge is added.
//!
//! When `TOLLGATE_STRONG` is set, every load under loom is an addition of nothing instead, which reads the newest value
//! and counts as a write, and every store is an exchange. That has no hole either, and shows nothing about orderings, only about interleavings; but it
//! leaves loom so much less to try that models of three threads come to an end.

#[cfg(not(all(loom, feature = "loom")))]
pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering, fence};
#[cfg(not(all(loom, feature = "loom")))]
pub(crate) use crossbeam_utils::Backoff;
#[cfg(not(all(loom, feature = "loom")))]
pub(crate) use std::sync::{Mutex, MutexGuard};

#[cfg(all(loom, feature = "loom", not(feature = "shuttle")))]
pub(crate) use loom::cell::UnsafeCell;
#[cfg(all(loom, feature = "loom", not(feature = "shuttle")))]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(all(loom, feature = "loom", not(feature = "shuttle")))]
pub(crate) use model::{AtomicPtr, AtomicU8, AtomicU64, Ordering, fence, is_strong, ticks};

#[cfg(all(loom, feature = "shuttle"))]
pub(crate) use shuttle::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering, fence};
#[cfg(all(loom, feature = "shuttle"))]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};

/// No pause in a model: crossbeam's would tell loom that the thread waits for another, and loom would leave interleavings out.
#[cfg(all(loom, feature = "loom"))]
pub(crate) struct Backoff;

#[cfg(all(loom, feature = "loom"))]
impl Backoff {
    pub(crate) const fn new() -> Self {
        Self
    }

    pub(crate) const fn spin(&self) {}
}

#[cfg(all(loom, feature = "loom", not(feature = "shuttle")))]
mod model {
    use std::sync::OnceLock;

    use loom::sync::atomic;
    pub(crate) use loom::sync::atomic::Ordering;

    loom::lazy_static! {
        static ref TICKS: atomic::AtomicUsize = atomic::AtomicUsize::new(0);
    }

    /// Whether accesses are counted.
    pub(crate) fn ticks() -> bool {
        static ON: OnceLock<bool> = OnceLock::new();
        *ON.get_or_init(|| std::env::var_os("TOLLGATE_TICK").is_some())
    }

    /// Whether loads read the newest value.
    pub(crate) fn is_strong() -> bool {
        static ON: OnceLock<bool> = OnceLock::new();
        *ON.get_or_init(|| std::env::var_os("TOLLGATE_STRONG").is_some())
    }

    fn tick() {
        if ticks() {
            // Relaxed: the counter orders nothing, it only makes loom treat every two accesses as dependent.
            TICKS.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn fence(order: Ordering) {
        tick();
        atomic::fence(order);
    }

    macro_rules! atomic {
        ($name:ident, $value:ty) => {
            #[derive(Debug)]
            pub(crate) struct $name(atomic::$name);

            #[allow(dead_code, reason = "no type needs every method")]
            impl $name {
                pub(crate) fn new(value: $value) -> Self {
                    Self(atomic::$name::new(value))
                }
                pub(crate) fn load(&self, order: Ordering) -> $value {
                    tick();
                    if is_strong() { self.0.fetch_add(0, Ordering::AcqRel) } else { self.0.load(order) }
                }
                pub(crate) fn store(&self, value: $value, order: Ordering) {
                    tick();
                    if is_strong() {
                        self.0.swap(value, Ordering::AcqRel);
                    } else {
                        self.0.store(value, order);
                    }
                }
                pub(crate) fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                    tick();
                    self.0.fetch_max(value, order)
                }
                pub(crate) fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                    tick();
                    self.0.fetch_add(value, order)
                }
                pub(crate) fn compare_exchange(
                    &self,
                    old: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    tick();
                    self.0.compare_exchange(old, new, success, failure)
                }
            }
        };
    }
    #[derive(Debug)]
    pub(crate) struct AtomicPtr<T>(atomic::AtomicPtr<T>);

    impl<T> AtomicPtr<T> {
        pub(crate) fn new(value: *mut T) -> Self {
            Self(atomic::AtomicPtr::new(value))
        }
        pub(crate) fn load(&self, order: Ordering) -> *mut T {
            tick();
            self.0.load(order)
        }
        pub(crate) fn compare_exchange(
            &self,
            old: *mut T,
            new: *mut T,
            success: Ordering,
            failure: Ordering,
        ) -> Result<*mut T, *mut T> {
            tick();
            self.0.compare_exchange(old, new, success, failure)
        }
    }

    atomic!(AtomicU8, u8);
    atomic!(AtomicU64, u64);
}
