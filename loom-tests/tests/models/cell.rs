//! One real cell under the real algorithms.

use std::sync::Arc;
use std::time::Duration;

use loom_tests::cell::{Op, Scenario, scenario};
use tollgate::algorithm::{Algorithm, Settings, build};
use tollgate::{Now, Quota};

/// A unit per second, or two per window of two seconds.
const SECOND: u64 = 1_000_000_000;
/// The middle of a window.
const NOW: u64 = 11 * SECOND;

/// Two units.
fn algorithm(name: &str) -> Arc<dyn Algorithm> {
    let quota = match name {
        "gcra" => Quota::per_second(1).burst(2),
        _ => Quota::new(2, Duration::from_secs(2)),
    };
    build(name, &quota, &Settings::default()).expect("a valid quota")
}

/// A plan of the same words with three units.
fn larger(algorithm: &Arc<dyn Algorithm>, name: &str) -> Arc<dyn Algorithm> {
    let quota = match name {
        "gcra" => Quota::per_second(1).burst(3),
        _ => Quota::new(3, Duration::from_secs(2)),
    };
    algorithm.with_rate(quota.rate().expect("a rate")).expect("words are shared")
}

/// The word after `units` are taken at `NOW`.
fn taken(algorithm: &Arc<dyn Algorithm>, units: u64) -> u64 {
    let now = Now::at(NOW);
    algorithm.decide(algorithm.fresh(now), now, units).word
}

const fn check(now: u64, cost: u64) -> Op {
    Op::Check { now, cost }
}

macro_rules! for_each_algorithm {
    ($($test:ident),* $(,)?) => {
        mod gcra {
            $(#[test] fn $test() { super::$test("gcra", concat!("gcra::", stringify!($test))).run(); })*
        }
        mod fixed_window {
            $(#[test] fn $test() {
                super::$test("fixed_window", concat!("fixed_window::", stringify!($test))).run();
            })*
        }
        mod sliding_window_counter {
            $(#[test] fn $test() {
                super::$test("sliding_window_counter", concat!("sliding_window::", stringify!($test))).run();
            })*
        }
    };
}

for_each_algorithm!(
    the_last_unit,
    a_weighted_check,
    a_refund,
    two_refunds,
    a_stale_now,
    another_plan,
    a_debt,
    three_threads,
);

/// One is left, two ask.
fn the_last_unit(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    scenario(model, taken(&a, 1)).thread(&a, &[check(NOW, 1)]).thread(&a, &[check(NOW, 1)])
}

/// All or none.
fn a_weighted_check(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    scenario(model, 0).thread(&a, &[check(NOW, 2)]).thread(&a, &[check(NOW, 1), check(NOW, 1)])
}

fn a_refund(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    let refund = Op::Refund { now: NOW, units: 1 };
    scenario(model, taken(&a, 2)).thread(&a, &[refund]).thread(&a, &[check(NOW, 1), check(NOW, 1)])
}

fn two_refunds(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    let refund = Op::Refund { now: NOW, units: 1 };
    scenario(model, taken(&a, 2)).thread(&a, &[refund, check(NOW, 2)]).thread(&a, &[refund])
}

/// One thread's clock is two seconds, and a window, behind.
fn a_stale_now(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    let stale = NOW - 2 * SECOND;
    scenario(model, taken(&a, 1))
        .thread(&a, &[check(stale, 1), check(stale, 1)])
        .thread(&a, &[check(NOW, 1), Op::Refund { now: stale, units: 1 }])
}

/// Two plans of one word.
fn another_plan(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    let b = larger(&a, name);
    scenario(model, taken(&a, 1)).thread(&a, &[check(NOW, 1)]).thread(&b, &[check(NOW, 1), check(NOW, 1)])
}

/// Units taken in advance, and more than fit.
fn a_debt(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    scenario(model, taken(&a, 1))
        .thread(&a, &[Op::Reserve { now: NOW, units: 2 }, Op::Refund { now: NOW, units: 1 }])
        .thread(&a, &[Op::Charge { now: NOW, units: 2 }])
}

fn three_threads(name: &str, model: &'static str) -> Scenario {
    let a = algorithm(name);
    scenario(model, 0)
        .thread(&a, &[check(NOW, 1)])
        .thread(&a, &[check(NOW + 2 * SECOND, 2)])
        .thread(&a, &[Op::Refund { now: NOW, units: 1 }])
}
