//! Reservations of one key that overlap: whatever the order they are settled in, no unit is given back twice.

use tollgate::{DirectLimiter, Limiter, ManualClock, Quota, Reservation, store::Single};

const S: u64 = 1_000_000_000;
const ALL: [&str; 6] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter", "sliding_window_log"];

fn direct(algorithm: &str, quota: &str) -> DirectLimiter<ManualClock> {
    let quota: Quota = quota.parse().unwrap();
    DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0)).build().unwrap()
}

fn left(limiter: &DirectLimiter<ManualClock>, now_ns: u64) -> u64 {
    limiter.peek_at(now_ns).remaining()
}

#[test]
fn units_that_moved_up_and_came_back_are_not_given_back() {
    let limiter = direct("gcra", "10/10s");
    let first = limiter.reserve_at(5, 0).unwrap();
    let second = limiter.reserve_at(5, 0).unwrap();
    first.cancel_at(0);
    // The second's units have come back by now, and somebody else has taken as many.
    assert!(limiter.check_n_at(5, 5 * S).is_allowed());
    assert_eq!(left(&limiter, 5 * S), 5);
    second.cancel_at(5 * S);
    assert_eq!(left(&limiter, 5 * S), 5);
}

#[test]
fn ten_reservations_cancelled_late_admit_no_more_than_a_burst() {
    let limiter = direct("gcra", "10/10s");
    let mut held: Vec<Reservation<'_, ManualClock, Single>> =
        (0..10).map(|_| limiter.reserve_at(10, 0).unwrap()).collect();
    held.drain(..5).for_each(|reservation| reservation.cancel_at(0));
    let mut admitted = 0;
    for reservation in held {
        admitted += if limiter.check_n_at(10, 50 * S).is_allowed() { 10 } else { 0 };
        reservation.cancel_at(50 * S);
    }
    assert_eq!(admitted, 10);
}

#[test]
fn cancelled_in_order_or_in_reverse_all_comes_back() {
    for reverse in [false, true] {
        let limiter = direct("gcra", "60/s burst 1");
        let mut held: Vec<_> = (0..3).map(|_| limiter.reserve_at(1, 0).unwrap()).collect();
        if reverse {
            held.reverse();
        }
        held.into_iter().for_each(|reservation| reservation.cancel_at(0));
        assert!(limiter.check_at(0).is_allowed(), "reverse {reverse}");
    }
}

#[test]
fn what_was_reset_or_refunded_is_not_given_back_again() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/10s");
        let reservation = limiter.reserve_at(10, 0).unwrap();
        limiter.reset_at(0);
        assert!(limiter.check_n_at(10, 0).is_allowed());
        reservation.cancel_at(0);
        assert_eq!(left(&limiter, 0), 0, "{algorithm}: reset");

        limiter.reset_at(0);
        let reservation = limiter.reserve_at(5, 0).unwrap();
        limiter.refund_at(5, 0);
        assert!(limiter.check_n_at(10, 0).is_allowed());
        reservation.cancel_at(0);
        assert_eq!(left(&limiter, 0), 0, "{algorithm}: refund");
    }
}

#[test]
fn a_late_cancel_takes_nothing_from_the_window_before() {
    let limiter = direct("sliding_window_counter", "10/s");
    assert!(limiter.check_n_at(4, S - 1).is_allowed());
    let reservation = limiter.reserve_at(5, S).unwrap();
    limiter.refund_at(5, S);
    reservation.cancel_at(S);
    assert_eq!(left(&limiter, S), 6);
}

#[test]
fn an_empty_reservation_is_committed_at_its_cost() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "100/min");
        limiter.reserve_at(0, 0).unwrap().commit_at(30, 0);
        assert_eq!(left(&limiter, 0), 70, "{algorithm}");
        drop(limiter.reserve_at(0, 0).unwrap());
        assert_eq!(left(&limiter, 0), 70, "{algorithm}");
    }
}

#[test]
fn reservations_of_other_keys_are_given_back_whole() {
    let limiter =
        Limiter::<u32>::builder("10/min".parse().unwrap()).clock(ManualClock::new(0)).build().unwrap();
    let held: Vec<_> = (0..1_000).map(|key| limiter.reserve_at(&key, 10, 0).unwrap()).collect();
    held.into_iter().for_each(|reservation| reservation.cancel_at(0));
    assert_eq!(limiter.len_at(0), 0);
}

#[test]
fn a_window_before_counts_in_the_shared_quota() {
    let limiter = Limiter::<u32>::builder("10/10s".parse().unwrap())
        .algorithm("sliding_window_counter")
        .capacity(1)
        .clock(ManualClock::new(0))
        .build()
        .unwrap();
    let late = 10 * S - 1;
    // Until the table is full of live keys, and one shares.
    let key = (0..).find(|key| {
        let before = limiter.overflowed();
        assert!(limiter.check_n_at(key, 10, late).is_allowed());
        limiter.overflowed() > before
    });
    assert!(limiter.check_at(&key.unwrap(), 10 * S).is_denied());
}

/// What is remembered of refunds does not come round to what it was.
#[test]
fn refunds_of_more_than_there_is_are_remembered() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/10s");
        let held = limiter.reserve_at(5, S).unwrap();
        assert!(limiter.check_n_at(5, S).is_allowed());
        limiter.refund_at(u64::MAX, S);
        assert_eq!(left(&limiter, S), 10, "{algorithm}");
        assert!(limiter.check_at(S).is_allowed());
        limiter.refund_at(1, S);
        assert!(limiter.check_n_at(10, S).is_allowed());
        held.cancel_at(S);
        assert_eq!(left(&limiter, S), 0, "{algorithm}");
    }
}

/// Enough is given back in front of the holders to pass the end of the sum.
#[test]
fn a_sum_of_returns_that_begins_anew_gives_nothing_back_twice() {
    let limiter = direct("gcra", "1/s burst 2000000000");
    let most = 1_900_000_000;
    let first = limiter.reserve_at(most, S).unwrap();
    let holders: Vec<_> = (0..100).map(|_| limiter.reserve_at(1, S).unwrap()).collect();
    first.cancel_at(S);
    let mut moved = most;
    while moved < u64::MAX / S {
        let units = most.min(u64::MAX / S + 1 - moved);
        let (large, later) = (limiter.reserve_at(units, S).unwrap(), limiter.reserve_at(1, S).unwrap());
        large.cancel_at(S);
        later.cancel_at(S);
        moved += units;
    }
    // All that the holders had has come back by itself.
    assert!(limiter.check_n_at(500, 200 * S).is_allowed());
    let before = left(&limiter, 200 * S);
    holders.into_iter().for_each(|held| held.cancel_at(200 * S));
    assert_eq!(left(&limiter, 200 * S), before);
}
