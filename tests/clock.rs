//! The clocks, against their public face. Nothing here depends on how much time passes while it runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

use proptest::prelude::*;
use tollgate::{
    Clock, CoarseClock, CoarseClockError, DefaultClock, GuardedClock, ManualClock, StdClock, TscClock,
};

/// The window of a guarded clock, as its documentation states it.
const WINDOW_NS: u64 = 1 << 20;
const HOUR_NS: u64 = 3_600_000_000_000;
const STEP: Duration = Duration::from_nanos(100);

/// A guarded clock over two manual ones, both of which also move as time does.
struct Bench {
    fast: ManualClock,
    reference: ManualClock,
    clock: GuardedClock<ManualClock, ManualClock>,
}

impl Bench {
    fn new(fast_ns: u64, reference_ns: u64) -> Self {
        let (fast, reference) = (ManualClock::new(fast_ns), ManualClock::new(reference_ns));
        let clock = GuardedClock::new(fast.clone(), reference.clone());
        Self { fast, reference, clock }
    }

    /// The fast source jumps by `by_ns`, wrapping.
    fn jump(&self, by_ns: i64) {
        self.fast.set(self.fast.now_ns().wrapping_add_signed(by_ns));
    }

    /// Time passes for both sources.
    fn pass(&self, ns: u64) {
        self.fast.set(self.fast.now_ns().wrapping_add(ns));
        self.reference.advance(Duration::from_nanos(ns));
    }
}

#[test]
fn shows_the_references_time() {
    let bench = Bench::new(123_456_789, 1_000);
    assert_eq!(bench.clock.now_ns(), 1_000);
    for _ in 0..100_000 {
        bench.pass(100);
        assert_eq!(bench.clock.now_ns(), bench.reference.now_ns());
    }
}

#[test]
fn a_jump_of_any_size_is_absorbed_and_forgotten() {
    let window = WINDOW_NS as i64;
    let hour = HOUR_NS as i64;
    let sizes = [1, 500, 1_000_000, window - 1, window, window + 1, hour, i64::MAX];
    for by_ns in sizes.into_iter().flat_map(|size| [-size, size]) {
        // A jump back by more than the source has counted wraps it.
        let bench = Bench::new(5 * HOUR_NS, 10 * HOUR_NS);
        let mut last = bench.clock.now_ns();
        // Half a window in, so that jumps of both signs land on both sides of its ends.
        bench.pass(WINDOW_NS / 2);
        last = last.max(bench.clock.now_ns());
        bench.jump(by_ns);
        for _ in 0..30_000 {
            let now = bench.clock.now_ns();
            assert!(now >= last, "stepped back by {} after a jump of {by_ns}", last - now);
            assert!(now.abs_diff(bench.reference.now_ns()) <= WINDOW_NS, "astray after a jump of {by_ns}");
            last = now;
            bench.pass(100);
        }
        assert_eq!(bench.clock.now_ns(), bench.reference.now_ns(), "not forgotten: a jump of {by_ns}");
    }
}

#[test]
fn a_step_back_within_the_window_is_hidden_from_the_thread_that_saw_more() {
    let bench = Bench::new(HOUR_NS, 0);
    bench.pass(1_000);
    assert_eq!(bench.clock.now_ns(), 1_000);
    bench.jump(-500);
    assert_eq!(bench.clock.now_ns(), 1_000);
    // A thread that has seen nothing yet may see the step.
    let other = thread::scope(|scope| scope.spawn(|| bench.clock.now_ns()).join().unwrap());
    assert_eq!(other, 500);
    bench.pass(501);
    assert_eq!(bench.clock.now_ns(), 1_001);
}

#[test]
fn a_source_that_stands_still_is_replaced_by_the_reference() {
    let bench = Bench::new(77, 0);
    let mut last = bench.clock.now_ns();
    for _ in 0..100_000 {
        bench.reference.advance(STEP);
        let now = bench.clock.now_ns();
        assert!(now >= last && now <= bench.reference.now_ns());
        assert!(bench.reference.now_ns() - now <= WINDOW_NS);
        last = now;
    }
    assert!(last > 5 * WINDOW_NS);
}

#[test]
fn a_source_that_wraps_is_no_event() {
    let bench = Bench::new(u64::MAX - 2_500, 0);
    for _ in 0..50 {
        bench.pass(100);
        assert_eq!(bench.clock.now_ns(), bench.reference.now_ns());
    }
}

