//! A shared time that moves on while keys come, go and come back: keys with a long-lived charge keep a perfect account
//! among the slots that are reclaimed around them.

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate::Quota;

use super::on_threads;
use super::oracle::{ARRIVAL, AdmittedBetween, Dice, on_manual_clock, per, worst_case};

const US: u64 = 1_000;
const S: u64 = 1_000_000_000;

/// Keys that owe much more than the run lasts.
const LONG: u64 = 6;
/// Keys that owe little and are reclaimed all the time.
const SHORT: u64 = 400;

#[test]
fn reclaiming_around_them_loses_nothing_of_long_charges() {
    // A unit comes back each millisecond; a thousand seconds of it are owed from the start.
    let quota = Quota::per_second(1_000).burst(2_000_000);
    const BEFORE: u64 = 1_000_000;
    for algorithm in ARRIVAL {
        for threads in [2, 4, 8, 16] {
            let limiter = on_manual_clock::<u64>(algorithm, quota).capacity(48).build().unwrap();
            let clock = AtomicU64::new(S);
            for key in 0..LONG {
                assert!(limiter.check_n_at(&key, BEFORE, S).is_allowed());
            }
            let net = on_threads(threads, |id| {
                let mut dice = Dice::new(id);
                let mut net = [0_i64; LONG as usize];
                for _ in 0..24_000 / threads {
                    // A thread that is stopped here goes on with a stale time.
                    let now_ns = clock.fetch_add(dice.below(200 * US), Ordering::Relaxed);
                    if dice.below(4) > 0 {
                        let key = LONG + dice.below(SHORT);
                        match dice.below(8) {
                            0 => limiter.refund_at(&key, 1, now_ns),
                            1 => drop(limiter.reserve_at(&key, 2, now_ns).map(|held| held.cancel_at(now_ns))),
                            _ => drop(std::hint::black_box(limiter.check_at(&key, now_ns))),
                        }
                        continue;
                    }
                    let key = dice.below(LONG);
                    let units = 1 + dice.below(5);
                    if dice.below(4) == 0 {
                        limiter.refund_at(&key, units, now_ns);
                        net[key as usize] -= units as i64;
                    } else {
                        net[key as usize] += limiter.check_n_at(&key, units, now_ns).taken() as i64;
                    }
                }
                net
            });
            for key in 0..LONG {
                let net: i64 = net.iter().map(|net| net[key as usize]).sum();
                let owed = limiter.peek_n_at(&key, 0, S).reset_after().as_nanos();
                let expected = (BEFORE as i64 + net) as u128 * 1_000_000;
                assert_eq!(owed, expected, "{algorithm}, {threads} threads, key {key}");
            }
        }
    }
}

/// Every key, live or forgotten and remembered, stays within its bound.
///
/// A newcomer whose `now` is stale is read as later, at the latest at the time of the shared clock: what was admitted in a
/// window for certain is what both began and ended in it.
#[test]
fn keys_that_are_forgotten_and_come_back_stay_within_the_bound() {
    let (limit, period_ns, burst) = (4, 100 * US, 3);
    for algorithm in ARRIVAL {
        for threads in [2, 4, 16] {
            let limiter = on_manual_clock::<u64>(algorithm, per(limit, period_ns).burst(burst))
                .capacity(12)
                .build()
                .unwrap();
            let clock = AtomicU64::new(S);
            const KEYS: usize = 40;
            let per_thread = on_threads(threads, |id| {
                let mut dice = Dice::new(id);
                let mut admitted = vec![AdmittedBetween::default(); KEYS];
                for _ in 0..24_000 / threads {
                    let now_ns = clock.fetch_add(dice.below(8 * US), Ordering::SeqCst);
                    let key = dice.below(KEYS as u64);
                    for _ in 0..=dice.below(burst + 1) {
                        let taken = limiter.check_at(&key, now_ns).taken();
                        admitted[key as usize].push(now_ns, clock.load(Ordering::SeqCst), taken);
                    }
                }
                admitted
            });
            let mut reached = 0;
            for key in 0..KEYS {
                let mut admitted = AdmittedBetween::default();
                per_thread.iter().for_each(|thread| admitted.extend(thread[key].clone()));
                let most = admitted.surely_most_in(period_ns);
                assert!(
                    most <= worst_case(algorithm, limit, burst),
                    "{algorithm}, {threads} threads: {most}"
                );
                reached = reached.max(most);
            }
            assert!(reached >= u128::from(burst), "{algorithm}: hardly anything was admitted");
        }
    }
}
