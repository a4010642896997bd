//! An allocator that knows how much is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Counting costs an atomic addition, so it is off where time is measured.
static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static FREED: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Counting;

/// Counts from here on.
pub(crate) fn start() {
    COUNTING.store(true, Ordering::Relaxed);
}

/// Bytes that were asked for since [`start`], and not given back.
pub(crate) fn live_bytes() -> usize {
    ALLOCATED.load(Ordering::Relaxed).saturating_sub(FREED.load(Ordering::Relaxed))
}

fn count(counter: &AtomicUsize, bytes: usize) {
    if COUNTING.load(Ordering::Relaxed) {
        counter.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call is handed on to `System` as it came, and its answer back; the counters allocate
// nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(&ALLOCATED, layout.size());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(&ALLOCATED, layout.size());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(&FREED, layout.size());
        count(&ALLOCATED, new_size);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(old, layout, new_size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        count(&FREED, layout.size());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(old, layout) }
    }
}