#[test]
fn a_source_at_the_wrong_rate_stays_within_a_window() {
    // In percent of the true rate.
    for rate in [50, 99, 101, 200, 1_000] {
        let bench = Bench::new(0, 0);
        let mut last = 0;
        for _ in 0..50_000 {
            bench.reference.advance(Duration::from_nanos(100));
            bench.fast.advance(Duration::from_nanos(rate));
            let now = bench.clock.now_ns();
            assert!(now >= last);
            assert!(now.abs_diff(bench.reference.now_ns()) <= WINDOW_NS, "astray at {rate} %");
            last = now;
        }
    }
}

#[test]
fn a_reference_that_steps_back_stops_time_until_it_catches_up() {
    let bench = Bench::new(0, HOUR_NS);
    bench.pass(2 * WINDOW_NS);
    let seen = bench.clock.now_ns();
    bench.reference.set(HOUR_NS);
    let mut last = seen;
    for _ in 0..1_000 {
        bench.pass(WINDOW_NS / 500);
        let now = bench.clock.now_ns();
        assert!(now >= last && now <= seen + WINDOW_NS);
        last = now;
    }
    // Caught up, and a window has passed since, so that the error is forgotten.
    bench.pass(4 * WINDOW_NS);
    assert_eq!(bench.clock.now_ns(), bench.reference.now_ns());
}

/// A clock that notes when it was asked.
struct Noted {
    clock: ManualClock,
    asked: Rc<Cell<Asked>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    times: u64,
    last_ns: u64,
}

impl Clock for Noted {
    fn now_ns(&self) -> u64 {
        let last_ns = self.clock.now_ns();
        self.asked.set(Asked { times: self.asked.get().times + 1, last_ns });
        last_ns
    }
}

/// A clock that reads what it is told to, the last entry first.
struct Scripted(RefCell<Vec<u64>>);

impl Clock for Scripted {
    fn now_ns(&self) -> u64 {
        self.0.borrow_mut().pop().unwrap()
    }
}

#[test]
fn a_reference_that_steps_back_while_it_is_asked_does_not_turn_time_back() {
    let fast = ManualClock::new(0);
    let clock = GuardedClock::new(fast.clone(), Scripted(RefCell::new(vec![5, HOUR_NS, 0])));
    fast.set(100);
    assert_eq!(clock.now_ns(), 100);
    // The fast source stands still, so the reference is asked. It is an hour ahead, and then is not.
    assert_eq!(clock.now_ns(), 100);
}

#[test]
fn the_reference_is_asked_once_per_window() {
    const WINDOWS: u64 = 50;
    let (time, asked) = (ManualClock::new(0), Rc::default());
    let clock = GuardedClock::new(time.clone(), Noted { clock: time.clone(), asked: Rc::clone(&asked) });
    while time.now_ns() < WINDOWS * WINDOW_NS {
        time.advance(STEP);
        clock.now_ns();
    }
    assert!((WINDOWS - 1..=WINDOWS + 1).contains(&asked.get().times), "{:?}", asked.get());
}

/// Two sockets whose counters differ, and a thread that changes socket with every reading.
struct Sockets {
    time: ManualClock,
    skew_ns: u64,
    second: Cell<bool>,
}

impl Clock for Sockets {
    fn now_ns(&self) -> u64 {
        let second = self.second.replace(!self.second.get());
        self.time.now_ns() + if second { self.skew_ns } else { 0 }
    }
}

#[test]
fn two_sockets_never_make_time_run_away() {
    for skew_ns in [1, 500, 1_000_000, WINDOW_NS - 1, WINDOW_NS, WINDOW_NS + 1, HOUR_NS] {
        let time = ManualClock::new(0);
        let fast = Sockets { time: time.clone(), skew_ns, second: Cell::new(false) };
        let clock = GuardedClock::new(fast, time.clone());
        let mut last = 0;
        for _ in 0..100_000 {
            time.advance(STEP);
            let now = clock.now_ns();
            assert!(now >= last);
            assert!(now.abs_diff(time.now_ns()) <= WINDOW_NS, "astray at a skew of {skew_ns}");
            last = now;
        }
    }
}

