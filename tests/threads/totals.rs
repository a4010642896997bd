//! One key and few keys: the total is exact.

use tollgate::store::{Lookup, Store};
use tollgate::{Limiter, ManualClock, Quota};

use super::on_threads;
use super::oracle::{ALL, ARRIVAL, Admitted, Dice, direct, in_a_table, on_manual_clock, per, worst_case};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// All threads ask for few keys at one time: each key admits its limit, and not one more.
fn few_keys_at_one_time<S>(limiter: &Limiter<u64, ManualClock, S>, threads: u64, limit: u64, what: &str)
where
    S: Store + Lookup<u64> + Sync,
{
    const KEYS: u64 = 3;
    let taken = on_threads(threads, |id| {
        let mut dice = Dice::new(id);
        let mut taken = [0; KEYS as usize];
        for _ in 0..4 * KEYS * limit / threads {
            let key = dice.below(KEYS);
            taken[key as usize] += limiter.check_n_at(&key, 1 + dice.below(2), 5 * MS).taken();
        }
        taken
    });
    for key in 0..KEYS {
        let taken: u64 = taken.iter().map(|taken| taken[key as usize]).sum();
        // More was asked for than there is, in ones and twos: one unit can only be left if nobody asked for one.
        let left = limiter.peek_n_at(&key, 0, 5 * MS).remaining();
        assert_eq!(taken + left, limit, "{what}, {threads} threads, key {key}");
        assert_eq!(left, 0, "{what}, {threads} threads, key {key}");
    }
}

#[test]
fn few_keys_admit_what_one_thread_would() {
    for threads in [2, 3, 4, 8, 16] {
        for algorithm in ALL {
            let quota = Quota::per_second(1_000);
            if let Some(table) = in_a_table(algorithm, quota, 32) {
                few_keys_at_one_time(&table, threads, 1_000, algorithm);
                assert_eq!(table.overflowed(), 0);
            }
            let map = on_manual_clock(algorithm, quota).build_map().unwrap();
            few_keys_at_one_time(&map, threads, 1_000, algorithm);
        }
    }
}

#[test]
fn a_limiter_without_keys_admits_what_one_thread_would() {
    for threads in [2, 4, 16] {
        for algorithm in ALL {
            let limiter = direct(algorithm, Quota::per_second(5_000));
            let taken = on_threads(threads, |_| (0..5_000).map(|_| limiter.check_at(S).taken()).sum::<u64>());
            assert_eq!(taken.iter().sum::<u64>(), 5_000, "{algorithm}, {threads} threads");
        }
    }
}

/// Every thread has a clock of its own: some stale, some ahead, some going back. What was admitted, at the times that were
/// claimed, stays within the bound; for a window, at the start of the window that it was counted in.
#[test]
fn clocks_that_disagree_stay_within_the_bound() {
    let (limit, period_ns) = (50, 10 * MS);
    for threads in [2, 4, 16] {
        for algorithm in ARRIVAL {
            let limiter = on_manual_clock::<u64>(algorithm, per(limit, period_ns).burst(20)).build().unwrap();
            let per_thread = on_threads(threads, |id| {
                let mut dice = Dice::new(id);
                let mut admitted = Admitted::default();
                let mut now_ns = S + dice.below(period_ns);
                for _ in 0..20_000 / threads {
                    now_ns = if dice.below(20) == 0 {
                        now_ns - dice.below(MS)
                    } else {
                        now_ns + dice.below(MS / 10)
                    };
                    admitted.push(now_ns, limiter.check_n_at(&1, 1 + dice.below(3), now_ns).taken());
                }
                admitted
            });
            let mut admitted = Admitted::default();
            per_thread.into_iter().for_each(|part| admitted.extend(part));
            assert!(admitted.total() > 100, "{algorithm}: hardly anything was admitted");
            assert!(
                admitted.most_in(period_ns) <= worst_case(algorithm, limit, 20),
                "{algorithm}, {threads} threads"
            );
        }
    }
}

/// A key that is never idle keeps a perfect account: when it will be new again says everything that was ever taken and not
/// given back, whatever clocks the threads had.
#[test]
fn a_busy_key_keeps_a_perfect_account() {
    // A unit a second, and so much in debt that no clock below catches up.
    let quota = per(1, S).burst(1_000_000);
    for threads in [2, 4, 16] {
        for algorithm in ARRIVAL {
            let limiter = on_manual_clock::<u64>(algorithm, quota).capacity(16).build().unwrap();
            const BEFORE: u64 = 500_000;
            for key in 0..4 {
                assert!(limiter.check_n_at(&key, BEFORE, 0).is_allowed());
            }
            let net = on_threads(threads, |id| {
                let mut dice = Dice::new(id);
                let mut net = [0_i64; 4];
                for _ in 0..20_000 / threads {
                    let (key, units, now_ns) = (dice.below(4), 1 + dice.below(9), dice.below(100_000 * S));
                    let sum = &mut net[key as usize];
                    match dice.below(6) {
                        0 => {
                            limiter.refund_at(&key, units, now_ns);
                            *sum -= units as i64;
                        }
                        1 => {
                            let reservation = limiter.reserve_at(&key, units, now_ns).unwrap();
                            let actual = dice.below(12);
                            reservation.commit_at(actual, now_ns);
                            *sum += actual as i64;
                        }
                        2 => limiter.reserve_at(&key, units, now_ns).unwrap().cancel_at(now_ns),
                        _ => *sum += limiter.check_n_at(&key, units, now_ns).taken() as i64,
                    }
                }
                net
            });
            for key in 0..4 {
                let net: i64 = net.iter().map(|net| net[key as usize]).sum();
                let owed = limiter.peek_n_at(&key, 0, 0).reset_after().as_nanos();
                assert_eq!(
                    owed,
                    u128::from(S) * (BEFORE as i64 + net) as u128,
                    "{algorithm}, {threads} threads"
                );
            }
            assert_eq!(limiter.overflowed(), 0);
        }
    }
}
