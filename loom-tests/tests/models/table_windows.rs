//! The table with words of (window, count): a window index above the counts, and for the sliding counter a window of lead.

use std::sync::Arc;
use std::time::Duration;

use loom_tests::rule::Rule::{self, Real};
use loom_tests::table::{Op, scenario, time, vacant};
use tollgate::algorithm::{Algorithm, Settings, build};
use tollgate::{Now, Overflow, Quota};

const K1: u64 = 1;
const K2: u64 = 2;
const K8: u64 = 8;
const K9: u64 = 9;
const SECOND: u64 = 1_000_000_000;

/// Two units per second.
fn windows(name: &str) -> Arc<dyn Algorithm> {
    build(name, &Quota::new(2, Duration::from_secs(1)), &Settings::default()).expect("a valid quota")
}

/// The word of a key that took `units` at a time.
fn word(algorithm: &Arc<dyn Algorithm>, now: u64, units: u64) -> u64 {
    let at = Now::at(now);
    algorithm.decide(algorithm.fresh(at), at, units).word
}

/// The start of a window, in nanoseconds.
const fn window(index: u64) -> u64 {
    index * SECOND
}

const fn check(key: u64, now: u64) -> Op {
    Op::Check { key, now, cost: 1 }
}

/// Of a key that was full in window 5, one thread still asks in that window (or in the next, where a lead lets its units
/// count on) while another forgets it in window 7.
#[test]
fn a_full_window_is_not_forgotten_early() {
    for (model, name, stale) in [
        ("a_full_window, fixed", "fixed_window", window(5)),
        ("a_full_window, sliding", "sliding_window_counter", window(6)),
    ] {
        let a = windows(name);
        let slots = [time(K1, word(&a, window(5), 2)), vacant(0)];
        let floor = a.fresh(Now::at(window(4)));
        scenario(model, Rule::Real(a), 1, floor, &slots)
            .thread(&[check(K1, stale)])
            .thread(&[check(K2, window(7))])
            .run();
    }
}

/// The floor is above the word, and not above its lead: it is raised all the same.
#[test]
fn a_floor_within_the_lead() {
    let a = windows("sliding_window_counter");
    let slots = [time(K1, word(&a, window(5), 2)), vacant(0)];
    let floor = a.fresh(Now::at(window(6)));
    scenario("a_floor_within_the_lead", Real(a), 1, floor, &slots)
        .thread(&[check(K1, window(6))])
        .thread(&[check(K2, window(7))])
        .run();
}

/// The window before does not count any more for the later thread only: the slot is idle for it alone.
#[test]
fn an_idle_word_and_the_window_of_lead() {
    for (model, name, early, late) in [
        ("idle_by_lead, fixed", "fixed_window", window(5), window(6)),
        ("idle_by_lead, sliding", "sliding_window_counter", window(6), window(7)),
    ] {
        let a = windows(name);
        let slots = [time(K9, word(&a, window(5), 1)), time(K8, word(&a, window(9), 2))];
        let floor = a.fresh(Now::at(window(4)));
        scenario(model, Real(a), 1, floor, &slots)
            .thread(&[check(K1, early)])
            .thread(&[check(K1, late), check(K9, early)])
            .run();
    }
}

/// A refund in an earlier window than the one that others have begun.
#[test]
fn a_refund_across_windows() {
    for (model, name) in
        [("across_windows, fixed", "fixed_window"), ("across_windows, sliding", "sliding_window_counter")]
    {
        let a = windows(name);
        let slots = [time(K1, word(&a, window(5), 2)), time(K8, word(&a, window(9), 2))];
        let floor = a.fresh(Now::at(window(4)));
        scenario(model, Real(a), 1, floor, &slots)
            .thread(&[Op::Refund { key: K1, now: window(5), units: 1 }])
            .thread(&[check(K1, window(6)), check(K2, window(8))])
            .run();
    }
}

/// The key overflows in one window and in the next, where a lead lets the first charge count on; then it gets a slot.
#[test]
fn a_debt_and_the_window_of_lead() {
    for (model, name) in
        [("debt_and_lead, fixed", "fixed_window"), ("debt_and_lead, sliding", "sliding_window_counter")]
    {
        let a = windows(name);
        let slots = [time(K8, word(&a, window(9), 1)), time(K9, word(&a, window(6), 1))];
        let floor = a.fresh(Now::at(window(4)));
        scenario(model, Real(a), 1, floor, &slots)
            .policy(Overflow::Share)
            .thread(&[Op::Check { key: K1, now: window(5), cost: 2 }])
            .thread(&[check(K1, window(6))])
            .then(&[check(K1, window(8))])
            .run();
    }
}
