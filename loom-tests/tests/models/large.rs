//! Four and five threads: more than loom comes to an end with. For shuttle.

use loom_tests::log::{Op as Log, charge, die, look, refund, reset, scenario as log, take};
use loom_tests::rule::Rule::Tat;
use loom_tests::table::{Op, Out, Outcome, scenario, time, vacant};

const K1: u64 = 1;
const K2: u64 = 2;
const K8: u64 = 8;
const NOW: u64 = 100;

const fn check(key: u64, cost: u64) -> Op {
    Op::Check { key, now: NOW, cost }
}

/// Each key is charged in one slot at most, by exactly what was admitted, and nobody is denied while units are left. That there was
/// "no room" while the insert of a twin held the last slot is right, though no sequence has it.
fn is_exact(outcome: &Outcome, keys_of_threads: &[u64], burst: u64) -> bool {
    [K1, K2].iter().all(|&key| {
        let outs = outcome.outs.iter().zip(keys_of_threads).filter(|&(_, &of)| of == key);
        let outs: Vec<Out> = outs.flat_map(|(outs, _)| outs.iter().copied()).collect();
        let admitted = outs.iter().filter(|&&out| out == Out::Admit).count() as u64;
        let words = outcome.words_of(key);
        let charged = if admitted == 0 { words.is_empty() } else { words == [NOW + admitted] };
        charged && admitted <= burst && (admitted == burst || !outs.contains(&Out::Deny))
    })
}

#[test]
fn three_inserters_and_a_reclaimer() {
    scenario("three_inserters_and_a_reclaimer", Tat { burst: 2 }, 1, 50, &[time(K8, 10), vacant(0)])
        .thread(&[check(K1, 1)])
        .thread(&[check(K1, 1)])
        .thread(&[check(K1, 1)])
        .thread(&[check(K2, 1)])
        .also(|outcome| is_exact(outcome, &[K1, K1, K1, K2], 2))
        .run();
}

#[test]
fn three_inserters_and_two_reclaimers() {
    scenario("three_inserters_and_two_reclaimers", Tat { burst: 3 }, 1, 50, &[time(K8, 10), time(K2, 20)])
        .thread(&[check(K1, 1), check(K1, 1)])
        .thread(&[check(K1, 1)])
        .thread(&[check(K1, 1)])
        .thread(&[check(K2, 1)])
        .thread(&[check(K2, 1)])
        .also(|outcome| is_exact(outcome, &[K1, K1, K1, K2, K2], 3))
        .run();
}

/// Two lines, and a key whose home is full.
#[test]
fn inserters_in_two_lines() {
    let slots = [time(K8, 190), vacant(0), time(K2, 30), vacant(0)];
    scenario("inserters_in_two_lines", Tat { burst: 2 }, 2, 50, &slots)
        .thread(&[check(K1, 1)])
        .thread(&[check(K1, 1)])
        .thread(&[check(K1, 1)])
        .thread(&[check(K2, 1), check(K2, 1)])
        .also(|outcome| is_exact(outcome, &[K1, K1, K1, K2], 2))
        .run();
}

const fn give_back(now: u64, units: u64) -> Log {
    Log::GiveBack { now, units }
}

#[test]
fn log_two_refunds_with_a_growth() {
    log("log_two_refunds_with_a_growth", 8, 10, 1, &[(1, 4)])
        .thread(&[refund(2, 1, 1), look(2, 3)])
        .thread(&[refund(2, 1, 2), take(3, 2)])
        .thread(&[charge(2, 1), take(3, 1)])
        .run();
}

#[test]
fn log_refunds_in_summed_blocks_with_a_growth() {
    log("log_refunds_in_summed_blocks_with_a_growth", 8, 10, 2, &[(1, 2), (2, 2), (3, 1)])
        .thread(&[refund(4, 1, 1), look(5, 6)])
        .thread(&[refund(4, 2, 1), look(12, 7)])
        .thread(&[take(4, 1), give_back(4, 1)])
        .thread(&[take(5, 2)])
        .run();
}

/// Each thread goes round the ring, at times of its own.
#[test]
fn log_laps_of_many() {
    log("log_laps_of_many", 2, 3, 2, &[(1, 1)])
        .thread(&[take(3, 1), take(6, 1), take(9, 2)])
        .thread(&[take(4, 2), take(7, 1), look(9, 2)])
        .thread(&[take(5, 1), give_back(5, 1), take(8, 1)])
        .run();
}

#[test]
fn log_resets_and_refunds_and_a_death() {
    log("log_resets_and_refunds_and_a_death", 3, 10, 1, &[(1, 2)])
        .thread(&[reset(3), take(3, 2)])
        .thread(&[refund(3, 1, 1), take(4, 1)])
        .thread(&[die(14), take(15, 1)])
        .run();
}
