//! A thread stops for ever in the middle of an insert: nobody waits, nobody over-admits.

use loom_tests::rule::Rule::Tat;
use loom_tests::table::{Op, Out, Scenario, scenario, time, vacant};
use tollgate::model::Stop;

const K1: u64 = 1;
const K2: u64 = 2;
const K8: u64 = 8;
const NOW: u64 = 100;
const LIVE: u64 = 190;

const fn check(key: u64) -> Op {
    Op::Check { key, now: NOW, cost: 1 }
}

const fn abandon(stop: Stop) -> Op {
    Op::Abandon { key: K1, now: NOW, stop }
}

fn two_slots(name: &'static str, burst: u64) -> Scenario {
    scenario(name, Tat { burst }, 1, 50, &[vacant(0), vacant(0)])
}

#[test]
fn the_same_key_goes_on() {
    for (name, stop) in [
        ("the_same_key_goes_on, claimed", Stop::Claimed),
        ("the_same_key_goes_on, tagged", Stop::Tagged),
        ("the_same_key_goes_on, published", Stop::Published),
    ] {
        two_slots(name, 1).thread(&[abandon(stop)]).thread(&[check(K1), check(K1)]).run();
    }
}

#[test]
fn a_helper_charges_for_itself() {
    two_slots("a_helper_charges_for_itself", 2)
        .thread(&[abandon(Stop::Published)])
        .thread(&[check(K1), check(K1)])
        .bounds(3, None, Some(5))
        .run();
}

#[test]
fn a_helper_where_there_is_one_slot() {
    scenario("a_helper_and_one_slot", Tat { burst: 1 }, 1, 50, &[vacant(0), time(K8, LIVE)])
        .thread(&[abandon(Stop::Published)])
        .thread(&[check(K1), check(K1)])
        // The slot was not published yet.
        .also(|outcome| match outcome.outs[1][..] {
            [Out::NoRoom, Out::NoRoom] => outcome.words_of(K1).is_empty(),
            [Out::NoRoom, Out::Admit] => outcome.words_of(K1) == [NOW + 1],
            _ => false,
        })
        .run();
}

#[test]
fn two_threads_go_on() {
    for (name, stop) in
        [("two_threads_go_on, claimed", Stop::Claimed), ("two_threads_go_on, published", Stop::Published)]
    {
        let slots = [vacant(0), vacant(0), vacant(0), time(K8, LIVE)];
        scenario(name, Tat { burst: 1 }, 2, 50, &slots)
            .thread(&[abandon(stop)])
            .thread(&[check(K1)])
            .thread(&[check(K1)])
            .then(&[check(K1)])
            .run();
    }
}

/// The insert stops before its fence; the helper's own fence is what counts.
#[test]
fn a_helper_needs_its_own_fence() {
    two_slots("a_helper_needs_its_own_fence", 1)
        .thread(&[abandon(Stop::Published), check(K1)])
        .thread(&[check(K1)])
        .run();
}

#[test]
fn another_key_goes_on() {
    for (name, stop) in
        [("another_key_goes_on, tagged", Stop::Tagged), ("another_key_goes_on, published", Stop::Published)]
    {
        two_slots(name, 1).thread(&[abandon(stop)]).thread(&[check(K2), check(K2)]).run();
    }
}

/// A helper whose own cost does not fit gives the pending slot up; its inserter looks again.
#[test]
fn a_helper_that_is_denied() {
    two_slots("a_helper_that_is_denied", 2)
        .thread(&[check(K1)])
        .thread(&[Op::Check { key: K1, now: NOW, cost: 3 }])
        .bounds(2, None, Some(4))
        .run();
}