/// Steps of a source, small and wild: by `.0` forward, or to the absolute `.1`.
fn step() -> impl Strategy<Value = (u64, Option<u64>)> {
    let forward = prop_oneof![4 => 0..2_000_u64, 2 => 0..2 * WINDOW_NS, 1 => 0..HOUR_NS];
    let jump = prop_oneof![Just(0), 0..10 * HOUR_NS, u64::MAX - WINDOW_NS..=u64::MAX];
    (forward, proptest::option::weighted(0.1, jump))
}

fn take(clock: &ManualClock, (forward, jump): (u64, Option<u64>)) {
    clock.set(jump.unwrap_or_else(|| clock.now_ns().wrapping_add(forward)));
}

proptest! {
    /// Both sources do as they like.
    #[test]
    fn one_thread_sees_time_that_never_decreases_nor_runs_away(
        start in (0..=u64::MAX, 0..HOUR_NS),
        steps in proptest::collection::vec((step(), step(), any::<bool>()), 1..200),
    ) {
        let (fast, reference, asked) = (ManualClock::new(start.0), ManualClock::new(start.1), Rc::default());
        let noted = Noted { clock: reference.clone(), asked: Rc::clone(&asked) };
        let clock = GuardedClock::new(fast.clone(), noted);
        let mut latest = start.1;
        let mut last = 0;
        for (fast_step, reference_step, wild) in steps {
            take(&fast, fast_step);
            take(&reference, if wild { reference_step } else { (reference_step.0, None) });
            latest = latest.max(reference.now_ns());
            let now = clock.now_ns();
            prop_assert!(now >= last);
            prop_assert!(now <= latest.saturating_add(WINDOW_NS));
            prop_assert!(now >= asked.get().last_ns.saturating_sub(WINDOW_NS));
            last = now;
        }
    }

    /// Whatever happened, once both sources behave for two windows, the time is the reference's again.
    #[test]
    fn whatever_the_fast_source_did_is_forgotten(
        steps in proptest::collection::vec((step(), 0..2 * WINDOW_NS), 1..50),
    ) {
        let bench = Bench::new(0, HOUR_NS);
        for (fast_step, forward) in steps {
            take(&bench.fast, fast_step);
            bench.reference.advance(Duration::from_nanos(forward));
            bench.clock.now_ns();
        }
        for _ in 0..40 {
            bench.pass(WINDOW_NS / 16);
            bench.clock.now_ns();
        }
        prop_assert_eq!(bench.clock.now_ns(), bench.reference.now_ns());
    }
}

/// A counter that is wrong by up to a window and a half, differently at each reading of each thread.
struct Erratic(ManualClock);

impl Clock for Erratic {
    fn now_ns(&self) -> u64 {
        thread_local!(static STATE: Cell<u64> = const { Cell::new(1) });
        let state = STATE.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        STATE.set(state);
        self.0.now_ns() + (state >> 33) % (WINDOW_NS * 3 / 2)
    }
}

#[test]
fn no_thread_of_several_sees_time_step_back_or_run_away() {
    let time = ManualClock::new(0);
    let clock = GuardedClock::new(Erratic(time.clone()), time.clone());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..50_000 {
                    time.advance(STEP);
                    let now = clock.now_ns();
                    assert!(now >= last);
                    assert!(now <= time.now_ns() + WINDOW_NS);
                    last = now;
                }
            });
        }
    });
    time.advance(Duration::from_secs(1));
    assert_eq!(clock.now_ns(), time.now_ns());
}

#[test]
fn no_thread_sees_the_default_clock_step_back() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..50_000 {
                    let now = DefaultClock::new().now_ns();
                    assert!(now >= last);
                    last = now;
                }
            });
        }
    });
}

#[test]
fn the_real_counter_stays_within_a_window_of_the_systems_clock() {
    let (clock, reference) = (TscClock::new(), StdClock::new());
    // Each pair is read in the order that errs on one side, however long a thread is stopped in between.
    let before = i128::from(reference.now_ns());
    let mut last = clock.now_ns();
    let most_ahead = i128::from(last) - before + i128::from(WINDOW_NS);
    for _ in 0..50_000 {
        let now = clock.now_ns();
        assert!(now >= last);
        last = now;
        assert!(i128::from(now) - i128::from(reference.now_ns()) <= most_ahead);
    }
}

