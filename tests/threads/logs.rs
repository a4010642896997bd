//! Threads on exact logs: the limit in every window and not one unit more, and perfect accounts of what was taken and given
//! back, while keys are forgotten around them.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::oracle::{Admitted, AdmittedBetween, Dice, direct, on_manual_clock, per};
use super::{LogMap, on_threads};

const LOG: &str = "sliding_window_log";
const US: u64 = 1_000;
const S: u64 = 1_000_000_000;
const THREADS: [u64; 4] = [2, 3, 4, 8];

/// All threads ask at one time, which then moves on: what they took is known to the nanosecond. More is asked for than
/// there is.
fn rounds(check: impl Fn(u64, u64) -> u64 + Sync, threads: u64, limit: u64, window_ns: u64, keys: u64) {
    let barrier = Barrier::new(threads as usize);
    let per_thread = on_threads(threads, |id| {
        let mut dice = Dice::new(id);
        let mut taken = vec![Admitted::default(); keys as usize];
        let mut now_ns = S;
        for round in 0..200 {
            barrier.wait();
            for _ in 0..keys * (limit / threads + 2) {
                let key = dice.below(keys);
                taken[key as usize].push(now_ns, check(key, now_ns));
            }
            barrier.wait();
            // The same steps for all; sometimes to the very end of a window.
            now_ns += [window_ns / 8, window_ns, 1, window_ns - 1, window_ns / 3][round % 5];
        }
        taken
    });
    for key in 0..keys as usize {
        let mut admitted = Admitted::default();
        per_thread.iter().for_each(|taken| admitted.extend(taken[key].clone()));
        assert_eq!(admitted.most_in(window_ns), u128::from(limit), "{threads} threads, key {key}");
    }
}

#[test]
fn no_window_of_any_round_holds_more() {
    for threads in THREADS {
        let (limit, window_ns) = (50, 777 * US);
        let lone = direct(LOG, per(limit, window_ns));
        rounds(|_, now_ns| lone.check_at(now_ns).taken(), threads, limit, window_ns, 1);
        let map = on_manual_clock::<u64>(LOG, per(limit, window_ns)).build_map().unwrap();
        rounds(|key, now_ns| map.check_at(&key, now_ns).taken(), threads, limit, window_ns, 3);
    }
}

/// Two threads at the end of a window. For the one all has expired, so that the ring is too large and it puts another in its
/// place; the other, a nanosecond behind, goes on in the ring that it finds.
#[test]
fn nothing_is_lost_when_a_ring_is_replaced() {
    const CALLS: u64 = 12;
    let (limit, window_ns) = (1_000, 100 * US);
    let limiter = direct(LOG, per(limit, window_ns));
    let arrived = AtomicU64::new(0);
    // Spins: both are to go on at one time.
    let meet = |meeting: u64| {
        arrived.fetch_add(1, Ordering::SeqCst);
        while arrived.load(Ordering::SeqCst) < 2 * meeting {
            thread::yield_now();
        }
    };
    on_threads(2, |behind_ns| {
        for round in 1..=40_000_u64 {
            let now_ns = round * window_ns;
            meet(3 * round - 2);
            for _ in 0..CALLS {
                assert!(limiter.check_at(now_ns - behind_ns).is_allowed());
            }
            meet(3 * round - 1);
            // All of this round, and nothing of the one before.
            assert_eq!(limiter.peek_at(now_ns).remaining(), limit - 2 * CALLS, "round {round}");
            meet(3 * round);
        }
    });
}

/// A time that all threads move on, and of which each has read another, with keys that are forgotten all the time: what was
/// taken counts from a time between the one that was read and the one after the answer.
#[test]
fn no_window_of_a_running_time_holds_more() {
    const KEYS: u64 = 4;
    let (limit, window_ns) = (40, 100 * US);
    for threads in THREADS {
        let map = on_manual_clock::<u64>(LOG, per(limit, window_ns)).build_map().unwrap();
        let clock = AtomicU64::new(S);
        let per_thread = on_threads(threads, |id| {
            let mut dice = Dice::new(id);
            let mut taken = vec![AdmittedBetween::default(); KEYS as usize];
            for _ in 0..16_000 / threads {
                let step_ns = if dice.below(500) == 0 { 2 * window_ns } else { dice.below(US / 2) };
                let now_ns = clock.fetch_add(step_ns, Ordering::SeqCst);
                if dice.below(40) == 0 {
                    let _ = map.evict_idle_at(now_ns);
                }
                let (key, cost) = (dice.below(KEYS), 1 + dice.below(3));
                let units = map.check_n_at(&key, cost, now_ns).taken();
                taken[key as usize].push(now_ns, clock.load(Ordering::SeqCst), units);
            }
            taken
        });
        for key in 0..KEYS as usize {
            let mut admitted = AdmittedBetween::default();
            per_thread.iter().for_each(|taken| admitted.extend(taken[key].clone()));
            let most = admitted.surely_most_in(window_ns);
            assert!(most <= u128::from(limit), "{threads} threads, key {key}: {most}");
            assert!(most >= u128::from(limit / 2), "{threads} threads, key {key}: hardly anything was taken");
        }
    }
}

/// Units that are taken before the threads begin, and never given back: a refund finds what it is to give back.
const BEFORE: u64 = 20_000;
const LIMIT: u64 = 1_000_000;
const LONG: u64 = 3;

