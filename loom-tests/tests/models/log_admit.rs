//! The log: units are taken once, and no more than there are.

use loom_tests::log::{charge, look, scenario, take};

/// One is left, two ask.
#[test]
fn log_the_last_unit() {
    scenario("log_the_last_unit", 2, 10, 2, &[(1, 1)]).thread(&[take(5, 1)]).thread(&[take(5, 1)]).run();
}

/// Nothing is there yet, not even a ring.
#[test]
fn log_a_first_charge() {
    scenario("log_a_first_charge", 2, 10, 2, &[])
        .thread(&[take(3, 2)])
        .thread(&[look(12, 0), take(12, 1), take(13, 1)])
        .run();
}

/// What is announced counts, though its thread has not come to say so in `ctl`.
#[test]
fn log_a_claim_before_it_is_announced() {
    scenario("log_a_claim_before_it_is_announced", 2, 10, 2, &[(1, 0)])
        .thread(&[take(3, 2)])
        .thread(&[look(12, 0), take(12, 1), take(13, 1)])
        .run();
}

/// A unit counts until exactly one window later.
#[test]
fn log_the_instant_of_expiry() {
    scenario("log_the_instant_of_expiry", 1, 10, 2, &[(1, 1)])
        .thread(&[take(11, 1)])
        .thread(&[take(10, 1), look(11, 0)])
        .run();
}

/// All or none.
#[test]
fn log_weighted_and_single() {
    scenario("log_weighted_and_single", 3, 10, 2, &[(1, 1)])
        .thread(&[take(5, 2)])
        .thread(&[take(6, 1), look(6, 0)])
        .run();
}

/// A clock that is behind finds no more.
#[test]
fn log_a_stale_now() {
    scenario("log_a_stale_now", 2, 10, 2, &[(1, 1), (2, 1)])
        .thread(&[take(11, 1)])
        .thread(&[take(5, 1), take(12, 1)])
        .run();
}

/// Who sees that an entry was passed sees the entry by whose time it was passed.
#[test]
fn log_a_stale_look() {
    scenario("log_a_stale_look", 2, 10, 2, &[(1, 1), (2, 1)])
        .thread(&[take(11, 1)])
        .thread(&[look(5, 1)])
        .run();
}

/// By however much.
#[test]
fn log_a_far_now() {
    scenario("log_a_far_now", 1, 10, 2, &[(5, 1)])
        .thread(&[take(1000, 1)])
        .thread(&[take(8, 1), take(9, 1)])
        .run();
}

/// More than fits, for work that is done.
#[test]
fn log_a_debt() {
    scenario("log_a_debt", 2, 10, 3, &[(1, 1)])
        .thread(&[charge(5, 2)])
        .thread(&[take(5, 1), look(6, 1)])
        .run();
}

/// A denial says when enough of many entries are gone: it steps over whole blocks while more are filled.
#[test]
fn log_a_wait_over_blocks() {
    scenario("log_a_wait_over_blocks", 4, 10, 3, &[(1, 1), (2, 1), (3, 1)])
        .thread(&[take(4, 1)])
        .thread(&[look(5, 4), look(12, 4)])
        .run();
}

/// The same where units differ, so that sums are what is stepped by.
#[test]
fn log_a_wait_over_mixed_blocks() {
    scenario("log_a_wait_over_mixed_blocks", 5, 10, 3, &[(1, 2), (2, 1), (3, 1)])
        .thread(&[take(4, 1)])
        .thread(&[look(5, 5), look(12, 5)])
        .run();
}

/// Entries of one unit each, until there is one of two: no denial counts entries for units from then on.
#[test]
fn log_units_of_a_kind_and_another() {
    scenario("log_units_of_a_kind_and_another", 4, 10, 3, &[(1, 1), (2, 1)])
        .thread(&[take(3, 2)])
        .thread(&[look(4, 4), take(4, 2), look(4, 4)])
        .run();
}

/// Expired blocks are stepped over, and passed, while others do the same.
#[test]
fn log_expiry_over_blocks() {
    scenario("log_expiry_over_blocks", 4, 10, 3, &[(1, 1), (2, 1), (3, 1), (4, 1)])
        .thread(&[take(13, 1)])
        .thread(&[take(12, 2), look(14, 4)])
        .run();
}

#[test]
fn log_the_last_unit_of_three() {
    scenario("log_the_last_unit_of_three", 2, 10, 2, &[(1, 1)])
        .thread(&[take(5, 1)])
        .thread(&[take(5, 1)])
        .thread(&[take(6, 1)])
        .run();
}

#[test]
fn log_weights_of_three() {
    scenario("log_weights_of_three", 3, 10, 2, &[(1, 1)])
        .thread(&[take(5, 2)])
        .thread(&[take(11, 1)])
        .thread(&[take(6, 1)])
        .run();
}

#[test]
fn log_clocks_of_three() {
    scenario("log_clocks_of_three", 1, 10, 2, &[(5, 1)])
        .thread(&[take(1000, 1)])
        .thread(&[take(8, 1)])
        .thread(&[take(500, 1)])
        .run();
}