#[test]
fn manual_clock_is_shared_by_its_clones_and_saturates() {
    let clock = ManualClock::new(5);
    let clone = clock.clone();
    clone.advance(Duration::from_nanos(10));
    assert_eq!(clock.now_ns(), 15);
    clone.set(3);
    assert_eq!(clock.now_ns(), 3);
    clone.advance(Duration::MAX);
    assert_eq!(clock.now_ns(), u64::MAX);
}

#[test]
fn references_and_arcs_are_clocks() {
    fn read(clock: impl Clock) -> u64 {
        clock.now_ns()
    }
    let clock = ManualClock::new(7);
    assert_eq!(read(&clock), 7);
    assert_eq!(read(Arc::new(clock)), 7);
    assert_eq!(read(Arc::<ManualClock>::new(ManualClock::new(8)) as Arc<dyn Clock>), 8);
}

/// What a coarse clock's source and its refresher do.
#[derive(Debug, PartialEq)]
enum Event {
    Read,
    RefresherEnded,
    SourceDropped,
}

/// Sends its event when dropped.
struct Last(Sender<Event>, Option<Event>);

impl Drop for Last {
    fn drop(&mut self) {
        // The test may be over already.
        let _ = self.0.send(self.1.take().unwrap());
    }
}

/// Tells of each reading on a thread other than its maker's, of that thread's end, and of its own.
struct Watched {
    time: ManualClock,
    maker: ThreadId,
    last: Last,
}

impl Watched {
    fn new(time: &ManualClock, events: &Sender<Event>) -> Self {
        let last = Last(events.clone(), Some(Event::SourceDropped));
        Self { time: time.clone(), maker: thread::current().id(), last }
    }
}

impl Clock for Watched {
    fn now_ns(&self) -> u64 {
        thread_local!(static AT_EXIT: RefCell<Option<Last>> = const { RefCell::new(None) });
        let now = self.time.now_ns();
        if thread::current().id() != self.maker {
            let events = &self.last.0;
            AT_EXIT.with_borrow_mut(|last| {
                last.get_or_insert_with(|| Last(events.clone(), Some(Event::RefresherEnded)));
            });
            let _ = events.send(Event::Read);
        }
        now
    }
}

#[test]
fn coarse_refresher_ends_when_the_last_handle_drops_and_does_not_wait_for_its_turn() {
    let (events, seen) = channel();
    let source = Watched::new(&ManualClock::new(0), &events);
    // Its turn would not come while anybody waits for this test.
    let clock = CoarseClock::with_source(source, Duration::MAX).unwrap();
    assert_eq!(seen.recv(), Ok(Event::Read));
    let clone = clock.clone();
    drop(clock);
    assert_eq!(clone.now_ns(), 0);
    drop(clone);
    assert_eq!(seen.recv(), Ok(Event::SourceDropped));
    assert_eq!(seen.recv(), Ok(Event::RefresherEnded));
}

#[test]
fn coarse_refresher_refreshes() {
    let (events, seen) = channel();
    let time = ManualClock::new(1);
    let clock = CoarseClock::with_source(Watched::new(&time, &events), Duration::from_nanos(1)).unwrap();
    assert_eq!(clock.now_ns(), 1);
    time.set(50);
    while clock.now_ns() != 50 {
        assert_eq!(seen.recv(), Ok(Event::Read));
    }
    time.set(20);
    seen.try_iter().for_each(drop);
    // The second reading from here began after the step back, the third after the second was published.
    (0..3).for_each(|_| assert_eq!(seen.recv(), Ok(Event::Read)));
    assert_eq!(clock.now_ns(), 50);
}

#[test]
fn coarse_clock_stands_between_refreshes() {
    let (events, seen) = channel();
    let time = ManualClock::new(5);
    let clock = CoarseClock::with_source(Watched::new(&time, &events), Duration::MAX).unwrap();
    // The refresher reads once when it starts, and that is behind us.
    assert_eq!(seen.recv(), Ok(Event::Read));
    time.set(9);
    assert_eq!(clock.now_ns(), 5);
    clock.refresh_now();
    assert_eq!(clock.clone().now_ns(), 9);
    time.set(1);
    clock.refresh_now();
    assert_eq!(clock.now_ns(), 9);
}

#[test]
fn coarse_clock_refuses_an_interval_of_zero() {
    let error = CoarseClock::new(Duration::ZERO).unwrap_err();
    assert!(matches!(error, CoarseClockError::IntervalZero));
    assert!(error.to_string().contains("write 1ms"), "{error}");
}
