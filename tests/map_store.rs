//! The map behaves as the table does, and eviction changes no decision.

mod oracle;

use std::collections::HashMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::{Clock, Limiter, ManualClock, Map, Quota};

use oracle::{ALL, ARRIVAL, Answer, Dice, Model, in_a_table, model, on_manual_clock};

const S: u64 = 1_000_000_000;

type Exact = Limiter<u64, ManualClock, Map<u64, std::hash::BuildHasherDefault<std::hash::DefaultHasher>>>;

fn map(algorithm: &str, quota: Quota) -> Exact {
    on_manual_clock(algorithm, quota).build_map().unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Check(u64),
    Refund(u64),
    Reset,
    ReserveAndCommit(u64, u64),
    Evict,
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..8_u64).prop_map(Op::Check),
        1 => (0..8_u64).prop_map(Op::Refund),
        1 => Just(Op::Reset),
        1 => (1..6_u64, 0..8_u64).prop_map(|(units, actual)| Op::ReserveAndCommit(units, actual)),
        1 => Just(Op::Evict),
    ]
}

proptest! {
    /// A table, a map, a map that is evicted all the time, and a model for each key, in step.
    #[test]
    fn a_map_is_a_table_is_a_model(
        script in vec((0..6_u64, prop_oneof![Just(0), 0..300_000_000_u64, 0..3 * S], any_op()), 1..80),
    ) {
        for algorithm in ALL {
            let quota = Quota::per_second(5);
            let table = in_a_table(algorithm, quota, 8);
            let (kept, evicted) = (map(algorithm, quota), map(algorithm, quota));
            let mut models: HashMap<u64, Box<dyn Model>> = HashMap::new();
            let mut now_ns = S;
            for &(key, step_ns, op) in &script {
                now_ns += step_ns;
                for clock in [kept.clock(), evicted.clock()].into_iter().chain(table.as_ref().map(Limiter::clock)) {
                    clock.set(now_ns);
                }
                let model = models.entry(key).or_insert_with(|| model(algorithm, 5, S, 5));
                match op {
                    Op::Check(cost) => {
                        let expected = model.check(cost, now_ns);
                        if let Some(table) = &table {
                            prop_assert_eq!(Answer::from(table.check_n(&key, cost)), expected, "{} in a table", algorithm);
                        }
                        prop_assert_eq!(Answer::from(kept.check_n(&key, cost)), expected, "{} in a map", algorithm);
                        prop_assert_eq!(Answer::from(evicted.check_n(&key, cost)), expected, "{} in an evicted map", algorithm);
                    }
                    Op::Refund(units) => {
                        model.refund(units, now_ns);
                        table.iter().for_each(|table| table.refund(&key, units));
                        kept.refund(&key, units);
                        evicted.refund(&key, units);
                    }
                    Op::Reset => {
                        model.reset(now_ns);
                        table.iter().for_each(|table| table.reset(&key));
                        kept.reset(&key);
                        evicted.reset(&key);
                    }
                    Op::ReserveAndCommit(units, actual) => {
                        // As the model knows no debts here: only what fits.
                        let fits = model.peek(units.max(actual), now_ns).verdict == tollgate::Verdict::Allowed;
                        if fits {
                            let _ = model.check(actual, now_ns);
                            table.iter().for_each(|table| table.reserve(&key, units).unwrap().commit(actual));
                            kept.reserve(&key, units).unwrap().commit(actual);
                            evicted.reserve(&key, units).unwrap().commit(actual);
                        }
                    }
                    Op::Evict => {
                        let before = evicted.len();
                        evicted.evict_idle();
                        prop_assert_eq!(evicted.evict_idle(), 0, "all that is idle is gone");
                        prop_assert_eq!(evicted.len(), before, "and nothing else");
                    }
                }
                let live = models.values().filter(|model| model.peek(0, now_ns).reset_after_ns > 0).count();
                for len in [kept.len(), evicted.len()].into_iter().chain(table.as_ref().map(Limiter::len)) {
                    if ARRIVAL.contains(&algorithm) || algorithm == "sliding_window_log" {
                        prop_assert_eq!(len, live);
                    } else {
                        // A window whose units were all given back is remembered until it is over.
                        prop_assert!((live..=models.len()).contains(&len), "{}", algorithm);
                    }
                }
            }
            prop_assert_eq!(table.map_or(0, |table| table.overflowed()), 0);
        }
    }
}

#[test]
fn exactly_the_idle_keys_are_evicted() {
    for algorithm in ALL {
        let limiter = map(algorithm, Quota::per_second(5));
        limiter.clock().set(S);
        for key in 0..100 {
            assert!(limiter.check(&key).is_allowed());
        }
        limiter.clock().set(4 * S);
        for key in 0..30 {
            assert!(limiter.check(&key).is_allowed());
        }
        assert_eq!(limiter.len(), 30, "{algorithm}");
        assert_eq!(limiter.evict_idle(), 70, "{algorithm}");
        assert_eq!((limiter.len(), limiter.evict_idle()), (30, 0), "{algorithm}");
        assert_eq!(limiter.peek(&7).remaining(), 4, "{algorithm}");
        limiter.clock().set(8 * S);
        assert_eq!(limiter.evict_idle(), 30, "{algorithm}");
        assert!(limiter.is_empty(), "{algorithm}");
    }
}

