//! A slot changes hands while a thread holds its old word, and refunds against that.

use loom_tests::rule::Rule::Tat;
use loom_tests::table::{Op, Out, scenario, time, vacant};
use tollgate::model::{Slot, Stop};

const K1: u64 = 1;
const K2: u64 = 2;
const K3: u64 = 3;
const K8: u64 = 8;
const K9: u64 = 9;
const NOW: u64 = 100;
/// A word that is never idle.
const LIVE: u64 = 190;

const fn check(key: u64, now: u64, cost: u64) -> Op {
    Op::Check { key, now, cost }
}

fn old_word(name: &'static str, second: Slot) {
    scenario(name, Tat { burst: 1 }, 1, 50, &[time(K1, 10), second])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K2, NOW, 1)])
        .bounds(3, None, Some(5))
        .run();
}

#[test]
fn an_old_word_without_other_room() {
    old_word("an_old_word_without_other_room", time(K8, LIVE));
}

#[test]
fn an_old_word_with_other_room() {
    old_word("an_old_word_with_other_room", vacant(0));
}

/// The key is forgotten by a thread whose time is later than the key's own: it must not get a fresh burst at its own time.
#[test]
fn a_stale_newcomer_starts_at_the_floor() {
    scenario("a_stale_newcomer", Tat { burst: 1 }, 1, 5, &[time(K1, 40), vacant(0)])
        .thread(&[check(K1, 35, 1)])
        .thread(&[check(K2, NOW, 1)])
        .bounds(3, None, Some(5))
        .run();
}

/// Two claims raise the floor at once: the higher one stays, for the key that was forgotten by it.
#[test]
fn the_higher_of_two_floors_stays() {
    scenario("the_higher_of_two_floors", Tat { burst: 1 }, 1, 5, &[time(K1, 40), time(K9, 10)])
        .thread(&[check(K2, 20, 1), check(K1, 35, 1)])
        .thread(&[check(K3, NOW, 1)])
        // The floor was raised for an insert that came later.
        .also(|outcome| outcome.outs[0] == [Out::Admit, Out::Deny] && outcome.words_of(K2) == [101])
        .bounds(2, Some(2), Some(3))
        .run();
}

/// The key is charged in the first slot and forgotten there, while another thread is about to charge it in the second.
#[test]
fn a_twin_that_was_charged_and_forgotten() {
    scenario("a_twin_charged_and_forgotten", Tat { burst: 10 }, 1, 5, &[time(K9, 59), vacant(0)])
        .thread(&[check(K1, 59, 10)])
        .thread(&[check(K1, 60, 10), check(K2, 200, 10)])
        // One of the two is admitted, in either slot and at either floor: both inserts have helped each other.
        .also(|outcome| {
            let is_one = match outcome.outs[..2] {
                [ref one, ref other] => matches!(
                    (&one[..], &other[..]),
                    ([Out::Admit], [Out::Deny, Out::Admit]) | ([Out::Deny], [Out::Admit, Out::Admit])
                ),
                _ => false,
            };
            is_one && matches!(outcome.words_of(K1), [] | [69 | 70]) && outcome.words_of(K2) == [210]
        })
        // Four find a bug that three do not: `nearer_twin_killed`.
        .bounds(2, Some(3), Some(4))
        .run();
}

/// The word of another key would refuse; the key itself was never charged.
#[test]
fn a_denial_rests_on_the_keys_own_word() {
    for (name, stop) in [
        ("a_denial_on_own_word, claimed", Stop::Claimed),
        ("a_denial_on_own_word, tagged", Stop::Tagged),
        ("a_denial_on_own_word, published", Stop::Published),
    ] {
        scenario(name, Tat { burst: 1 }, 1, 5, &[time(K9, 40), time(K8, LIVE)])
            .thread(&[check(K1, 35, 1)])
            .thread(&[Op::Abandon { key: K1, now: NOW, stop }])
            .bounds(3, None, Some(5))
            .run();
    }
}

/// The new owner gives back far more than it took: its word must not come back to the one that the old owner holds.
#[test]
fn a_refund_does_not_bring_an_old_word_back() {
    scenario("a_refund_of_more_than_taken", Tat { burst: 1 }, 1, 50, &[time(K1, 10), time(K8, LIVE)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[check(K2, NOW, 1), Op::GiveBack { key: K2, now: NOW, units: 91 }])
        .run();
}

/// The refund has begun before its key was there: the floor that it does not go below is the one of after.
#[test]
fn a_refund_that_began_before_the_insert() {
    scenario("a_refund_begun_before", Tat { burst: 10 }, 1, 50, &[time(K1, 60), time(K8, LIVE)])
        .thread(&[check(K1, 58, 1)])
        .thread(&[check(K2, NOW, 1)])
        .thread(&[Op::Refund { key: K2, now: NOW, units: 41 }])
        .bounds(1, Some(1), Some(3))
        .run();
}

#[test]
fn a_refund_while_the_slot_is_reclaimed() {
    scenario("a_refund_while_reclaimed", Tat { burst: 2 }, 1, 40, &[time(K1, 49), vacant(0)])
        .thread(&[Op::Refund { key: K1, now: NOW, units: 5 }])
        .thread(&[check(K2, NOW, 1)])
        .bounds(4, None, Some(5))
        .run();
}

/// A refund makes the key idle, and another key takes its slot while the first is asked for.
#[test]
fn a_refund_that_makes_the_key_idle() {
    scenario("a_refund_makes_idle", Tat { burst: 8 }, 1, 10, &[time(K1, 105), time(K8, LIVE)])
        .thread(&[check(K1, NOW, 1)])
        .thread(&[Op::Refund { key: K1, now: NOW, units: 10 }])
        .thread(&[check(K2, NOW, 1)])
        .bounds(2, Some(3), Some(4))
        .run();
}
