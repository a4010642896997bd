//! `until_ready` and `until_turn`: wait exactly as long as the limit says, on any runtime.

use std::cell::RefCell;
use std::future::{Future, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use tollgate::{Clock, DirectLimiter, Limiter, ManualClock, Queue, Quota, Verdict, WaitTooLong};

const MS: u64 = 1_000_000;

/// Polls a future that never waits for anything but another poll.
fn poll_to_the_end<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("still pending after a thousand polls");
}

/// Pending once: a sleep that has to be polled again.
fn yield_once() -> impl Future<Output = ()> {
    let mut polled = false;
    poll_fn(move |_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending })
}

fn limiter() -> Limiter<str, ManualClock> {
    Limiter::builder(Quota::per_second(10)).clock(ManualClock::new(7 * MS)).build().unwrap()
}

#[test]
fn waits_exactly_retry_after() {
    let limiter = limiter();
    let waits = RefCell::new(Vec::new());
    let sleep = |wait: Duration| {
        waits.borrow_mut().push(wait);
        assert!(waits.borrow().len() < 10, "does not give up");
        limiter.clock().advance(wait);
        yield_once()
    };
    let ask = |cost| poll_to_the_end(limiter.until_ready_by("a", cost, Duration::from_secs(60), sleep));
    assert_eq!(ask(10).unwrap().remaining(), 0);
    assert!(waits.borrow().is_empty(), "there was nothing to wait for");
    for (cost, ms) in [(1, 100), (3, 300), (10, 1_000)] {
        let before_ns = limiter.clock().now_ns();
        let decision = ask(cost).unwrap();
        assert_eq!((decision.taken(), decision.remaining()), (cost, 0));
        assert_eq!(waits.take(), [Duration::from_millis(ms)]);
        assert_eq!(limiter.clock().now_ns() - before_ns, ms * MS);
    }
}

#[test]
fn a_wait_too_long_fails_at_once_and_takes_nothing() {
    let limiter = limiter();
    assert!(limiter.check_n("a", 8).is_allowed());
    let before = limiter.peek_n("a", 5);
    let never = |wait: Duration| -> std::future::Ready<()> { panic!("slept for {wait:?}") };
    let max_wait = Duration::from_millis(299);
    let error = poll_to_the_end(limiter.until_ready_by("a", 5, max_wait, never)).unwrap_err();
    assert_eq!(error, WaitTooLong { decision: before, max_wait });
    assert!(error.to_string().contains("300ms") && error.to_string().contains("299ms"), "{error}");
    assert_eq!(limiter.peek_n("a", 5), before);
    // No wait at all is allowed where none is needed.
    assert!(poll_to_the_end(limiter.until_ready_by("a", 2, Duration::ZERO, never)).is_ok());
    assert!(poll_to_the_end(limiter.until_ready_by("a", 1, Duration::ZERO, never)).is_err());
}

#[test]
fn a_wait_of_exactly_the_most_is_waited() {
    let limiter = limiter();
    assert!(limiter.check_n("a", 10).is_allowed());
    let slept = RefCell::new(false);
    let sleep = |wait| {
        assert!(!slept.replace(true), "once is enough");
        limiter.clock().advance(wait);
        ready(())
    };
    assert!(poll_to_the_end(limiter.until_ready_by("a", 3, Duration::from_millis(300), sleep)).is_ok());
}

#[test]
fn a_cost_that_never_fits_is_not_waited_for() {
    let limiter = limiter();
    let never = |wait: Duration| -> std::future::Ready<()> { panic!("slept for {wait:?}") };
    let error = poll_to_the_end(limiter.until_ready_by("a", 11, Duration::MAX, never)).unwrap_err();
    assert_eq!(error.decision.verdict(), Verdict::NeverFits);
    assert!(error.to_string().contains("at most 10"), "{error}");
    assert_eq!(limiter.peek("a").remaining(), 10);
}

/// Somebody else takes the unit first: waits again, and no longer than `max_wait` in all.
#[test]
fn the_waits_of_one_call_add_up() {
    let limiter = limiter();
    assert!(limiter.check_n("a", 10).is_allowed());
    let waits = RefCell::new(Vec::new());
    let robbed = |wait| {
        waits.borrow_mut().push(wait);
        assert!(waits.borrow().len() < 10, "does not give up");
        limiter.clock().advance(wait);
        assert!(limiter.check("a").is_allowed());
        ready(())
    };
    let error =
        poll_to_the_end(limiter.until_ready_by("a", 1, Duration::from_millis(350), robbed)).unwrap_err();
    assert_eq!(waits.take(), [Duration::from_millis(100); 3]);
    assert_eq!(error.max_wait, Duration::from_millis(350), "what the caller asked for");
    assert_eq!(error.decision.retry_after(), Duration::from_millis(100));
}

#[test]
fn a_dropped_wait_takes_nothing() {
    let limiter = limiter();
    assert!(limiter.check_n("a", 10).is_allowed());
    let before = limiter.peek_n("a", 1);
    {
        let mut waiting =
            pin!(limiter.until_ready_by("a", 1, Duration::from_secs(1), |_| std::future::pending()));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(limiter.peek_n("a", 1), before);
}

#[test]
fn without_a_key() {
    for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
        let clock = ManualClock::new(0);
        let limiter =
            DirectLimiter::builder(Quota::per_second(4)).algorithm(algorithm).clock(clock).build().unwrap();
        assert!(limiter.check_n(4).is_allowed());
        let expected = limiter.peek_n(2).retry_after();
        let sleep = |wait| {
            assert_eq!(wait, expected);
            limiter.clock().advance(wait);
            yield_once()
        };
        assert!(
            poll_to_the_end(limiter.until_ready_by(2, Duration::from_secs(3), sleep)).is_ok(),
            "{algorithm}"
        );
        assert_eq!(Duration::from_nanos(limiter.clock().now_ns()), expected);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        thread::park();
    }
}

