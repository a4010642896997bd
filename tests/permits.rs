//! How many at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use proptest::prelude::*;
use tollgate::{DirectLimiter, Limiter, Limits, ManualClock, Outcome, Permit, Permits, Quota, Refused, Rule};

const S: u64 = 1_000_000_000;

#[test]
fn as_many_as_there_are_and_no_more() {
    let permits = Permits::<str>::new(3, 100).unwrap();
    let mut held: Vec<_> = (0..3).map(|_| permits.acquire_at("a", 0).unwrap()).collect();
    assert!(permits.acquire_at("a", 0).is_none());
    assert!(permits.acquire_at("a", u64::MAX).is_none(), "no time brings one back");
    assert!(permits.acquire_at("b", 0).is_some(), "of another key");
    held.pop();
    assert_eq!(permits.out("a"), 2);
    assert!(permits.acquire_at("a", 0).is_some());
}

#[test]
fn a_permit_comes_back_when_its_holder_panics() {
    let permits = Permits::<str>::new(1, 100).unwrap();
    let panicked = thread::scope(|scope| {
        let holder = scope.spawn(|| {
            let _permit = permits.acquire_at("a", 0).unwrap();
            panic!("the work failed");
        });
        holder.join()
    });
    assert!(panicked.is_err());
    assert!(permits.acquire_at("a", 0).is_some());
}

#[test]
fn nobody_with_a_permit_is_forgotten_and_whoever_has_none_makes_room() {
    const KEYS: u64 = 100;
    let permits = Permits::<u64>::new(1, KEYS as usize).unwrap();
    let held: Vec<_> = (0..KEYS).map(|key| permits.acquire_at(&key, 0).unwrap()).collect();
    // A flood of others, for a century: they find the slots that are left, or none.
    for key in KEYS..50 * KEYS {
        drop(permits.acquire_at(&key, key * S));
    }
    assert_eq!(permits.keys(), held.len());
    assert!((0..KEYS).all(|key| permits.acquire_at(&key, u64::MAX).is_none()));
    drop(held);
    let again: Vec<_> = (0..KEYS).map(|key| permits.acquire_at(&(key + KEYS), 100 * KEYS * S)).collect();
    assert!(again.iter().all(Option::is_some));
}

#[test]
fn a_full_table_refuses_newcomers() {
    let permits = Permits::<u64>::new(1, 100).unwrap();
    let held: Vec<Permit<'_>> = (0..1_000).filter_map(|key| permits.acquire_at(&key, 0)).collect();
    assert!(held.len() >= 100 && held.len() < 1_000, "{}", held.len());
    assert_eq!(permits.keys(), held.len());
}

#[test]
fn both_or_neither() {
    let permits = Permits::<str>::new(2, 100).unwrap();
    let rate = Limiter::<str>::builder(Quota::per_second(3)).clock(ManualClock::new(0)).build().unwrap();
    let ask = || permits.acquire_if_at("a", 0, || rate.check("a").into_result());
    let (first, second) = (ask().unwrap().0, ask().unwrap().0);
    assert_eq!(ask().unwrap_err(), Refused::AtOnce);
    assert_eq!(rate.peek("a").remaining(), 1, "no permit, so the rate was not charged");
    drop((first, second));
    drop(ask().unwrap());
    let Err(Refused::Rate(refusal)) = ask() else { panic!("the rate is used up") };
    assert_eq!(refusal.limit(), 3);
    assert_eq!(permits.out("a"), 0, "refused by the rate, so the permit was put back");
}

#[test]
fn beside_several_limits() {
    let permits = Permits::<u64>::new(1, 100).unwrap();
    let limits = Limits::builder()
        .rule(Rule::new("user", Quota::per_second(2), |user: &u64| Some(*user)))
        .clock(ManualClock::new(0))
        .build()
        .unwrap();
    let ask = || permits.acquire_if_at(&7, 0, || limits.check(&7).into_result());
    for _ in 0..2 {
        drop(ask().unwrap());
    }
    let refused = ask().unwrap_err();
    assert!(matches!(refused, Refused::Rate(outcome) if Outcome::rule(&outcome) == Some("user")));
}

