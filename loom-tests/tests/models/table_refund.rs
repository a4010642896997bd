//! Refunds of a key against its checks and other refunds, and looks at it.

use loom_tests::rule::Rule::Tat;
use loom_tests::table::{Op, Out, Scenario, scenario, time, vacant};

const K1: u64 = 1;
const K8: u64 = 8;
const K9: u64 = 9;
const NOW: u64 = 100;
/// A word that is never idle.
const LIVE: u64 = 190;

const CHECK: Op = Op::Check { key: K1, now: NOW, cost: 1 };
const REFUND: Op = Op::Refund { key: K1, now: NOW, units: 1 };
const GIVE_BACK: Op = Op::GiveBack { key: K1, now: NOW, units: 1 };

fn charged(name: &'static str, word: u64, burst: u64) -> Scenario {
    scenario(name, Tat { burst }, 1, 50, &[time(K1, word), time(K8, LIVE)])
}

#[test]
fn a_refund_and_a_check() {
    charged("a_refund_and_a_check", 101, 1).thread(&[REFUND]).thread(&[CHECK]).bounds(4, None, None).run();
}

#[test]
fn a_refund_and_two_checks() {
    charged("a_refund_and_two_checks", 101, 2)
        .thread(&[REFUND])
        .thread(&[CHECK])
        .thread(&[CHECK])
        .bounds(2, Some(3), Some(4))
        .run();
}

#[test]
fn two_refunds_and_a_check() {
    charged("two_refunds_and_a_check", 103, 3)
        .thread(&[REFUND])
        .thread(&[REFUND])
        .thread(&[CHECK])
        .bounds(2, Some(3), Some(4))
        .run();
}

#[test]
fn two_threads_that_check_and_refund() {
    charged("check_and_refund_twice", 101, 2)
        .thread(&[CHECK, GIVE_BACK])
        .thread(&[CHECK, GIVE_BACK])
        .bounds(4, None, Some(6))
        .run();
}

/// What one thread gave back the other may take, never more.
#[test]
fn an_insert_and_its_refund_against_an_insert() {
    scenario("an_insert_and_its_refund", Tat { burst: 1 }, 1, 50, &[vacant(0), vacant(0)])
        .thread(&[CHECK, GIVE_BACK])
        .thread(&[CHECK])
        .run();
}

/// The key is charged in the second slot while a twin is pending in the first.
fn twin_in_front(name: &'static str, after: Op) -> Scenario {
    scenario(name, Tat { burst: 200 }, 1, 5, &[time(K9, 70), vacant(0)])
        .thread(&[Op::Check { key: K1, now: 60, cost: 100 }, after])
        .thread(&[CHECK])
}

#[test]
fn a_refund_past_a_pending_twin() {
    twin_in_front("a_refund_past_a_pending_twin", Op::GiveBack { key: K1, now: 60, units: 40 }).run();
}

#[test]
fn a_look_past_a_pending_twin() {
    twin_in_front("a_look_past_a_pending_twin", Op::Peek { key: K1 })
        // The first thread was faster, and yet started at the floor that the other raised.
        .also(|outcome| {
            let is_seen = outcome.outs[0] == [Out::Admit, Out::Saw(Some(200))];
            is_seen && outcome.outs[1] == [Out::Admit] && outcome.words_of(K1) == [201]
        })
        .run();
}
