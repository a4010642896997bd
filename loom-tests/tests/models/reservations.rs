//! Units held by several threads of one limiter: settled in any order, refunded and reset meanwhile.

use std::time::Duration;

use loom_tests::Bounds;
use loom_tests::held::{Op, Scenario, scenario};
use tollgate::Quota;

/// In the middle of a window of eight seconds.
const NOW: u64 = 12 * SECOND;
const SECOND: u64 = 1_000_000_000;

/// A reservation and its settlement have eight accesses each.
const TWO: Bounds = Bounds { counted: Some(4), free: None, strong: Some(5) };
const THREE: Bounds = Bounds { counted: Some(2), free: Some(2), strong: Some(3) };

/// Eight units at once, of which three are taken and kept: units that are given back twice show.
fn eight(name: &'static str, algorithm: &'static str) -> Scenario {
    let quota = match algorithm {
        "gcra" => Quota::per_second(1).burst(8),
        _ => Quota::new(8, Duration::from_secs(8)),
    };
    scenario(name, algorithm, quota, NOW, 3)
}

macro_rules! for_each_algorithm {
    ($($test:ident),* $(,)?) => {
        mod gcra {
            $(#[test] fn $test() { super::$test(concat!("held::gcra::", stringify!($test)), "gcra"); })*
        }
        mod fixed_window {
            $(#[test] fn $test() {
                super::$test(concat!("held::fixed_window::", stringify!($test)), "fixed_window");
            })*
        }
    };
}

for_each_algorithm!(
    two_are_cancelled,
    one_is_cancelled_and_one_kept,
    one_is_cancelled_and_units_refunded,
    one_is_cancelled_after_a_reset,
    three_are_cancelled,
);

fn two_are_cancelled(name: &'static str, algorithm: &'static str) {
    eight(name, algorithm)
        .thread(&[Op::Reserve(2), Op::Commit(0)])
        .thread(&[Op::Reserve(1), Op::Commit(0)])
        .run(TWO);
}

fn one_is_cancelled_and_one_kept(name: &'static str, algorithm: &'static str) {
    eight(name, algorithm)
        .thread(&[Op::Reserve(2), Op::Commit(0)])
        .thread(&[Op::Reserve(2), Op::Commit(1)])
        .run(TWO);
}

fn one_is_cancelled_and_units_refunded(name: &'static str, algorithm: &'static str) {
    eight(name, algorithm)
        .thread(&[Op::Reserve(2), Op::Commit(0)])
        .thread(&[Op::Check(1), Op::Refund(1)])
        .run(TWO);
}

fn one_is_cancelled_after_a_reset(name: &'static str, algorithm: &'static str) {
    eight(name, algorithm)
        .thread(&[Op::Reserve(2), Op::Commit(0)])
        .thread(&[Op::Reset, Op::Check(5)])
        .run(TWO);
}

fn three_are_cancelled(name: &'static str, algorithm: &'static str) {
    eight(name, algorithm)
        .thread(&[Op::Reserve(1), Op::Commit(0)])
        .thread(&[Op::Reserve(2), Op::Commit(0)])
        .thread(&[Op::Reserve(1), Op::Commit(1)])
        .run(THREE);
}