/// With the timer that comes along. How long it takes is not asserted: only that it ends.
#[test]
fn the_built_in_timer_wakes_up() {
    let keyed = Limiter::<str>::new(Quota::per_second(500).burst(1)).unwrap();
    let lone = DirectLimiter::new(Quota::per_second(500).burst(1)).unwrap();
    for _ in 0..3 {
        assert!(block_on(keyed.until_ready("a", Duration::from_secs(60))).is_ok());
        assert!(block_on(lone.until_ready(Duration::from_secs(60))).is_ok());
    }
}

#[test]
fn turns_are_waited_for_in_line_and_a_line_too_long_is_told_at_once() {
    let clock = ManualClock::new(0);
    let limiter = Limiter::<str>::builder(Quota::per_second(10).burst(1)).clock(clock).build().unwrap();
    let queue = Queue::up_to(Duration::from_millis(200));
    let waits = RefCell::new(Vec::new());
    let sleep = |wait| {
        waits.borrow_mut().push(wait);
        yield_once()
    };
    let ask = || poll_to_the_end(limiter.until_turn_by("a", 1, &queue, sleep));
    assert!(ask().is_ok() && ask().is_ok() && ask().is_ok());
    assert_eq!(
        waits.take(),
        [Duration::from_millis(100), Duration::from_millis(200)],
        "the first does not wait"
    );
    assert_eq!(ask().unwrap_err().retry_after(), Duration::from_millis(100));
    assert!(waits.take().is_empty());
}

#[test]
fn who_drops_the_future_leaves_the_line() {
    let lone =
        DirectLimiter::builder(Quota::per_second(10).burst(1)).clock(ManualClock::new(0)).build().unwrap();
    let queue = Queue::up_to(Duration::from_millis(100));
    assert!(lone.check().is_allowed());
    {
        let mut waiting = pin!(lone.until_turn_by(1, &queue, |_| std::future::pending()));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(lone.enqueue(1, &queue).is_err(), "the place is taken");
    }
    let turn = lone.enqueue(1, &queue).unwrap();
    assert_eq!(turn.wait(), Duration::from_millis(100));
    turn.commit(1);
}

/// With the timer that comes along. How long it takes is not asserted: only that it ends.
#[test]
fn the_built_in_timer_ends_a_turn() {
    let queue = Queue::up_to(Duration::from_secs(60));
    let keyed = Limiter::<str>::new(Quota::per_second(500).burst(1)).unwrap();
    let lone = DirectLimiter::new(Quota::per_second(500).burst(1)).unwrap();
    for _ in 0..3 {
        assert!(block_on(keyed.until_turn("a", 1, &queue)).is_ok());
        assert!(block_on(lone.until_turn(1, &queue)).is_ok());
    }
}

/// One call each 100 ms.
fn shaper() -> Limiter<str, ManualClock> {
    Limiter::builder(Quota::per_second(10).burst(1)).clock(ManualClock::new(7 * MS)).build().unwrap()
}

fn is_pending(future: std::pin::Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[test]
fn a_line_too_long_fails_at_once_and_takes_nothing() {
    let limiter = shaper();
    let queue = Queue::up_to(Duration::from_millis(99));
    assert!(limiter.check("a").is_allowed());
    let before = limiter.peek("a");
    let never = |wait: Duration| -> std::future::Ready<()> { panic!("slept for {wait:?}") };
    let refusal = poll_to_the_end(limiter.until_turn_by("a", 1, &queue, never)).unwrap_err();
    assert_eq!(refusal.retry_after(), Duration::from_millis(1));
    assert_eq!(limiter.peek("a"), before);
    let refusal = poll_to_the_end(limiter.until_turn_by("a", 2, &queue, never)).unwrap_err();
    assert_eq!(refusal.verdict(), Verdict::NeverFits);
}

#[test]
fn whoever_is_dropped_leaves_the_line_and_those_behind_move_up() {
    let limiter = shaper();
    let queue = Queue::up_to(Duration::MAX).max_units(3);
    assert!(limiter.check("a").is_allowed());
    let wait = || limiter.until_turn_by("a", 1, &queue, |_| std::future::pending());
    let (mut first, mut last) = (Box::pin(wait()), Box::pin(wait()));
    let mut second = Box::pin(wait());
    assert!(is_pending(first.as_mut()) && is_pending(second.as_mut()) && is_pending(last.as_mut()));
    assert!(poll_to_the_end(wait()).is_err());
    // The one in the middle gives up, then the one in front, then the last; half of what was taken before is still to come.
    limiter.clock().advance(Duration::from_millis(50));
    drop(second);
    assert_eq!(limiter.peek("a").reset_after(), Duration::from_millis(250));
    drop(first);
    assert_eq!(limiter.peek("a").reset_after(), Duration::from_millis(150));
    drop(last);
    assert_eq!(limiter.peek("a").reset_after(), Duration::from_millis(50));
}

#[test]
fn a_future_that_was_never_polled_is_not_in_line() {
    let limiter = DirectLimiter::builder(Quota::per_second(10).burst(1));
    let limiter = limiter.clock(ManualClock::new(0)).build().unwrap();
    let queue = Queue::up_to(Duration::from_secs(1));
    let unpolled = limiter.until_turn(1, &queue);
    assert!(limiter.enqueue(1, &Queue::none()).is_ok());
    drop(unpolled);
    let waiting = limiter.until_turn_by(1, &queue, |_| ready(()));
    assert!(limiter.check().is_allowed());
    assert!(poll_to_the_end(waiting).is_ok());
    assert_eq!(limiter.peek().reset_after(), Duration::from_millis(200));
}
