//! Rounds at one instant each, on a table with hardly more slots than keys: in each all keys of the rounds before have
//! become idle, and are reclaimed, claimed, settled and charged again by all threads at once.
//!
//! At the end of a round each key has admitted exactly its burst. One more is a charge that was lost, one less a charge
//! that was made twice.

use std::sync::Barrier;

use tollgate::store::{Lookup, Store};
use tollgate::{Limiter, ManualClock, Quota};

use super::on_threads;
use super::oracle::{ALL, Dice, TABLE_ALGORITHMS, in_a_table, on_manual_clock};

const S: u64 = 1_000_000_000;
const BURST: u64 = 5;

/// The keys of a round: some of the round before, in another order, and some new ones.
fn keys(round: u64, count: u64) -> Vec<u64> {
    let mut dice = Dice::new(round);
    let mut keys: Vec<_> = (0..count).map(|i| (round / 2) * count + i).collect();
    for i in (1..keys.len()).rev() {
        keys.swap(i, dice.below(i as u64 + 1) as usize);
    }
    keys
}

fn run<St>(limiter: &Limiter<u64, ManualClock, St>, what: &str, threads: u64, key_count: u64, rounds: u64)
where
    St: Store + Lookup<u64> + Sync,
{
    let barrier = Barrier::new(threads as usize);
    let taken = on_threads(threads, |id| {
        let mut dice = Dice::new(id);
        (0..rounds)
            .map(|round| {
                // Three windows: whatever was charged is idle.
                let now_ns = (round + 1) * 3 * S;
                let keys = keys(round, key_count);
                barrier.wait();
                let mut taken = vec![0; keys.len()];
                for _ in 0..BURST + 1 {
                    // All threads meet at the same key half of the time.
                    let turn = if dice.below(2) == 0 { 0 } else { dice.below(key_count) as usize };
                    for i in 0..keys.len() {
                        let i = (i + turn) % keys.len();
                        taken[i] += limiter.check_at(&keys[i], now_ns).taken();
                    }
                }
                barrier.wait();
                for (i, key) in keys.iter().enumerate() {
                    let left = limiter.peek_n_at(key, 1, now_ns);
                    assert!(
                        left.is_denied() && left.remaining() == 0,
                        "{what}: key {i} of round {round} forgot"
                    );
                }
                taken
            })
            .collect::<Vec<_>>()
    });
    for round in 0..rounds as usize {
        for key in 0..key_count as usize {
            let taken: u64 = taken.iter().map(|thread| thread[round][key]).sum();
            assert_eq!(taken, BURST, "{what}, {threads} threads: key {key} of round {round}");
        }
    }
}

#[test]
fn keys_that_come_and_go_admit_exactly_their_burst() {
    // A slot for each key and each thread that is about to insert is all that is ever needed at once.
    for (threads, key_count, capacity, rounds) in
        [(2, 9, 9, 1_500), (4, 7, 9, 800), (8, 3, 9, 500), (16, 6, 17, 200)]
    {
        for algorithm in TABLE_ALGORITHMS {
            let limiter = in_a_table(algorithm, Quota::per_second(BURST), capacity).unwrap();
            run(&limiter, algorithm, threads, key_count, rounds);
            assert_eq!(limiter.overflowed(), 0, "{algorithm}: a slot was missing");
        }
    }
}

#[test]
fn keys_of_a_map_admit_exactly_their_burst() {
    for algorithm in ALL {
        let limiter = on_manual_clock::<u64>(algorithm, Quota::per_second(BURST)).build_map().unwrap();
        run(&limiter, algorithm, 4, 7, 300);
    }
}

/// Too many keys for the table: what finds no room shares, and nobody gets more than his own burst.
#[test]
fn no_key_gets_more_than_its_burst_when_it_shares() {
    const KEYS: u64 = 30;
    for algorithm in TABLE_ALGORITHMS {
        let limiter =
            on_manual_clock::<u64>(algorithm, Quota::per_second(BURST)).capacity(9).build().unwrap();
        for round in 0..100_u64 {
            let now_ns = (round + 1) * 3 * S;
            let taken = on_threads(4, |id| {
                let mut dice = Dice::new(round * 4 + id);
                let mut taken = [0; KEYS as usize];
                for _ in 0..200 {
                    let key = dice.below(KEYS);
                    taken[key as usize] += limiter.check_at(&(round * 7 + key), now_ns).taken();
                }
                taken
            });
            for key in 0..KEYS as usize {
                let taken: u64 = taken.iter().map(|thread| thread[key]).sum();
                assert!(taken <= BURST, "{algorithm}: key {key} of round {round} took {taken}");
            }
        }
        assert!(limiter.overflowed() > 0, "{algorithm}: there was room for all");
    }
}
