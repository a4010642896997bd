//! Scripts of operations on limiters of every algorithm, with clocks that stall, jump and step back.
//!
//! `exact` compares every answer with the model of `tests/oracle`, of which whatever `ALL` names is taken. `free` does what
//! the models do not know, plans and reservations that overlap, and asks that each answer is true of the limiter itself.

#![no_main]

mod exact;
mod face;
mod free;
#[path = "../../../tests/oracle/mod.rs"]
mod oracle;
mod script;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

use script::{AnyRate, Step};

#[derive(Arbitrary, Debug)]
struct Input {
    algorithm: u8,
    rate: AnyRate,
    origin_ns: u64,
    is_steady: bool,
    plans: Option<[AnyRate; 2]>,
    script: Vec<Step>,
}

fuzz_target!(|input: Input| {
    let algorithm = oracle::ALL[usize::from(input.algorithm) % oracle::ALL.len()];
    let Some((rate, quota)) = input.rate.exact_for(algorithm) else { return };
    // Room for the script's steps below the latest time, so that few scripts end up there.
    let origin_ns = if input.is_steady { input.origin_ns >> 4 } else { input.origin_ns };
    let clock = script::Clock::new(rate, origin_ns, input.is_steady);
    match input.plans {
        None => exact::run(algorithm, rate, quota, clock, &input.script),
        Some(plans) => free::run(algorithm, rate, quota, plans, clock, &input.script),
    }
});