/// A key that was evicted comes back with an older time: it finds no more than it would have found.
#[test]
fn a_stale_newcomer_finds_no_more_after_an_eviction() {
    for algorithm in ALL {
        let (limiter, twin) = (map(algorithm, Quota::per_second(5)), map(algorithm, Quota::per_second(5)));
        for limiter in [&limiter, &twin] {
            assert!(limiter.check_n_at(&1, 5, S).is_allowed());
            limiter.clock().set(5 * S);
        }
        assert_eq!(limiter.evict_idle(), 1);
        for now_ns in [0, S, S + S / 2, 2 * S, 5 * S] {
            let (found, kept) = (limiter.check_at(&1, now_ns), twin.check_at(&1, now_ns));
            assert!(found.remaining() <= kept.remaining().max(4), "{algorithm} at {now_ns}");
        }
        // Ten at most in all: five before the eviction, and five after it, at whatever time.
        let more = (0..50).map(|i| limiter.check_at(&1, S + i).taken()).sum::<u64>();
        assert_eq!(more, 0, "{algorithm}");
    }
}

/// What a reservation holds may have come back by itself, and its key be gone.
#[test]
fn a_reservation_outlives_its_key() {
    for algorithm in ALL {
        let limiter = map(algorithm, Quota::per_second(5));
        let held = limiter.reserve_at(&1, 5, S).unwrap();
        limiter.clock().set(9 * S);
        assert_eq!(limiter.evict_idle(), 1, "{algorithm}");
        assert!(limiter.check_n(&1, 3).is_allowed());
        held.cancel();
        assert_eq!(limiter.peek(&1).remaining(), 2, "{algorithm}: nothing was given back twice");
    }
}

/// Rounds at one instant each: all keys are idle when a round begins, one thread evicts all the time, the others check. Each
/// key admits exactly its limit.
#[test]
fn eviction_among_checks_loses_no_charge() {
    for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
        // Whether anything is evicted before it is asked for is up to the scheduler.
        let evicted = (0..20).any(|_| evict_among_checks(algorithm));
        assert!(evicted, "{algorithm}: nothing was ever evicted");
    }
}

/// Says whether anything was evicted.
fn evict_among_checks(algorithm: &str) -> bool {
    const KEYS: u64 = 5;
    const THREADS: u64 = 3;
    const ROUNDS: u64 = 600;
    let limiter = map(algorithm, Quota::per_second(4));
    let barrier = Barrier::new(THREADS as usize + 1);
    let (checking, evicted) = (AtomicBool::new(true), AtomicBool::new(false));
    let taken: Vec<Vec<[u64; KEYS as usize]>> = thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                limiter.clock().set((round + 1) * 3 * S);
                barrier.wait();
                for _ in 0..20 {
                    if limiter.evict_idle() > 0 {
                        evicted.store(true, Ordering::Relaxed);
                    }
                }
                barrier.wait();
            }
            checking.store(false, Ordering::Relaxed);
        });
        let check = |id| {
            let (limiter, barrier) = (&limiter, &barrier);
            move || {
                let mut dice = Dice::new(id);
                (0..ROUNDS)
                    .map(|_| {
                        barrier.wait();
                        let now_ns = limiter.clock().now_ns();
                        let mut taken = [0; KEYS as usize];
                        for _ in 0..5 {
                            let turn = dice.below(KEYS);
                            for key in 0..KEYS {
                                let key = (key + turn) % KEYS;
                                taken[key as usize] += limiter.check_at(&key, now_ns).taken();
                            }
                        }
                        barrier.wait();
                        taken
                    })
                    .collect()
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|id| scope.spawn(check(id))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for round in 0..ROUNDS as usize {
        for key in 0..KEYS as usize {
            let taken: u64 = taken.iter().map(|thread| thread[round][key]).sum();
            assert_eq!(taken, 4, "{algorithm}: key {key} in round {round}");
        }
    }
    assert!(!checking.load(Ordering::Relaxed));
    evicted.load(Ordering::Relaxed)
}

/// Long-lived charges, short-lived keys around them, a time that moves on, and one thread that evicts.
#[test]
fn eviction_around_them_loses_nothing_of_long_charges() {
    const BEFORE: u64 = 100_000;
    for algorithm in ARRIVAL {
        let limiter = map(algorithm, Quota::per_second(1_000).burst(1_000_000));
        limiter.clock().set(S);
        for key in 0..3 {
            assert!(limiter.check_n(&key, BEFORE).is_allowed());
        }
        let running = AtomicBool::new(true);
        let net: [i64; 3] = thread::scope(|scope| {
            let evicting = scope.spawn(|| {
                let mut evicted = 0;
                while running.load(Ordering::Relaxed) {
                    evicted += limiter.evict_idle();
                }
                evicted + limiter.evict_idle()
            });
            let work = |id| {
                let limiter = &limiter;
                move || {
                    let mut dice = Dice::new(id);
                    let mut net = [0; 3];
                    for _ in 0..6_000 {
                        limiter.clock().advance(std::time::Duration::from_micros(dice.below(100)));
                        let (key, units) = (dice.below(3), 1 + dice.below(5));
                        match dice.below(4) {
                            0 => {
                                limiter.refund(&key, units);
                                net[key as usize] -= units as i64;
                            }
                            1 => net[key as usize] += limiter.check_n(&key, units).taken() as i64,
                            _ => drop(std::hint::black_box(limiter.check(&(3 + dice.below(200))))),
                        }
                    }
                    net
                }
            };
            let threads: Vec<_> = (0..3).map(|id| scope.spawn(work(id))).collect();
            let mut sum = [0; 3];
            for thread in threads {
                let net: [i64; 3] = thread.join().unwrap();
                (0..3).for_each(|key| sum[key] += net[key]);
            }
            running.store(false, Ordering::Relaxed);
            assert!(evicting.join().unwrap() > 0, "{algorithm}: nothing was ever evicted");
            sum
        });
        for key in 0..3 {
            let owed = limiter.peek_n_at(&key, 0, S).reset_after().as_nanos();
            assert_eq!(owed, (BEFORE as i64 + net[key as usize]) as u128 * 1_000_000, "{algorithm}");
        }
    }
}
