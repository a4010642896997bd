//! The log: rings grow, shrink, lap, die, and are dropped when nobody reads them.

use loom_tests::Bounds;
use loom_tests::log::{Op, die, look, refund, reset, scenario, take};

/// Laps take many steps.
const LAPS: Bounds = Bounds { counted: Some(0), free: Some(1), strong: Some(3) };

#[test]
fn log_growth() {
    scenario("log_growth", 4, 10, 1, &[(1, 1)]).thread(&[take(2, 1)]).thread(&[take(3, 2)]).run();
}

/// The ring is full only for as long as the one who took last has not passed what has expired.
#[test]
fn log_growth_that_is_not_needed() {
    scenario("log_growth_that_is_not_needed", 4, 10, 2, &[(1, 1), (5, 1)])
        .thread(&[take(11, 1), take(12, 1), look(12, 0)])
        .thread(&[take(12, 1)])
        .run();
}

#[test]
fn log_growth_and_a_refund() {
    scenario("log_growth_and_a_refund", 4, 10, 1, &[(1, 2)])
        .thread(&[take(2, 1)])
        .thread(&[refund(2, 1, 1), look(2, 0)])
        .bounds(Bounds { counted: Some(1), free: Some(1), strong: Some(3) })
        .run();
}

/// A cost that no entry can say: its window leaves 2 bits for units.
#[test]
fn log_a_cost_in_several_entries() {
    scenario("log_a_cost_in_several_entries", 8, 1 << 56, 2, &[(1, 1)])
        .thread(&[take(2, 5)])
        .thread(&[take(3, 4), look(4, 0)])
        .run();
}

/// Everything has expired: a smaller ring will do.
#[test]
fn log_a_ring_that_is_too_large() {
    scenario("log_a_ring_that_is_too_large", 4, 10, 3, &[(1, 1), (2, 1)])
        .thread(&[take(3, 1), take(30, 1)])
        .thread(&[take(31, 1), look(4, 0)])
        .run();
}

/// A thread that stands still while others go round the ring.
#[test]
fn log_laps() {
    scenario("log_laps", 1, 2, 1, &[(1, 1)])
        .thread(&[take(3, 1)])
        .thread(&[take(3, 1), take(5, 1), take(7, 1), take(9, 1), take(11, 1)])
        .bounds(LAPS)
        .run();
}

#[test]
fn log_laps_of_four() {
    scenario("log_laps_of_four", 1, 2, 2, &[(1, 1)])
        .thread(&[take(12, 1)])
        .thread(&[take(3, 1), take(4, 1), take(5, 1), take(6, 1), take(7, 1), take(8, 1), take(9, 1)])
        .bounds(LAPS)
        .run();
}

/// A thread that has read how far the log is, and reads the slots one lap later.
#[test]
fn log_a_lap_behind() {
    scenario("log_a_lap_behind", 2, 3, 2, &[(1, 1)])
        .thread(&[take(8, 1)])
        .thread(&[take(3, 1), take(5, 1), take(6, 1), take(8, 1), take(9, 1)])
        .bounds(LAPS)
        .run();
}

/// Sums of blocks are used again, too.
#[test]
fn log_a_look_among_laps() {
    scenario("log_a_look_among_laps", 2, 2, 2, &[(1, 2)])
        .thread(&[look(3, 2)])
        .thread(&[take(3, 1), take(4, 1), take(5, 1), take(6, 2), take(8, 1), take(9, 1)])
        .bounds(Bounds { free: Some(0), ..LAPS })
        .run();
}

/// A refund that stands still while its entry's place is taken by another lap.
#[test]
fn log_a_refund_among_laps() {
    scenario("log_a_refund_among_laps", 2, 2, 2, &[(1, 2)])
        .thread(&[refund(2, 1, 1)])
        .thread(&[take(3, 1), take(4, 1), take(5, 1), take(6, 2), take(8, 2)])
        .bounds(LAPS)
        .run();
}

/// Whoever finds a ring that has ended copies it: the second copy is not wanted.
#[test]
fn log_a_reset_and_growth() {
    scenario("log_a_reset_and_growth", 4, 10, 1, &[(1, 2)])
        .thread(&[reset(2)])
        .thread(&[take(3, 1), take(3, 1)])
        .run();
}

#[test]
fn log_an_idle_log_dies() {
    scenario("log_an_idle_log_dies", 2, 10, 2, &[(1, 2)])
        .thread(&[die(11)])
        .thread(&[take(11, 1), look(12, 0)])
        .run();
}

/// A clock that is behind does not see the units of one that is ahead expire.
#[test]
fn log_a_log_in_use_lives() {
    scenario("log_a_log_in_use_lives", 2, 10, 2, &[(1, 1)])
        .thread(&[die(11), die(12)])
        .thread(&[take(13, 1), look(14, 0)])
        .run();
}

/// Nor is it idle for a clock that is behind its newest entry, though that was given back: what that has passed still counts
/// for the clock.
#[test]
fn log_a_log_that_is_ahead_lives() {
    scenario("log_a_log_that_is_ahead_lives", 2, 10, 2, &[(3, 1)])
        .thread(&[take(13, 1), Op::GiveBack { now: 13, units: 1 }])
        .thread(&[die(12)])
        .bounds(Bounds { counted: Some(1), free: Some(2), strong: Some(3) })
        .run();
}

#[test]
fn log_a_new_log_dies() {
    scenario("log_a_new_log_dies", 2, 10, 2, &[])
        .thread(&[die(11)])
        .thread(&[take(11, 1), look(12, 0)])
        .run();
}

#[test]
fn log_growth_of_three() {
    scenario("log_growth_of_three", 4, 10, 1, &[(1, 1)])
        .thread(&[take(2, 1)])
        .thread(&[take(3, 2)])
        .thread(&[look(3, 0)])
        .run();
}

/// With crossbeam-epoch, which shuttle does not know: a ring is dropped while others may read it.
#[cfg(not(feature = "shuttle"))]
#[test]
fn log_a_reader_of_an_old_ring() {
    scenario("log_a_reader_of_an_old_ring", 2, 10, 1, &[(1, 1)])
        .thread(&[take(2, 1)])
        .thread(&[look(3, 0)])
        .reclaimed()
        .bounds(Bounds { counted: Some(1), free: Some(2), strong: Some(2) })
        .run();
}

#[cfg(not(feature = "shuttle"))]
#[test]
fn log_a_writer_of_an_old_ring() {
    scenario("log_a_writer_of_an_old_ring", 4, 10, 1, &[(1, 1)])
        .thread(&[take(2, 1)])
        .thread(&[take(3, 2)])
        .reclaimed()
        .bounds(Bounds { counted: Some(1), free: Some(2), strong: Some(2) })
        .run();
}
