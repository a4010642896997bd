//! Keys that live behind their home line, and the mark that says how far.

use loom_tests::rule::Rule::Tat;
use loom_tests::table::{Op, Out, Scenario, scenario, time, vacant};

const K1: u64 = 1;
const K8: u64 = 8;
const K9: u64 = 9;
/// Its home is the second line.
const FAR: u64 = 1 << 63 | 3;
const LIVE: u64 = 390;

const fn check(key: u64, now: u64, cost: u64) -> Op {
    Op::Check { key, now, cost }
}

/// The home line is full for the first thread; for the second a slot of it is idle.
fn spread(name: &'static str) -> Scenario {
    let slots = [time(K8, LIVE), time(K9, 70), vacant(0), time(FAR, LIVE)];
    scenario(name, Tat { burst: 200 }, 2, 5, &slots)
        .thread(&[check(K1, 60, 100)])
        .thread(&[check(K1, 100, 1)])
}

#[test]
fn a_twin_in_the_next_line() {
    spread("a_twin_in_the_next_line").run();
}

#[test]
fn a_twin_in_the_next_line_and_a_third() {
    spread("a_twin_in_the_next_line_of_three")
        .thread(&[check(K1, 100, 1)])
        // All rooms were taken by the inserts of the two others, one of which came to nothing.
        .also(|outcome| match [&outcome.outs[0][..], &outcome.outs[1], &outcome.outs[2]] {
            [[Out::NoRoom], [Out::Admit], [Out::Admit]] => outcome.words_of(K1) == [102],
            [[Out::Admit], [Out::NoRoom], [Out::Admit]] | [[Out::Admit], [Out::Admit], [Out::NoRoom]] => {
                matches!(outcome.words_of(K1), [161 | 201])
            }
            _ => false,
        })
        .run();
}

/// A key that was put in the next line is found there by whoever was told of it.
#[test]
fn a_key_in_the_next_line_is_found_again() {
    let slots = [time(K8, LIVE), time(K9, LIVE), vacant(0), vacant(0)];
    scenario("found_again_in_the_next_line", Tat { burst: 2 }, 2, 5, &slots)
        .thread(&[check(K1, 100, 1), Op::Peek { key: K1 }, Op::GiveBack { key: K1, now: 100, units: 1 }])
        .thread(&[check(K1, 100, 1)])
        .run();
}
