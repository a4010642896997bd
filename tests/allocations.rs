//! A check of several rules allocates nothing, whatever it answers; nor does a tick of the game loop of the examples.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tollgate::{Limits, ManualClock, Quota, Rule};

// What its `main` prints is not asked for here.
#[allow(dead_code)]
#[path = "../examples/game_loop.rs"]
mod game_loop;

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

#[test]
fn a_tick_allocates_nothing_and_is_the_same_in_every_run() {
    let play = || {
        let mut game = game_loop::Game::new().unwrap();
        game.tick();
        let before = ALLOCATIONS.get();
        (1..600).for_each(|_| game.tick());
        assert_eq!(ALLOCATIONS.get(), before);
        game.tallies.map(|tally| [tally.passed, tally.packets, tally.bytes, tally.chat])
    };
    let expected = [[600, 0, 0, 0], [688, 512, 0, 0], [292, 0, 308, 0], [589, 0, 0, 11]];
    assert_eq!([play(), play()], [expected, expected]);
}
