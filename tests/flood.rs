//! Many more keys than the table has room for.

mod oracle;

use std::time::{Duration, Instant};

use tollgate::{Limiter, ManualClock, Overflow, Quota, Verdict};

use oracle::{TABLE_ALGORITHMS, on_manual_clock};

const S: u64 = 1_000_000_000;
const DRAINED: u64 = u64::MAX;

/// Fills the table with other keys, many times over, at one time; returns how many were let pass.
fn flood<H: std::hash::BuildHasher>(
    limiter: &Limiter<u64, ManualClock, tollgate::Table<H>>,
    keys: u64,
    now_ns: u64,
) -> u64 {
    (0..keys).map(|key| limiter.check_at(&key, now_ns).taken()).sum()
}

#[test]
fn a_drained_key_stays_drained_under_every_policy() {
    const FLOOD: u64 = 8_000;
    for policy in [Overflow::Share, Overflow::Deny, Overflow::Allow] {
        for algorithm in TABLE_ALGORITHMS {
            let limiter = on_manual_clock::<u64>(algorithm, Quota::per_minute(5))
                .capacity(200)
                .overflow(policy)
                .build()
                .unwrap();
            assert!(limiter.check_n_at(&DRAINED, 5, S).is_allowed());
            let passed = flood(&limiter, FLOOD, S);
            let placed = limiter.len_at(S) as u64 - 1;
            let overflowed = limiter.overflowed();
            assert!((380..400).contains(&placed), "{algorithm} {policy:?}: {placed} keys have a place");
            match policy {
                Overflow::Deny => {
                    assert_eq!(passed, placed, "{algorithm}");
                    assert_eq!(overflowed, FLOOD - placed, "{algorithm}");
                }
                Overflow::Allow => {
                    assert_eq!(passed, FLOOD, "{algorithm}");
                    assert_eq!(overflowed, FLOOD - placed, "{algorithm}");
                }
                _ => {
                    assert!(passed > placed, "{algorithm}: newcomers are locked out");
                    // One region, one shared quota of five.
                    assert_eq!(passed - placed, 5 * limiter_regions(200), "{algorithm}");
                    assert_eq!(overflowed, FLOOD - placed, "{algorithm}");
                }
            }
            let again = limiter.check_at(&DRAINED, S);
            assert_eq!((again.verdict(), again.remaining()), (Verdict::Denied, 0), "{algorithm} {policy:?}");
            // Later too, and after as many keys again.
            let later_ns = S + S / 4;
            let _ = flood(&limiter, FLOOD, later_ns);
            assert!(limiter.check_at(&DRAINED, later_ns).is_denied(), "{algorithm} {policy:?}");
        }
    }
}

/// Cells that keys without a place share: one per 64 lines of four slots.
fn limiter_regions(capacity: u64) -> u64 {
    // A small table is for half as many keys as it has slots.
    (capacity * 2).div_ceil(4).div_ceil(64)
}

/// A limiter full of keys that took one unit each at `S`, and a key that found no place.
fn full_limiter(
    algorithm: &str,
    policy: Overflow,
) -> (Limiter<u64, ManualClock, tollgate::Table<std::hash::BuildHasherDefault<std::hash::DefaultHasher>>>, u64)
{
    let limiter = on_manual_clock::<u64>(algorithm, Quota::per_second(2))
        .capacity(50)
        .overflow(policy)
        .build()
        .unwrap();
    let _ = flood(&limiter, 2_000, S);
    let denied = (2_000..100_000).find(|key| limiter.check_at(key, S).is_denied());
    let key = denied.unwrap_or_else(|| panic!("{algorithm} {policy:?} has room for all"));
    (limiter, key)
}

#[test]
fn a_key_without_a_place_gets_one_when_others_are_idle() {
    for policy in [Overflow::Share, Overflow::Deny] {
        for algorithm in TABLE_ALGORITHMS {
            let (limiter, key) = full_limiter(algorithm, policy);
            let before = limiter.overflowed();
            assert!(limiter.check_at(&key, 4 * S).is_allowed(), "{algorithm} {policy:?}");
            assert_eq!(limiter.overflowed(), before, "{algorithm} {policy:?}: it has a place of its own");
            assert_eq!(limiter.check_at(&key, 4 * S).remaining(), 0, "{algorithm} {policy:?}");
        }
    }
}

