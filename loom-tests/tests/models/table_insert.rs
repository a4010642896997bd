//! New keys: twins of one key, and keys that want the same slot.

use loom_tests::rule::Rule::Tat;
use loom_tests::table::{Op, Out, Outcome, Scenario, scenario, time, vacant};

const K1: u64 = 1;
const K2: u64 = 2;
const K8: u64 = 8;
const K9: u64 = 9;
/// Its home is the second line.
const FAR: u64 = 1 << 63 | 3;
const NOW: u64 = 100;
/// A word that is never idle.
const LIVE: u64 = 190;

const fn check(key: u64, now: u64, cost: u64) -> Op {
    Op::Check { key, now, cost }
}

fn twins(name: &'static str, burst: u64) -> Scenario {
    scenario(name, Tat { burst }, 1, 50, &[vacant(0), vacant(0)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K1, NOW, 1)])
}

#[test]
fn twins_of_one_unit() {
    twins("twins_of_one_unit", 1).run();
}

#[test]
fn twins_of_two_units() {
    twins("twins_of_two_units", 2).run();
}

fn triplets(name: &'static str, burst: u64) -> Scenario {
    twins(name, burst)
        .thread(&[check(K1, NOW, 1)])
        // Both slots were taken by the others' inserts, one of which came to nothing.
        .also(|outcome| {
            let admitted = outcome.count(Out::Admit) as u64;
            outcome.count(Out::NoRoom) > 0 && admitted > 0 && outcome.words_of(K1) == [NOW + admitted]
        })
}

#[test]
fn triplets_of_one_unit() {
    triplets("triplets_of_one_unit", 1).run();
}

#[test]
fn triplets_of_two_units() {
    triplets("triplets_of_two_units", 2).run();
}

/// The first slot is idle for the second thread, not yet for the first, which goes to the slot behind.
fn earlier_slot(name: &'static str) -> Scenario {
    scenario(name, Tat { burst: 200 }, 1, 5, &[time(K9, 70), vacant(0)]).thread(&[check(K1, 60, 100)])
}

#[test]
fn a_twin_in_an_earlier_slot() {
    earlier_slot("a_twin_in_an_earlier_slot").thread(&[check(K1, NOW, 1)]).run();
}

/// What was killed in the slot behind goes to another key while its first owner sleeps.
#[test]
fn a_late_activation() {
    earlier_slot("a_late_activation")
        .thread(&[check(K1, NOW, 1), check(K2, NOW, 1)])
        // The twin is still in the slot that the other key needs.
        .also(|outcome| outcome.outs[1] == [Out::Admit, Out::NoRoom] && one_slot_of_both(outcome))
        .run();
}

/// Both charges of the key are in one word, in either order.
fn one_slot_of_both(outcome: &Outcome) -> bool {
    outcome.count(Out::Admit) == 2 && matches!(outcome.words_of(K1), [161] | [201])
}

#[test]
fn a_late_activation_by_three() {
    earlier_slot("a_late_activation_by_three")
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K2, NOW, 1)])
        // The twin's insert and the other key's were both under way: no room for one of the three.
        .also(|outcome| match [&outcome.outs[0][..], &outcome.outs[1], &outcome.outs[2]] {
            [[Out::NoRoom], [Out::Admit], [Out::Admit]] => outcome.words_of(K1) == [101],
            [[Out::Admit], [Out::NoRoom], [Out::Admit]] => matches!(outcome.words_of(K1), [160 | 200]),
            [_, _, [Out::NoRoom]] => outcome.words_of(K2).is_empty() && one_slot_of_both(outcome),
            _ => false,
        })
        .run();
}

fn earlier_of_three(name: &'static str) -> Scenario {
    let slots = [time(K9, 70), vacant(0), vacant(0), time(K8, LIVE)];
    scenario(name, Tat { burst: 200 }, 2, 5, &slots)
        .thread(&[check(K1, 60, 100)])
        .thread(&[check(K1, NOW, 1)])
}

#[test]
fn a_twin_and_another_key() {
    earlier_of_three("a_twin_and_another_key").thread(&[check(K2, NOW, 1)]).run();
}

#[test]
fn a_twin_and_the_owner_who_returns() {
    earlier_of_three("a_twin_and_the_owner_who_returns").thread(&[check(K9, NOW, 1)]).run();
}

#[test]
fn two_keys_for_one_slot() {
    scenario("two_keys_for_one_slot", Tat { burst: 1 }, 1, 50, &[vacant(0), time(K8, LIVE)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K2, NOW, 1)])
        .run();
}

#[test]
fn two_homes_for_one_slot() {
    let slots = [time(K8, LIVE), vacant(0), time(K8 + 2, LIVE), time(K8 + 4, LIVE)];
    scenario("two_homes_for_one_slot", Tat { burst: 1 }, 2, 50, &slots)
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(FAR, NOW, 1)])
        .run();
}

#[test]
fn two_keys_for_two_slots() {
    scenario("two_keys_for_two_slots", Tat { burst: 1 }, 1, 50, &[vacant(0), time(K9, 20)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K2, NOW, 1)])
        .run();
}

#[test]
fn twins_and_another_key() {
    scenario("twins_and_another_key", Tat { burst: 1 }, 1, 50, &[time(K9, 20), vacant(0)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K2, NOW, 1)])
        .thread(&[check(K1, NOW, 1)])
        .also(|outcome| {
            outcome.count(Out::NoRoom) > 0 && keys_are_right(outcome.words_of(K1), outcome.words_of(K2))
        })
        .run();
}

/// Each key was admitted at most once.
fn keys_are_right(one: &[u64], other: &[u64]) -> bool {
    [one, other].iter().all(|words| words.is_empty() || words == &[NOW + 1])
}
