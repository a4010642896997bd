//! The log: units are given back once, and only those.

use loom_tests::Bounds;
use loom_tests::log::{Op, look, newest, refund, reset, scenario, take};

/// A give-back has many steps, each of which loads.
const TWO: Bounds = Bounds { counted: Some(0), free: Some(1), strong: Some(3) };
const THREE: Bounds = Bounds { counted: Some(0), free: Some(0), strong: Some(2) };

const fn give_back(now: u64, units: u64) -> Op {
    Op::GiveBack { now, units }
}

#[test]
fn log_a_refund_and_a_check() {
    scenario("log_a_refund_and_a_check", 2, 10, 2, &[(1, 1)])
        .thread(&[take(5, 1), give_back(5, 1)])
        .thread(&[take(6, 1), look(11, 0)])
        .bounds(TWO)
        .run();
}

/// Units that expire meanwhile do not come back twice.
#[test]
fn log_a_refund_and_expiry() {
    scenario("log_a_refund_and_expiry", 2, 10, 2, &[(1, 2)])
        .thread(&[refund(2, 1, 1)])
        .thread(&[take(11, 1), take(11, 1), look(12, 0)])
        .bounds(TWO)
        .run();
}

/// Units that another thread is about to pass as expired: nobody may take them out of the sum that it has read.
#[test]
fn log_a_refund_of_what_is_passed() {
    scenario("log_a_refund_of_what_is_passed", 4, 10, 3, &[(1, 2), (5, 1)])
        .thread(&[refund(2, 1, 1)])
        .thread(&[take(11, 1), look(12, 4)])
        .bounds(TWO)
        .run();
}

#[test]
fn log_two_refunds() {
    scenario("log_two_refunds", 4, 10, 3, &[(1, 4)])
        .thread(&[refund(2, 1, 1), look(2, 0)])
        .thread(&[refund(2, 1, 2), take(3, 3)])
        .bounds(TWO)
        .run();
}

/// The parity of the entry is the same again after two.
#[test]
fn log_refunds_one_after_another() {
    scenario("log_refunds_one_after_another", 6, 10, 3, &[(1, 6)])
        .thread(&[refund(2, 1, 1), refund(2, 1, 1)])
        .thread(&[refund(2, 1, 1), look(2, 0)])
        .bounds(Bounds { free: Some(0), ..TWO })
        .run();
}

/// More than was taken.
#[test]
fn log_refunds_of_more_than_taken() {
    scenario("log_refunds_of_more_than_taken", 3, 10, 3, &[(1, 1), (2, 2)])
        .thread(&[refund(3, 2, 2)])
        .thread(&[refund(3, 2, 2), look(3, 0)])
        .bounds(TWO)
        .run();
}

/// The newest at one instant.
#[test]
fn log_the_newest_and_a_check() {
    scenario("log_the_newest_and_a_check", 4, 10, 3, &[(1, 1), (2, 1)])
        .thread(&[newest(3, 1)])
        .thread(&[take(3, 1), look(4, 0)])
        .bounds(TWO)
        .run();
}

/// Entries of two units each, until one is lowered.
#[test]
fn log_a_refund_from_entries_of_a_kind() {
    scenario("log_a_refund_from_entries_of_a_kind", 4, 10, 3, &[(1, 2), (2, 2)])
        .thread(&[refund(3, 1, 1)])
        .thread(&[look(4, 3), look(4, 4)])
        .bounds(TWO)
        .run();
}

/// A refund from a block that is summed up, beside one that is being summed up.
#[test]
fn log_a_refund_from_a_summed_block() {
    scenario("log_a_refund_from_a_summed_block", 4, 10, 3, &[(1, 2), (2, 1), (3, 0)])
        .thread(&[refund(4, 1, 1), look(4, 4)])
        .thread(&[take(4, 1), look(11, 4)])
        .bounds(TWO)
        .run();
}

/// Who reads a sum that was lowered sees that units are being given back.
#[test]
fn log_a_look_at_a_sum() {
    scenario("log_a_look_at_a_sum", 4, 10, 3, &[(1, 1), (2, 1), (3, 2), (4, 0)])
        .thread(&[refund(5, 3, 1)])
        .thread(&[look(5, 4)])
        .bounds(TWO)
        .run();
}

/// A refund whose own record is the last of the block, and of a block of blocks.
#[test]
fn log_a_refund_that_completes_a_block() {
    scenario("log_a_refund_that_completes_a_block", 4, 10, 3, &[(1, 1), (2, 2), (3, 1)])
        .thread(&[refund(4, 2, 1)])
        .thread(&[refund(4, 3, 1), look(4, 3), look(11, 4)])
        .bounds(TWO)
        .run();
}

/// What is taken while the log is about to be forgotten is forgotten, or is not, and its time is remembered.
#[test]
fn log_a_reset_and_a_check() {
    scenario("log_a_reset_and_a_check", 3, 10, 2, &[(1, 2)])
        .thread(&[reset(3)])
        .thread(&[take(4, 1), look(4, 0)])
        .run();
}

#[test]
fn log_a_reset_and_a_refund() {
    scenario("log_a_reset_and_a_refund", 3, 10, 2, &[(1, 2)])
        .thread(&[reset(3), take(3, 2)])
        .thread(&[refund(3, 1, 1), look(4, 0)])
        .bounds(Bounds { counted: Some(1), free: Some(1), strong: Some(3) })
        .run();
}

#[test]
fn log_two_resets() {
    scenario("log_two_resets", 2, 10, 2, &[(1, 2)])
        .thread(&[reset(3), take(3, 1)])
        .thread(&[reset(3), look(4, 0)])
        .run();
}

#[test]
fn log_refunds_of_three() {
    scenario("log_refunds_of_three", 6, 10, 3, &[(1, 6)])
        .thread(&[refund(2, 1, 1)])
        .thread(&[refund(2, 1, 1)])
        .thread(&[refund(2, 1, 2), look(2, 0)])
        .bounds(THREE)
        .run();
}

#[test]
fn log_a_refund_among_three() {
    scenario("log_a_refund_among_three", 3, 10, 3, &[(1, 2)])
        .thread(&[take(3, 1)])
        .thread(&[refund(2, 1, 1)])
        .thread(&[take(11, 2)])
        .bounds(THREE)
        .run();
}