/// Nobody knows when a key will be idle, but a wait is never none, and what can never fit is never waited for.
#[test]
fn a_refusal_for_want_of_room_names_a_wait() {
    for algorithm in TABLE_ALGORITHMS {
        let (limiter, key) = full_limiter(algorithm, Overflow::Deny);
        let denied = limiter.check_at(&key, S);
        assert_eq!((denied.verdict(), denied.remaining()), (Verdict::Denied, 0), "{algorithm}");
        let wait = denied.retry_after();
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(2), "{algorithm}: {wait:?}");
        assert_eq!(limiter.check_n_at(&key, 3, S).verdict(), Verdict::NeverFits, "{algorithm}");
    }
}

/// `capacity` keys that are all live: at most one in ten thousand finds no place. Several generations of keys, as a table
/// long in use is less orderly than a fresh one.
fn capacity_is_kept(keys: u64, generations: u64) {
    let limiter = Limiter::<u64>::builder(Quota::per_second(2))
        .capacity(keys as usize)
        .clock(ManualClock::new(0))
        // The same tags in every run.
        .hasher(std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default())
        .build()
        .unwrap();
    for generation in 0..generations {
        let before = limiter.overflowed();
        let now_ns = (generation + 1) * 2 * S;
        for key in 0..keys {
            assert!(limiter.check_at(&(generation << 32 | key), now_ns).is_allowed());
        }
        let overflowed = limiter.overflowed() - before;
        assert!(overflowed * 10_000 <= keys, "{overflowed} of {keys} keys of generation {generation}");
        assert_eq!(limiter.len_at(now_ns) as u64 + overflowed, keys);
    }
}

#[test]
fn ten_thousand_keys_fit_a_capacity_of_ten_thousand() {
    capacity_is_kept(10_000, 20);
}

#[test]
fn a_million_keys_fit_a_capacity_of_a_million() {
    capacity_is_kept(1_000_000, 2);
}

/// Resident memory in KiB.
#[cfg(target_os = "linux")]
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// 100 M distinct keys through a table of 1 M. The first half come so fast that 750 000 are live at a time, and the table
/// forgets and reuses; the second half stay live, and nearly all find no place.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "minutes long: run with --ignored --release"]
fn a_hundred_million_keys_through_a_table_of_one_million() {
    const HALF: u64 = 50_000_000;
    const STEP_NS: u64 = 1_000;
    // A unit each six minutes: all of the flood is over before one comes back.
    let limiter = Limiter::<u64>::builder(Quota::per_hour(10))
        .capacity(1_000_000)
        .clock(ManualClock::new(0))
        .build()
        .unwrap();
    let short = limiter.plan(Quota::per_minute(80)).unwrap();
    let limited = [DRAINED, DRAINED - 1, DRAINED - 2];
    for key in &limited {
        assert!(limiter.check_n_at(key, 10, S).is_allowed());
    }
    let still_limited = |now_ns| limited.iter().all(|key| limiter.check_at(key, now_ns).is_denied());
    assert!(still_limited(S));

    let before_kib = resident_kib();
    let start = Instant::now();
    let passed: u64 =
        (0..HALF).map(|key| limiter.check_n_with_at(&key, 1, &short, S + key * STEP_NS).taken()).sum();
    let middle_kib = resident_kib();
    eprintln!(
        "reuse:    {HALF} keys in {:?}, {passed} allowed, {} found no place; resident {before_kib} -> {middle_kib} KiB",
        start.elapsed(),
        limiter.overflowed()
    );
    assert!(limiter.overflowed() * 10_000 <= HALF);
    assert!(still_limited(S + HALF * STEP_NS));

    let (start, before) = (Instant::now(), limiter.overflowed());
    let passed: u64 = (HALF..2 * HALF).map(|key| limiter.check_at(&key, S + key * STEP_NS).taken()).sum();
    let after_kib = resident_kib();
    eprintln!(
        "overflow: {HALF} keys in {:?}, {passed} allowed, {} found no place; resident {middle_kib} -> {after_kib} KiB",
        start.elapsed(),
        limiter.overflowed() - before
    );
    assert!(limiter.overflowed() - before > HALF / 2);
    assert!(still_limited(S + 2 * HALF * STEP_NS));
    // Nothing grows: 1 MiB is what a test harness may need for itself.
    assert!(
        after_kib.max(middle_kib) <= before_kib + 1_024,
        "{before_kib} -> {middle_kib} -> {after_kib} KiB"
    );
}
