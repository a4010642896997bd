//! Waiting in line: bounded, decided at once, first come first served; and units held until it is known what to charge.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use tollgate::{DirectLimiter, Limiter, ManualClock, Queue, Quota};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const ALL: [&str; 6] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter", "sliding_window_log"];

fn direct(quota: &str) -> DirectLimiter<ManualClock> {
    by("gcra", quota)
}

fn by(algorithm: &str, quota: &str) -> DirectLimiter<ManualClock> {
    let quota: Quota = quota.parse().unwrap();
    DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0)).build().unwrap()
}

/// The wait of a call that is let into the line and stays there, in milliseconds.
fn enter(limiter: &DirectLimiter<ManualClock>, units: u64, queue: &Queue, now_ns: u64) -> Option<u128> {
    let turn = limiter.enqueue_at(units, queue, now_ns).ok()?;
    let wait = turn.wait();
    turn.commit_at(units, now_ns);
    Some(wait.as_millis())
}

#[test]
fn a_wait_longer_than_the_longest_is_refused_at_once_and_takes_nothing() {
    let limiter = direct("10/s burst 1");
    let queue = Queue::up_to(Duration::from_millis(250));
    let waits: Vec<_> = (0..5).map(|_| enter(&limiter, 1, &queue, 0)).collect();
    assert_eq!(waits, [Some(0), Some(100), Some(200), None, None]);
    let refusal = limiter.enqueue_at(1, &queue, 0).unwrap_err();
    assert!(refusal.fits_later());
    assert_eq!(refusal.retry_after(), Duration::from_millis(50));
    assert_eq!(enter(&limiter, 1, &queue, 50 * MS - 1), None);
    assert_eq!(enter(&limiter, 1, &queue, 50 * MS), Some(250));
}

#[test]
fn the_line_holds_so_many_units() {
    // Three, sevenths and thousandths of a second are not whole nanoseconds.
    for quota in ["3/s burst 1", "7/s burst 1", "1000/s burst 1", "10/s burst 4"] {
        let limiter = direct(quota);
        let burst = limiter.peek_at(0).remaining();
        let queue = Queue::up_to(Duration::MAX).max_units(5);
        for call in 0..burst + 5 {
            assert!(enter(&limiter, 1, &queue, 0).is_some(), "{quota}: call {call}");
        }
        assert_eq!(enter(&limiter, 1, &queue, 0), None, "{quota}");
        let wait_ns = limiter.enqueue_at(1, &queue, 0).unwrap_err().retry_after().as_nanos() as u64;
        assert_eq!(enter(&limiter, 1, &queue, wait_ns - 1), None, "{quota}");
        assert!(enter(&limiter, 1, &queue, wait_ns).is_some(), "{quota}");
        assert_eq!(enter(&limiter, 2, &queue, wait_ns), None, "{quota}: two do not fit the place of one");
    }
}

#[test]
fn the_tighter_bound_counts() {
    let limiter = direct("10/s burst 1");
    let queue = Queue::up_to(Duration::from_millis(100)).max_units(5);
    let waits: Vec<_> = (0..3).map(|_| enter(&limiter, 1, &queue, 0)).collect();
    assert_eq!(waits, [Some(0), Some(100), None]);
}

#[test]
fn who_leaves_gives_back_exactly_what_was_held() {
    let limiter = direct("10/s burst 1");
    let queue = Queue::up_to(Duration::from_millis(300));
    let mut line: Vec<_> = (0..4).map(|_| limiter.enqueue_at(1, &queue, 0).unwrap()).collect();
    assert!(limiter.enqueue_at(1, &queue, 0).is_err());
    line.remove(1).cancel_at(0);
    assert_eq!(enter(&limiter, 1, &queue, 0), Some(300), "one place, and it is the last");
    assert!(limiter.enqueue_at(1, &queue, 0).is_err());
    line.into_iter().for_each(|turn| turn.cancel_at(0));
    assert_eq!(enter(&limiter, 1, &queue, 0), Some(100), "behind the one that stayed");
}

#[test]
fn a_cost_above_the_burst_never_fits_a_line() {
    let refusal = direct("10/s burst 2").enqueue_at(3, &Queue::up_to(Duration::MAX), 0).unwrap_err();
    assert!(!refusal.fits_later());
}

#[test]
fn nobody_waits_for_a_window() {
    for algorithm in ["fixed_window", "sliding_window_counter", "sliding_window_log"] {
        let limiter = by(algorithm, "2/s");
        let queue = Queue::up_to(Duration::from_secs(60));
        assert_eq!(enter(&limiter, 2, &queue, 0), Some(0), "{algorithm}");
        assert!(limiter.enqueue_at(1, &queue, 0).is_err(), "{algorithm}");
    }
}

#[test]
fn keys_stand_in_lines_of_their_own() {
    let quota = Quota::per_second(10).burst(1);
    let limiter = Limiter::<str>::builder(quota).clock(ManualClock::new(0)).build().unwrap();
    let queue = Queue::up_to(Duration::from_millis(100));
    let wait = |key: &str| {
        let turn = limiter.enqueue(key, 1, &queue).ok()?;
        let wait = turn.wait();
        turn.commit(1);
        Some(wait.as_millis())
    };
    let waits = ["a", "a", "a", "b"].map(wait);
    assert_eq!(waits, [Some(0), Some(100), None, Some(0)]);
}

