//! A check of several rules allocates nothing, whatever it answers.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tollgate::{Limits, ManualClock, Quota, Rule};

thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is handed on to `System` as it came, and its answer back; the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(old, layout) }
    }
}

struct Request {
    user: String,
}

fn user(request: &Request) -> Option<&str> {
    Some(&request.user)
}

#[test]
fn a_check_allocates_nothing() {
    let rules = (0..9).map(|index| Rule::new(&index.to_string(), Quota::per_second(1_000), user));
    let limits =
        rules.fold(Limits::builder().clock(ManualClock::new(0)).counters(), |all, rule| all.rule(rule));
    let limits = limits
        .rule(Rule::new("shadow", Quota::per_second(10), user).shadow())
        .rule(Rule::global("global", Quota::per_second(1_500)))
        .build()
        .unwrap();
    let requests = ["alice", "bob"].map(|user| Request { user: user.to_owned() });
    // The first check of a thread registers it.
    assert!(limits.check(&requests[0]).is_allowed());
    let before = ALLOCATIONS.get();
    // New keys, known ones, and refusals by the first rule and by the last.
    let admitted =
        requests.iter().map(|request| (0..2_000).filter(|_| limits.check(request).is_allowed()).count());
    assert_eq!(admitted.sum::<usize>(), 1_499);
    assert_eq!(limits.peek(&requests[1]).rule(), Some("global"));
    assert_eq!(ALLOCATIONS.get(), before);
    drop(vec![0_u8; 16]);
    assert_ne!(ALLOCATIONS.get(), before, "the allocator is asked");
}