/// Ends what goes on until then, also when a thread has failed.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Keys with many units that count until the end, and keys that are charged and given back again by `pass`, so that they are
/// idle all the time and one thread forgets them. `work` is one call for a long key, and says what it took net.
fn accounts(
    threads: u64,
    work: impl Fn(&LogMap, &mut Dice, u64, u64) -> i64 + Sync,
    pass: impl Fn(&LogMap, u64, u64, u64) + Sync,
    is_kept: impl Fn(u64, u64) -> bool,
) {
    let map = on_manual_clock::<u64>(LOG, per(LIMIT, 3_600 * S)).build_map().unwrap();
    (0..LONG).for_each(|key| assert!(map.check_n_at(&key, BEFORE, 0).is_allowed()));
    let running = AtomicBool::new(true);
    let (net, evicted) = thread::scope(|scope| {
        let evicting = scope.spawn(|| {
            let mut evicted = 0;
            while running.load(Ordering::Relaxed) {
                // At the latest time that there is: what has no units is idle.
                evicted += map.evict_idle_at(1_000 * S);
            }
            evicted + map.evict_idle_at(1_000 * S)
        });
        let stop = Stop(&running);
        let net = on_threads(threads, |id| {
            let mut dice = Dice::new(id);
            let mut net = [0; LONG as usize];
            for _ in 0..8_000 / threads {
                let now_ns = dice.below(1_000 * S);
                if dice.below(3) == 0 {
                    // A key of this thread alone, as another's refund would take its units.
                    let key = LONG + threads * dice.below(8) + id;
                    pass(&map, key, 1 + dice.below(3), now_ns);
                    continue;
                }
                let key = dice.below(LONG);
                net[key as usize] += work(&map, &mut dice, key, now_ns);
            }
            net
        });
        drop(stop);
        (net, evicting.join().unwrap())
    });
    assert!(evicted > 0, "{threads} threads: nothing was ever forgotten");
    assert_eq!(map.len_at(1_000 * S), LONG as usize, "{threads} threads: the others were given back");
    for key in 0..LONG {
        let net: i64 = net.iter().map(|net| net[key as usize]).sum();
        let (expected, found) = (BEFORE as i64 + net, LIMIT - map.peek_n_at(&key, 0, 1_000 * S).remaining());
        assert!(is_kept(expected as u64, found), "{threads} threads, key {key}: {found}, not {expected}");
        // The last of them stops counting a window after it was taken.
        assert_eq!(map.peek_n_at(&key, LIMIT, 4_600 * S).remaining(), 0);
    }
}

fn check_and_refund(map: &LogMap, key: u64, units: u64, now_ns: u64) {
    assert_eq!(map.check_n_at(&key, units, now_ns).remaining(), LIMIT - units, "key {key}");
    map.refund_at(&key, units, now_ns);
}

/// Without a refund: those of other keys may keep a reservation from giving back.
fn reserve_and_cancel(map: &LogMap, key: u64, units: u64, now_ns: u64) {
    let held = map.reserve_at(&key, units, now_ns).unwrap();
    assert_eq!(map.peek_at(&key, now_ns).remaining(), LIMIT - units, "key {key}");
    held.cancel_at(now_ns);
}

fn check_or_refund(map: &LogMap, dice: &mut Dice, key: u64, now_ns: u64) -> i64 {
    let units = 1 + dice.below(5);
    if dice.below(3) > 0 {
        return map.check_n_at(&key, units, now_ns).taken() as i64;
    }
    map.refund_at(&key, units, now_ns);
    -(units as i64)
}

fn check_or_reserve(map: &LogMap, dice: &mut Dice, key: u64, now_ns: u64) -> i64 {
    let units = 1 + dice.below(5);
    if dice.below(2) > 0 {
        return map.check_n_at(&key, units, now_ns).taken() as i64;
    }
    let held = map.reserve_at(&key, units, now_ns).unwrap();
    // Others go on meanwhile.
    thread::yield_now();
    let actual = dice.below(8);
    held.commit_at(actual, now_ns);
    actual as i64
}

#[test]
fn refunds_are_accounted_for() {
    for threads in THREADS {
        accounts(threads, check_or_refund, check_and_refund, |expected, found| found == expected);
    }
}

#[test]
fn reservations_are_accounted_for() {
    for threads in THREADS {
        accounts(threads, check_or_reserve, reserve_and_cancel, |expected, found| found == expected);
    }
}

/// Units that are held may be refunded by others. They are not given back twice, so that more may count than should, and
/// never fewer.
#[test]
fn refunds_of_what_is_held_give_nothing_back_twice() {
    let work = |map: &LogMap, dice: &mut Dice, key, now_ns| {
        if dice.below(2) == 0 {
            check_or_refund(map, dice, key, now_ns)
        } else {
            check_or_reserve(map, dice, key, now_ns)
        }
    };
    for threads in THREADS {
        accounts(threads, work, check_and_refund, |expected, found| found >= expected);
    }
}

/// Threads that reset a key, and others that fill it at one time: after the last reset it takes its limit, and no more.
#[test]
fn a_reset_among_checks_forgets_all_or_nothing() {
    let limit = 1_000;
    for threads in THREADS {
        let limiter = direct(LOG, per(limit, S));
        let taken: u64 = on_threads(threads, |id| {
            let mut taken = 0;
            for call in 0..2_000 {
                if id == 0 && call % 500 == 499 {
                    limiter.reset_at(S);
                } else {
                    taken += limiter.check_at(S).taken();
                }
            }
            taken
        })
        .into_iter()
        .sum();
        let left = limiter.peek_at(S).remaining();
        // Four resets: five times the limit at most, and what is left was not taken since the last.
        assert!(
            taken + left <= 5 * limit && taken + left >= limit,
            "{threads} threads: {taken}, {left} left"
        );
        assert_eq!((0..left + 7).map(|_| limiter.check_at(S).taken()).sum::<u64>(), left);
    }
}