#[test]
fn a_failed_login_is_charged_and_a_good_one_is_not() {
    for algorithm in ALL {
        let limiter = by(algorithm, "3/min");
        for _ in 0..10 {
            limiter.hold_at(1, 0).unwrap().cancel_at(0);
        }
        for _ in 0..3 {
            limiter.hold_at(1, 0).unwrap().commit_at(1, 0);
        }
        let refusal = limiter.hold_at(1, 0).unwrap_err();
        assert_eq!(refusal, limiter.check_n_at(1, 0), "{algorithm}");
    }
}

#[test]
fn two_attempts_do_not_pass_on_the_last_unit() {
    for algorithm in ALL {
        let limiter = by(algorithm, "1/min");
        let first = limiter.hold_at(1, 0).unwrap();
        assert!(limiter.hold_at(1, 0).is_err(), "{algorithm}");
        first.cancel_at(0);
        assert!(limiter.hold_at(1, 0).is_ok(), "{algorithm}");
    }
}

#[test]
fn bytes_are_charged_as_they_were_sent() {
    for algorithm in ALL {
        let limiter = by(algorithm, "1000/s");
        let held = limiter.hold_at(600, 0).unwrap();
        assert!(limiter.hold_at(600, 0).is_err(), "{algorithm}");
        held.commit_at(250, 0);
        assert_eq!(limiter.peek_at(0).remaining(), 750, "{algorithm}");
    }
}

/// Attempts that fail, succeed and pass each other: no more are under way or failed than the limit allows, and what is left is the limit
/// less those that failed.
#[test]
fn a_race_of_logins_is_charged_for_failures_only() {
    const LIMIT: u64 = 100;
    for algorithm in ALL {
        let limiter = by(algorithm, "100/day");
        let (failed, under_way) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 0..4 {
                let (limiter, failed, under_way) = (&limiter, &failed, &under_way);
                scope.spawn(move || {
                    for call in 0..200_u64 {
                        let Ok(attempt) = limiter.hold(1) else { continue };
                        let others = under_way.fetch_add(1, Ordering::SeqCst);
                        assert!(others < LIMIT, "{algorithm}: {others} hold or have a unit of {LIMIT}");
                        if (call + thread) % 5 == 0 {
                            attempt.commit(1);
                            failed.fetch_add(1, Ordering::SeqCst);
                        } else {
                            under_way.fetch_sub(1, Ordering::SeqCst);
                            attempt.cancel();
                        }
                    }
                });
            }
        });
        let failed = failed.into_inner();
        assert!(failed > 0 && failed <= LIMIT, "{algorithm}: {failed}");
        assert_eq!(limiter.peek().remaining(), LIMIT - failed, "{algorithm}");
    }
}

/// Threads stand in one line and leave it at random: whoever stays has a place of its own, and no place is lost.
#[test]
fn a_race_for_places_hands_each_out_once() {
    const THREADS: u64 = 4;
    const CALLS: u64 = 500;
    let limiter = direct("1000/s burst 1");
    let queue = Queue::up_to(Duration::MAX).max_units(1_000);
    let stayed = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (limiter, queue, stayed) = (&limiter, &queue, &stayed);
            scope.spawn(move || {
                for call in 0..CALLS {
                    let Ok(turn) = limiter.enqueue(1, queue) else { continue };
                    if (call + thread) % 3 == 0 {
                        turn.cancel();
                    } else {
                        turn.commit(1);
                        stayed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let stayed = stayed.into_inner();
    assert!(stayed <= 1_001, "{stayed} of 1 001 places");
    // One more waits for exactly those that stayed, or there is no place left.
    match enter(&limiter, 1, &queue, 0) {
        Some(wait_ms) => assert_eq!(wait_ms, stayed.into()),
        None => assert_eq!(stayed, 1_001),
    }
}

proptest! {
    /// A line of integers: the units in front, each a period long.
    #[test]
    fn a_line_is_a_sum(
        period_ns in 1..5 * S, burst in 1..5_u64, max_units in 0..8_u64,
        calls in prop::collection::vec((1..5_u64, 0..3 * S), 1..40),
    ) {
        let quota = Quota::new(1, Duration::from_nanos(period_ns)).burst(burst);
        let limiter = DirectLimiter::builder(quota).clock(ManualClock::new(0)).build().unwrap();
        let queue = Queue::up_to(Duration::MAX).max_units(max_units);
        // When the last unit taken has come back.
        let (mut now_ns, mut full_ns) = (0, 0);
        for (units, pause_ns) in calls {
            now_ns += pause_ns;
            let end_ns = full_ns.max(now_ns) + units * period_ns;
            let wait_ns = end_ns.saturating_sub(now_ns + burst * period_ns);
            let is_let_in = units <= burst && wait_ns <= max_units * period_ns;
            match limiter.enqueue_at(units, &queue, now_ns) {
                Ok(turn) => {
                    prop_assert!(is_let_in);
                    prop_assert_eq!(turn.wait().as_nanos(), u128::from(wait_ns));
                    turn.commit_at(units, now_ns);
                    full_ns = end_ns;
                }
                Err(refusal) => {
                    prop_assert!(!is_let_in);
                    let over_ns = if units <= burst { wait_ns - max_units * period_ns } else { 0 };
                    prop_assert_eq!(refusal.retry_after().as_nanos(), u128::from(over_ns));
                }
            }
        }
    }
}