#[test]
fn zero_and_too_many_are_refused_with_what_to_write() {
    for max in [0, 65_536, u64::MAX] {
        let error = Permits::<str>::new(max, 1).unwrap_err().to_string();
        assert!(error.contains("1 to 65535"), "{error}");
    }
    assert!(Permits::<str>::new(65_535, 1).is_ok());
    assert!(Permits::<str>::new(1, 0).is_err());
}

proptest! {
    /// Counts of integers, whatever the times: a permit is there while fewer than so many are out, and a rate is charged for those
    /// that got both.
    #[test]
    fn permits_are_a_count_beside_a_rate(
        max in 1..4_u64, limit in 1..12_u64,
        script in prop::collection::vec((0..6_usize, 0..3_u8, any::<prop::sample::Index>(), any::<u64>()), 1..120),
    ) {
        let permits = Permits::<usize>::new(max, 64).unwrap();
        let rate = Limiter::<usize>::builder(Quota::per_day(limit)).clock(ManualClock::new(0)).build().unwrap();
        let (mut held, mut left, mut out) = (Vec::new(), [limit; 6], [0; 6]);
        for (key, op, which, now_ns) in script {
            match op {
                0 if !held.is_empty() => {
                    let (permit, key): (Permit<'_>, usize) = held.swap_remove(which.index(held.len()));
                    drop(permit);
                    out[key] -= 1;
                }
                1 => {
                    let permit = permits.acquire_at(&key, now_ns);
                    prop_assert_eq!(permit.is_some(), out[key] < max);
                    out[key] += u64::from(permit.is_some());
                    held.extend(permit.map(|permit| (permit, key)));
                }
                _ => match permits.acquire_if_at(&key, now_ns, || rate.check(&key).into_result()) {
                    Ok((permit, _)) => {
                        prop_assert!(out[key] < max && left[key] > 0);
                        out[key] += 1;
                        left[key] -= 1;
                        held.push((permit, key));
                    }
                    Err(Refused::AtOnce) => prop_assert_eq!(out[key], max),
                    Err(Refused::Rate(_)) => prop_assert!(out[key] < max && left[key] == 0),
                },
            }
            prop_assert_eq!((permits.out(&key), rate.peek(&key).remaining()), (out[key], left[key]));
            prop_assert_eq!(permits.keys(), out.iter().filter(|&&out| out > 0).count());
        }
    }
}

/// Threads hold a permit of one of a few keys, while floods of others come and go: there are never more than so many at work,
/// and all come back.
#[test]
fn a_race_never_has_more_at_once() {
    const MAX: u64 = 2;
    const KEYS: u64 = 3;
    let permits = Permits::<u64>::new(MAX, 8).unwrap();
    let at_work: [AtomicU64; KEYS as usize] = Default::default();
    let admitted = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (permits, at_work, admitted) = (&permits, &at_work, &admitted);
            scope.spawn(move || {
                for call in 0..2_000_u64 {
                    let now_ns = call * 1_000_000;
                    let key = (call + thread) % KEYS;
                    if let Some(_permit) = permits.acquire_at(&key, now_ns) {
                        let others = at_work[key as usize].fetch_add(1, Ordering::SeqCst);
                        assert!(others < MAX, "{others} others");
                        admitted.fetch_add(1, Ordering::Relaxed);
                        // Somebody else's key wants a slot meanwhile.
                        drop(permits.acquire_at(&(1_000 + call * 4 + thread), now_ns));
                        at_work[key as usize].fetch_sub(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert!(admitted.into_inner() > 0);
    assert_eq!(permits.keys(), 0);
    assert!((0..KEYS).all(|key| permits.out(&key) == 0));
}

/// A permit and a rate from several threads: the rate is charged for exactly those who got both.
#[test]
fn a_race_for_both_charges_neither_alone() {
    let permits = Permits::<str>::new(2, 8).unwrap();
    let rate = DirectLimiter::builder(Quota::per_day(1_000)).clock(ManualClock::new(0)).build().unwrap();
    let both = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..400 {
                    if permits.acquire_if_at("a", 0, || rate.check().into_result()).is_ok() {
                        both.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(rate.peek().remaining(), 1_000 - both.into_inner());
    assert_eq!(permits.out("a"), 0);
}
