//! No room, and cells that keys without a slot share.

use loom_tests::rule::Rule::Tat;
use loom_tests::table::{Op, Out, Outcome, Scenario, scenario, time};
use tollgate::Overflow;

const K1: u64 = 1;
const K2: u64 = 2;
const K8: u64 = 8;
const K9: u64 = 9;
const NOW: u64 = 100;
/// A word that is never idle.
const LIVE: u64 = 390;

const fn check(key: u64, now: u64, cost: u64) -> Op {
    Op::Check { key, now, cost }
}

#[test]
fn a_newcomer_to_a_full_line() {
    scenario("a_newcomer_to_a_full_line", Tat { burst: 2 }, 1, 50, &[time(K8, 100), time(K9, 101)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K8, NOW, 1), check(K9, NOW, 1)])
        .bounds(4, None, Some(5))
        .run();
}

#[test]
fn a_resident_beside_an_overflow() {
    scenario("a_resident_beside_an_overflow", Tat { burst: 1 }, 1, 50, &[time(K1, 100), time(K8, LIVE)])
        .thread(&[check(K1, NOW, 1), check(K1, NOW, 1)])
        .thread(&[check(K2, NOW, 1), check(K1, NOW, 1)])
        .bounds(4, None, Some(5))
        .run();
}

/// Of two inserts of one key for one slot, one may be told that there is no room; nobody is admitted in excess.
#[test]
fn twins_for_one_slot() {
    scenario("twins_for_one_slot", Tat { burst: 2 }, 1, 50, &[time(K9, 20), time(K8, LIVE)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K1, NOW, 1)])
        .also(|outcome| {
            let (admitted, refused) = (outcome.count(Out::Admit), outcome.count(Out::NoRoom));
            (admitted, refused) == (1, 1) && outcome.words_of(K1) == [101]
        })
        .run();
}

/// The first slot has become idle for the second thread, not for the first, which falls back on the cell.
fn room_appears(name: &'static str, burst: u64) -> Scenario {
    scenario(name, Tat { burst }, 1, 5, &[time(K9, 56), time(K8, LIVE)])
        .policy(Overflow::Share)
        .thread(&[check(K1, 56, 10)])
        .also(first_at_the_floor)
}

/// The first thread was faster, and yet started at the floor that the other raised: 60, in the slot or in the cell.
fn first_at_the_floor(outcome: &Outcome) -> bool {
    let is_answered_once = outcome.outs[0] == [Out::Admit] && outcome.outs[1][0] == Out::Deny;
    match (outcome.words_of(K1), outcome.debt) {
        ([70], 0) | ([], 70) => is_answered_once,
        // The other key took the slot, and the charge was forgotten with it.
        ([], 0) if is_answered_once => outcome.words_of(K2) == [202],
        // The other key started above a charge of the cell that was then taken back, for the slot refused the key.
        ([], 0) => outcome.outs[0] == [Out::Deny] && outcome.words_of(K2) == [212],
        // The other key was taking the slot: the key starts anew at the floor of then, and the other key above it.
        ([], 210) => outcome.outs[0] == [Out::Admit] && matches!(outcome.words_of(K2), [202] | [212]),
        _ => false,
    }
}

/// One thread inserts the key while another charges the cell for it: one quota in all.
#[test]
fn room_appears_while_the_key_overflows() {
    room_appears("room_appears", 10).thread(&[check(K1, 60, 10)]).run();
}

/// The same, and the next to ask is answered by what both did.
#[test]
fn room_appears_and_the_key_comes_back() {
    room_appears("room_appears_and_back", 10).thread(&[check(K1, 60, 10)]).then(&[check(K1, 60, 1)]).run();
}

/// The same, and the inserted key is forgotten before the other thread looks for it.
#[test]
fn room_appears_and_the_key_is_forgotten() {
    room_appears("room_appears_and_goes", 12)
        .thread(&[check(K1, 60, 10), check(K2, 200, 2)])
        .bounds(1, Some(1), Some(3))
        .run();
}

/// The key has charged the cell and finds its slot, but another key has charged the cell since: that charge stays.
#[test]
fn room_appears_and_the_cell_goes_on() {
    room_appears("room_appears_and_cell_goes_on", 40)
        .thread(&[check(K2, 56, 1), check(K1, 60, 10)])
        // A charge that stays, or that the slot was started from before it was taken back, counts twice: strict.
        .also(|outcome| {
            let is_kept = outcome.outs[1] == [Out::Admit; 2] && outcome.debt >= 57;
            is_kept && matches!(outcome.words_of(K1), [word] if *word >= 80)
        })
        .bounds(2, Some(2), Some(3))
        .run();
}

#[test]
fn two_threads_share_a_cell() {
    scenario("two_threads_share_a_cell", Tat { burst: 2 }, 1, 50, &[time(K8, LIVE), time(K9, LIVE)])
        .policy(Overflow::Share)
        .thread(&[check(K1, NOW, 1), check(K2, NOW, 1)])
        .thread(&[check(K1, NOW, 1)])
        .bounds(3, None, Some(3))
        .run();
}
