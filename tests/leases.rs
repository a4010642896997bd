//! Units taken in advance by one thread: what they spend, give back, and remember.

use std::time::Duration;

use tollgate::{Clock, DirectLimiter, Lease, Limiter, ManualClock, Overflow, Quota, store::Store};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const ALL: [&str; 6] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter", "sliding_window_log"];

fn direct(algorithm: &str, quota: &str) -> DirectLimiter<ManualClock> {
    let quota: Quota = quota.parse().unwrap();
    DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(S)).build().unwrap()
}

fn left(limiter: &DirectLimiter<ManualClock>) -> u64 {
    limiter.peek().remaining()
}

#[test]
fn it_takes_many_spends_some_and_gives_the_rest_back() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "100/10s");
        let mut lease = limiter.lease_n(10);
        let first = lease.check();
        assert!(first.is_allowed());
        assert_eq!((first.taken(), first.limit(), first.remaining()), (1, 100, 99), "{algorithm}");
        assert_eq!((lease.held(), left(&limiter)), (9, 90), "{algorithm}");
        assert_eq!(lease.check_n(4).remaining(), 95, "{algorithm}");
        assert_eq!((lease.held(), left(&limiter)), (5, 90), "{algorithm}");
        drop(lease);
        assert_eq!(left(&limiter), 95, "{algorithm}");
    }
}

#[test]
fn what_came_back_by_itself_is_not_given_back() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "100/10s");
        let mut lease = limiter.lease_n(10);
        assert!(lease.check().is_allowed());
        // Two windows, of which a counter remembers one.
        limiter.clock().advance(Duration::from_secs(20));
        assert!(limiter.check_n(50).is_allowed());
        drop(lease);
        assert_eq!(left(&limiter), 50, "{algorithm}");
    }
}

#[test]
fn a_cost_larger_than_what_is_in_hand_takes_the_difference() {
    let limiter = direct("gcra", "100/10s");
    let mut lease = limiter.lease_n(4);
    assert!(lease.check().is_allowed());
    assert_eq!((lease.held(), left(&limiter)), (3, 96));
    assert!(lease.check_n(20).is_allowed());
    // 17 more were needed, and three are taken on top.
    assert_eq!((lease.held(), left(&limiter)), (3, 76));
    drop(lease);
    assert_eq!(left(&limiter), 79);
}

#[test]
fn the_last_units_go_one_by_one() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "100/10s");
        let mut lease = limiter.lease_n(100);
        let mut most_held = u64::MAX;
        for spent in 1..=100 {
            assert!(lease.check().is_allowed());
            assert_eq!(lease.held() + left(&limiter), 100 - spent, "{algorithm}");
            if left(&limiter) <= 3 {
                most_held = most_held.min(lease.held());
            }
        }
        assert_eq!(most_held, 0, "{algorithm}");
        assert!(lease.check().is_denied());
    }
}

#[test]
fn a_refusal_is_remembered_until_it_ends() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/10s");
        let mut lease = limiter.lease_n(1);
        assert!(lease.check_n(10).is_allowed());
        let refused = lease.check_n(3);
        assert!(refused.fits_later());
        assert_eq!(refused, limiter.peek_n(3), "{algorithm}");
        let wait_ns = refused.retry_after().as_nanos() as u64;

        limiter.clock().advance(Duration::from_nanos(wait_ns - 1));
        let again = lease.check_n(3);
        assert_eq!(again.retry_after(), Duration::from_nanos(1), "{algorithm}");
        let shorter = refused.reset_after() - again.reset_after();
        assert_eq!(shorter, Duration::from_nanos(wait_ns - 1), "{algorithm}");

        limiter.clock().advance(Duration::from_nanos(1));
        assert!(lease.check_n(3).is_allowed(), "{algorithm}");
    }
}

#[test]
fn a_refusal_of_one_cost_says_nothing_of_another() {
    let limiter = direct("gcra", "10/10s");
    let mut lease = limiter.lease_n(1);
    assert!(lease.check_n(8).is_allowed());
    assert!(lease.check_n(3).is_denied());
    assert!(lease.check_n(2).is_allowed());
    // Less is in the bucket than when three were refused: the wait is longer now.
    assert_eq!(lease.check_n(3).retry_after(), limiter.peek_n(3).retry_after());
}

#[test]
fn what_is_in_hand_does_not_make_an_impossible_cost_possible() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/10s");
        let mut lease = limiter.lease_n(2);
        assert!(lease.check().is_allowed());
        assert_eq!(lease.held(), 1, "{algorithm}");
        let refused = lease.check_n(11);
        assert!(refused.is_denied() && !refused.fits_later(), "{algorithm}");
        assert_eq!(lease.held(), 1, "{algorithm}");
    }
}

