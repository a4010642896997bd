//! A scenario on one real cell with a real algorithm.

use std::collections::BTreeSet;
use std::sync::Arc;

use tollgate::algorithm::Algorithm;
use tollgate::model::{Cell, Turn};
use tollgate::{Decision, Now};

use crate::explore::{Bounds, explore_orders, run_threads};
use crate::merge::merges;

/// What a thread does, at a time of its own.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Asks for units.
    Check { now: u64, cost: u64 },
    /// Takes units in advance.
    Reserve { now: u64, units: u64 },
    /// Takes units that may not fit.
    Charge { now: u64, units: u64 },
    /// Gives the newest units back.
    Refund { now: u64, units: u64 },
}

/// What it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// To a check, with all that it says; also to a reservation that was refused.
    Decided(Decision),
    /// To a reservation or a charge: how long to wait.
    Waits(u64),
    /// To a refund: whether there was something to give back.
    Back(bool),
}

/// A model: each thread has its own plan of the same words.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: &'static str,
    word: u64,
    threads: Vec<(Arc<dyn Algorithm>, Vec<Op>)>,
}

type Outcome = (Vec<Vec<Out>>, u64);

/// A scenario on a cell that holds `word`.
pub fn scenario(name: &'static str, word: u64) -> Scenario {
    Scenario { name, word, threads: Vec::new() }
}

impl Scenario {
    /// One more thread.
    #[must_use]
    pub fn thread(mut self, algorithm: &Arc<dyn Algorithm>, ops: &[Op]) -> Self {
        self.threads.push((Arc::clone(algorithm), ops.to_vec()));
        self
    }

    /// Runs it under loom: answers and word must be those of some sequence. A lone cell needs no bound.
    pub fn run(self) {
        let bound = Bounds { counted: None, free: None, strong: None }.now();
        let allowed = self.sequential();
        explore_orders(self.name, self.threads.len(), bound, move |order| {
            let shared = Arc::new((Cell::new(self.word), self.threads.clone()));
            let outs = run_threads(order, &shared, |(cell, threads), thread| {
                let (algorithm, ops) = &threads[thread];
                ops.iter().map(|&op| cell.turn(|word| turn(&**algorithm, word, op))).collect::<Vec<Out>>()
            });
            let outcome = (outs, shared.0.load());
            assert!(allowed.contains(&outcome), "{}: {outcome:?}\nis none of {allowed:#?}", self.name);
        });
    }

    fn sequential(&self) -> Vec<Outcome> {
        let lengths: Vec<usize> = self.threads.iter().map(|(_, ops)| ops.len()).collect();
        let mut outcomes = Vec::new();
        let mut orders = BTreeSet::new();
        merges(&lengths, &mut |order| _ = orders.insert(order.to_vec()));
        for order in orders {
            let mut word = self.word;
            let mut outs = vec![Vec::new(); self.threads.len()];
            for thread in order {
                let (algorithm, ops) = &self.threads[thread];
                match turn(&**algorithm, word, ops[outs[thread].len()]) {
                    Turn::Keep(out) => outs[thread].push(out),
                    Turn::Put(next, out) => {
                        word = next;
                        outs[thread].push(out);
                    }
                }
            }
            outcomes.push((outs, word));
        }
        outcomes
    }
}

fn turn(algorithm: &dyn Algorithm, word: u64, op: Op) -> Turn<Out> {
    match op {
        Op::Check { now, cost } => {
            let step = algorithm.decide(word, Now::at(now), cost);
            let answer = Out::Decided(step.decision);
            if step.decision.is_allowed() { Turn::Put(step.word, answer) } else { Turn::Keep(answer) }
        }
        Op::Reserve { now, units } => match algorithm.reserve(word, Now::at(now), units) {
            Ok(reserved) => Turn::Put(reserved.word, Out::Waits(reserved.wait_ns)),
            Err(refusal) => Turn::Keep(Out::Decided(refusal)),
        },
        Op::Charge { now, units } => {
            let charged = algorithm.charge(word, Now::at(now), units);
            Turn::Put(charged.word, Out::Waits(charged.wait_ns))
        }
        Op::Refund { now, units } => match algorithm.refund(word, Now::at(now), units, word) {
            next if next == word => Turn::Keep(Out::Back(false)),
            next => Turn::Put(next, Out::Back(true)),
        },
    }
}
