//! cases.md, "Many keys". The flood itself is in `tests/flood.rs`.

use tollgate::{BuildError, Limiter, ManualClock, Quota};

use super::S;
use super::oracle::{ALL, TABLE_ALGORITHMS, on_manual_clock};

#[test]
fn a_drained_key_stays_drained_while_others_pass() {
    for algorithm in TABLE_ALGORITHMS {
        let limiter = on_manual_clock::<u64>(algorithm, Quota::per_minute(5)).capacity(100).build().unwrap();
        assert!(limiter.check_n_at(&0, 5, S).is_allowed());
        for other in 1..10_000 {
            let _ = limiter.check_at(&other, S + other * 1_000);
        }
        assert!(limiter.check_at(&0, 2 * S).is_denied(), "{algorithm}");
    }
}

#[test]
fn a_million_keys_pass_through_room_for_some() {
    // A key is live for a second, so 50 000 are at once.
    let limiter = on_manual_clock::<u64>("gcra", Quota::per_second(1)).capacity(60_000).build().unwrap();
    assert_eq!(limiter.capacity(), Some(60_000));
    for key in 0..1_000_000 {
        assert!(limiter.check_at(&key, key * 20_000).is_allowed());
    }
    assert_eq!(limiter.len_at(999_999 * 20_000), 50_000);
    assert_eq!(limiter.overflowed(), 0, "no slot was ever missing");
}

/// Room is made from idle keys only: all that was drained is still drained, and what is idle makes room.
#[test]
fn reclaiming_forgets_no_drained_key() {
    for algorithm in TABLE_ALGORITHMS {
        let limiter = on_manual_clock::<u64>(algorithm, Quota::per_minute(5)).capacity(64).build().unwrap();
        let mut now_ns = S;
        for round in 0..50_u64 {
            let keys = round * 40..(round + 1) * 40;
            for key in keys.clone() {
                assert!(limiter.check_n_at(&key, 5, now_ns).is_allowed(), "{algorithm}");
            }
            // Others come and reclaim what they can, which is nothing of this round's.
            for other in 0..200 {
                let _ = limiter.check_at(&(1_000_000 + round * 200 + other), now_ns);
            }
            for key in keys {
                assert!(limiter.check_at(&key, now_ns).is_denied(), "{algorithm}: {key} was forgotten");
            }
            now_ns += 180 * S;
        }
    }
}

/// The same for keys of a map, which are forgotten when it is told to.
#[test]
fn evicting_forgets_no_drained_key() {
    for algorithm in ALL {
        let limiter = on_manual_clock::<u64>(algorithm, Quota::per_minute(5)).build_map().unwrap();
        for round in 0..50_u64 {
            let now_ns = (1 + round * 180) * S;
            let keys = round * 40..(round + 1) * 40;
            for key in keys.clone() {
                assert!(limiter.check_n_at(&key, 5, now_ns).is_allowed(), "{algorithm}");
            }
            let idle = if round == 0 { 0 } else { 40 };
            assert_eq!(limiter.evict_idle_at(now_ns), idle, "{algorithm}: those of the round before");
            for key in keys {
                assert!(limiter.check_at(&key, now_ns).is_denied(), "{algorithm}: {key} was forgotten");
            }
        }
    }
}

#[test]
fn parts_of_a_key_do_not_run_together() {
    let limiter = Limiter::<(String, String)>::builder(Quota::per_second(1))
        .clock(ManualClock::new(0))
        .build()
        .unwrap();
    let key = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert!(limiter.check(&key("a", "b:c")).is_allowed());
    assert!(limiter.check(&key("a:b", "c")).is_allowed());
    assert!(limiter.check(&key("a", "b:c")).is_denied());
}

#[test]
fn the_empty_key_is_a_key() {
    let limiter = on_manual_clock::<str>("gcra", Quota::per_second(2)).capacity(10).build().unwrap();
    assert!(limiter.check("").is_allowed());
    assert!(limiter.check("").is_allowed());
    assert!(limiter.check("").is_denied());
    assert!(limiter.check(" ").is_allowed());
    let map = on_manual_clock::<String>("gcra", Quota::per_second(1)).build_map().unwrap();
    assert!(map.check("").is_allowed());
    assert!(map.check("").is_denied());
    assert_eq!(map.len(), 1);
}

/// A hash of zero, too, which is what an empty slot holds.
#[test]
fn a_key_that_hashes_to_zero_is_a_key() {
    #[derive(Clone, Default)]
    struct Itself(u64);
    impl std::hash::Hasher for Itself {
        fn write(&mut self, _: &[u8]) {}
        fn write_u64(&mut self, value: u64) {
            self.0 = value;
        }
        fn finish(&self) -> u64 {
            self.0
        }
    }
    let limiter = Limiter::<u64>::builder(Quota::per_second(2))
        .capacity(10)
        .clock(ManualClock::new(0))
        .hasher(std::hash::BuildHasherDefault::<Itself>::default())
        .build()
        .unwrap();
    for key in [0, u64::MAX, 1] {
        assert_eq!(limiter.peek(&key).remaining(), 2);
        assert!(limiter.check_n(&key, 2).is_allowed());
        assert!(limiter.check(&key).is_denied());
    }
    assert_eq!(limiter.len(), 3);
}

#[test]
fn no_capacity_is_refused() {
    let error = Limiter::<str>::builder(Quota::per_second(1)).capacity(0).build().unwrap_err();
    assert_eq!(error, BuildError::CapacityZero);
    assert!(error.to_string().contains("capacity 0"), "{error}");
}