#[test]
fn a_cost_of_zero_takes_nothing() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/10s");
        let mut lease = limiter.lease_n(2);
        let looked = lease.check_n(0);
        assert!(looked.is_allowed());
        assert_eq!((looked.taken(), looked.remaining(), lease.held()), (0, 10, 0), "{algorithm}");
        assert!(lease.check().is_allowed());
        let looked = lease.check_n(0);
        assert_eq!((looked.taken(), looked.remaining(), lease.held()), (0, 9, 1), "{algorithm}");
        assert!(limiter.check_n(7).is_allowed());
    }
}

#[test]
fn without_a_number_it_follows_the_use() {
    let limiter = direct("gcra", "100000/s");
    let mut lease = limiter.lease();
    // One grant after another at one instant: 1, 2, 4 and so on, up to 1 024.
    let mut grants = Vec::new();
    for _ in 0..4_000 {
        let before = left(&limiter);
        assert!(lease.check().is_allowed());
        grants.extend(Some(before - left(&limiter)).filter(|&units| units > 0));
    }
    assert_eq!(grants[..4], [1, 2, 4, 8]);
    assert_eq!(grants.last(), Some(&1_024));

    // Each is spent alone, long after the one before.
    let spend_all = |lease: &mut Lease<'_, _, _>| {
        while lease.held() > 0 {
            assert!(lease.check().is_allowed());
        }
    };
    for size in [512, 256, 128, 64, 32, 16, 8, 4, 2, 1, 1] {
        spend_all(&mut lease);
        limiter.clock().advance(Duration::from_millis(16));
        assert!(lease.check().is_allowed());
        assert_eq!(lease.held(), size - 1);
    }
}

#[test]
fn a_small_limit_is_not_leased() {
    let limiter = direct("gcra", "31/s");
    let mut lease = limiter.lease();
    for spent in 1..=31 {
        assert!(lease.check().is_allowed());
        assert_eq!((lease.held(), left(&limiter)), (0, 31 - spent));
    }
}

#[test]
fn a_lease_of_no_units_is_one_of_one() {
    let limiter = direct("gcra", "100/s");
    let mut lease = limiter.lease_n(0);
    assert!(lease.check().is_allowed());
    assert_eq!((lease.held(), left(&limiter)), (0, 99));
}

#[test]
fn at_times_of_ones_own_no_clock_is_read() {
    struct Unread;
    impl Clock for Unread {
        fn now_ns(&self) -> u64 {
            panic!("the clock was read")
        }
    }
    let limiter = DirectLimiter::builder(Quota::per_second(100)).clock(Unread).build().unwrap();
    let mut lease = limiter.lease_n(10);
    assert!((0..20).all(|i| lease.check_n_at(1, i * MS).is_allowed()));
    assert!(lease.check_n_at(200, 20 * MS).is_denied());
    lease.end_at(20 * MS);
    assert_eq!(limiter.peek_at(20 * MS).remaining(), 82);
}

#[test]
fn quotas_without_a_rate_are_leased_too() {
    let unlimited = DirectLimiter::new(Quota::unlimited()).unwrap();
    let mut lease = unlimited.lease();
    assert!(
        lease.check_n(0).is_allowed() && lease.check_n(u64::MAX).is_allowed() && lease.check().is_allowed()
    );
    let blocked = DirectLimiter::new(Quota::blocked()).unwrap();
    let mut lease = blocked.lease_n(5);
    assert!(lease.check_n(0).is_allowed());
    let refused = lease.check();
    assert!(refused.is_denied() && !refused.fits_later());
}

/// One lease per key, in any store.
fn leased_by_key<S: Store + tollgate::store::Lookup<str>>(limiter: &Limiter<String, ManualClock, S>) {
    let (mut a, mut b) = (limiter.lease_n("a", 10), limiter.lease_n("b", 10));
    assert!(a.check_n(2).is_allowed() && b.check().is_allowed());
    assert_eq!([limiter.peek("a").remaining(), limiter.peek("b").remaining()], [89, 90]);
    drop((a, b));
    assert_eq!([limiter.peek("a").remaining(), limiter.peek("b").remaining()], [98, 99]);
}

#[test]
fn keys_are_leased_from_a_table_and_from_a_map() {
    let builder = |algorithm| {
        let quota = Quota::new(100, Duration::from_secs(10));
        Limiter::<String>::builder(quota).algorithm(algorithm).clock(ManualClock::new(S))
    };
    for algorithm in ALL {
        if algorithm != "sliding_window_log" {
            leased_by_key(&builder(algorithm).build().unwrap());
        }
        leased_by_key(&builder(algorithm).build_map().unwrap());
    }
}

#[test]
fn an_adversary_spends_late_what_was_taken_early() {
    let limiter = direct("gcra", "100/10s");
    let mut leases: Vec<_> = (0..3).map(|_| limiter.lease_n(5)).collect();
    leases.iter_mut().for_each(|lease| assert!(lease.check_n_at(1, 0).is_allowed()));
    // The units have come back to the limiter, and are in hand as well: three times four beyond its own 100.
    let now_ns = 10 * S;
    let mut admitted: u64 = (0..101).map(|_| limiter.check_at(now_ns).taken()).sum();
    for lease in &mut leases {
        admitted += (0..5).map(|_| lease.check_n_at(1, now_ns).taken()).sum::<u64>();
    }
    assert_eq!(admitted, 100 + 3 * 4);
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_a_refusal() {
    for algorithm in ALL {
        let (limiter, hour) = (direct(algorithm, "10/s"), 3_600 * S);
        let mut lease = limiter.lease_n(1);
        assert!(lease.check_n_at(10, hour).is_allowed());
        assert!(lease.check_n_at(1, hour).is_denied());
        assert_eq!(lease.check_n_at(1, S), limiter.peek_n_at(1, S), "{algorithm}");
    }
}

/// At times later than the clock's, and not ended.
#[test]
fn what_came_back_at_times_of_ones_own_is_not_given_back() {
    for algorithm in ALL {
        let (limiter, now_ns) = (direct(algorithm, "100/10s"), 1_000 * S);
        let mut lease = limiter.lease_n(10);
        assert!(lease.check_n_at(1, now_ns).is_allowed());
        let later_ns = now_ns + 20 * S;
        assert!(limiter.check_n_at(90, later_ns).is_allowed());
        drop(lease);
        assert_eq!(limiter.peek_at(later_ns).remaining(), 10, "{algorithm}");
    }
}

#[test]
fn a_refusal_counts_what_is_in_hand_as_remaining() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "100/10s");
        let mut lease = limiter.lease_n(4);
        assert!(lease.check().is_allowed());
        assert!(limiter.check_n(95).is_allowed());
        let refused = lease.check_n(5);
        assert_eq!((refused.is_denied(), lease.held(), refused.remaining()), (true, 3, 4), "{algorithm}");
        assert_eq!(lease.check_n(5).remaining(), 4, "{algorithm}: remembered");
        assert_eq!(lease.check_n(101).remaining(), 4, "{algorithm}: never fits");
        assert!(lease.check_n(4).is_allowed(), "{algorithm}");
    }
}

#[test]
fn a_cost_of_zero_looks_again() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "10/10s");
        let mut lease = limiter.lease_n(1);
        assert!(lease.check().is_allowed());
        assert!(limiter.check_n(9).is_allowed());
        assert_eq!(lease.check_n(0).remaining(), 0, "{algorithm}");
    }
}

/// A key without a place stands where the shared quota stands.
#[test]
fn a_look_at_a_key_without_a_place_is_a_peek() {
    let builder = Limiter::<u64>::builder(Quota::per_second(5)).capacity(1).overflow(Overflow::Share);
    let limiter = builder.clock(ManualClock::new(S)).build().unwrap();
    (0..200).for_each(|key| assert!(limiter.check_n(&key, 5).remaining() == 0));
    let mut lease = limiter.lease_n(&1_000, 1);
    assert_eq!(lease.check_n(0).remaining(), limiter.peek(&1_000).remaining());
}

#[test]
fn a_key_without_a_place_is_not_let_through_for_a_cost_that_never_fits() {
    let builder = Limiter::<u64>::builder(Quota::per_second(5)).capacity(1).overflow(Overflow::Allow);
    let limiter = builder.clock(ManualClock::new(S)).build().unwrap();
    (0..200).for_each(|key| assert!(limiter.check_n(&key, 5).is_allowed()));
    assert!(limiter.overflowed() > 0);
    let mut lease = limiter.lease_n(&1_000, 1);
    assert!(lease.check_n(5).is_allowed());
    let refused = lease.check_n(6);
    assert!(refused.is_denied() && !refused.fits_later());
}

#[test]
fn refusals_do_not_make_a_lease_larger() {
    let limiter = direct("gcra", "100000/s");
    let mut lease = limiter.lease();
    assert!(limiter.check_n(100_000).is_allowed());
    (1..=20).for_each(|cost| assert!(lease.check_n(cost).is_denied()));
    limiter.reset();
    assert!(lease.check().is_allowed());
    assert_eq!(lease.held(), 0);
}

#[test]
fn units_that_a_refund_gave_back_are_not_given_back_again() {
    for algorithm in ALL {
        let limiter = direct(algorithm, "100/10s");
        let mut lease = limiter.lease_n(20);
        assert!(lease.check().is_allowed());
        limiter.refund(u64::MAX);
        assert!(limiter.check().is_allowed());
        limiter.refund(1);
        assert!(limiter.check_n(100).is_allowed());
        drop(lease);
        assert_eq!(limiter.peek().remaining(), 0, "{algorithm}");
    }
}
