//! A scenario on the real table: what is in it, what each thread does, and which outcomes are right.

use std::collections::BTreeSet;
use std::sync::Arc;

use tollgate::Overflow;
use tollgate::model::{NoRoom, Slot, SlotState, Stop, Table, Turn};

use crate::explore::{Bounds, explore_orders, run_threads};
use crate::merge::merges;
use crate::rule::Rule;
use crate::spec::Spec;

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Asks for `cost` units.
    Check { key: u64, now: u64, cost: u64 },
    /// Gives units back.
    Refund { key: u64, now: u64, units: u64 },
    /// Gives units back if the operation before was admitted.
    GiveBack { key: u64, now: u64, units: u64 },
    /// Looks.
    Peek { key: u64 },
    /// Begins to insert a key, and stops for ever.
    Abandon { key: u64, now: u64, stop: Stop },
}

impl Op {
    const fn key(self) -> u64 {
        match self {
            Self::Check { key, .. }
            | Self::Refund { key, .. }
            | Self::GiveBack { key, .. }
            | Self::Peek { key }
            | Self::Abandon { key, .. } => key,
        }
    }
}

/// What it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Out {
    Admit,
    Deny,
    NoRoom,
    /// Units were given back or not.
    Back(bool),
    /// The key's word.
    Saw(Option<u64>),
    Stopped,
    Skipped,
}

/// All that can be told from outside when the threads are done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// By thread.
    pub outs: Vec<Vec<Out>>,
    /// The charged words of each key, sorted by key. Two words of one key are a bug.
    pub words: Vec<(u64, Vec<u64>)>,
    /// The overflow cell.
    pub debt: u64,
}

impl Outcome {
    /// How often `out` was answered.
    pub fn count(&self, out: Out) -> usize {
        self.outs.iter().flatten().filter(|&&o| o == out).count()
    }

    /// The words of `key`.
    pub fn words_of(&self, key: u64) -> &[u64] {
        self.words.iter().find(|&&(k, _)| k == key).map_or(&[], |(_, words)| words)
    }
}

/// A model.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: &'static str,
    start: Spec,
    threads: Vec<Vec<Op>>,
    then: Vec<Op>,
    bounds: Option<Bounds>,
    also: fn(&Outcome) -> bool,
}

/// A slot of nobody's.
pub const fn vacant(value: u64) -> Slot {
    Slot { tag: 0, state: SlotState::Vacant, value }
}

/// A key's slot.
pub const fn time(tag: u64, value: u64) -> Slot {
    Slot { tag, state: SlotState::Time, value }
}

/// A scenario on `lines` lines with these slots, which share the floor `floor`.
pub fn scenario(name: &'static str, rule: Rule, lines: usize, floor: u64, slots: &[Slot]) -> Scenario {
    assert_eq!(slots.len(), lines * Table::LINE, "{name}: slots");
    let slots = slots.to_vec();
    let start = Spec { rule, slots, lines, floor, policy: Overflow::Deny, cell: None };
    Scenario { name, start, threads: Vec::new(), then: Vec::new(), bounds: None, also: |_| false }
}

impl Scenario {
    /// One more thread.
    #[must_use]
    pub fn thread(mut self, ops: &[Op]) -> Self {
        self.threads.push(ops.to_vec());
        self
    }

    /// What is done when the threads have ended.
    #[must_use]
    pub fn then(mut self, ops: &[Op]) -> Self {
        self.then = ops.to_vec();
        self
    }

    /// Another policy than to refuse.
    #[must_use]
    pub fn policy(mut self, policy: Overflow) -> Self {
        self.start.policy = policy;
        self
    }

    /// Other bounds than [`Bounds::of`].
    #[must_use]
    pub fn bounds(self, counted: usize, free: Option<usize>, strong: Option<usize>) -> Self {
        Self { bounds: Some(Bounds { counted: Some(counted), free, strong }), ..self }
    }

    /// Outcomes that are right although no sequence of the operations has them; the model says why.
    #[must_use]
    pub fn also(self, also: fn(&Outcome) -> bool) -> Self {
        Self { also, ..self }
    }

    /// Runs it under loom, in each rotation of its threads if accesses are not counted.
    pub fn run(self) {
        let bound = self.bounds.unwrap_or(Bounds::of(self.threads.len())).now();
        let allowed = self.sequential();
        explore_orders(self.name, self.threads.len(), bound, move |order| {
            let outcome = self.outcome(order);
            let is_right = allowed.contains(&outcome) || (self.also)(&outcome);
            assert!(is_right, "{}: {outcome:?}\nis none of {allowed:#?}", self.name);
        });
    }

    /// The outcomes of all sequences of the operations.
    pub fn sequential(&self) -> BTreeSet<Outcome> {
        let lengths: Vec<usize> = self.threads.iter().map(Vec::len).collect();
        let mut outcomes = BTreeSet::new();
        merges(&lengths, &mut |order| {
            let mut spec = self.start.clone();
            let mut outs = vec![Vec::new(); self.threads.len()];
            for &thread in order {
                let op = self.threads[thread][outs[thread].len()];
                let out = spec.apply(op, outs[thread].last().copied());
                outs[thread].push(out);
            }
            let mut last = Vec::new();
            for &op in &self.then {
                let out = spec.apply(op, last.last().copied());
                last.push(out);
            }
            outs.push(last);
            let words = self.words(&spec.slots);
            outcomes.insert(Outcome { outs, words, debt: spec.cell.unwrap_or(0) });
        });
        outcomes
    }

    fn outcome(&self, order: &[usize]) -> Outcome {
        let table = Table::new(&self.start.slots, self.start.floor, self.start.policy);
        let shared = Arc::new((table, self.clone()));
        let mut outs = run_threads(order, &shared, |(table, model), thread| {
            perform(table, &model.start.rule, &model.threads[thread])
        });
        let table = &shared.0;
        outs.push(perform(table, &self.start.rule, &self.then));
        let slots = table.slots();
        let is_whole = !self.all_ops().any(|op| matches!(op, Op::Abandon { .. }));
        let open = |slot: &Slot| matches!(slot.state, SlotState::Claimed | SlotState::Pending);
        assert!(!is_whole || !slots.iter().any(open), "{}: left open: {slots:?}", self.name);
        Outcome { outs, words: self.words(&slots), debt: table.debt(0) }
    }

    fn all_ops(&self) -> impl Iterator<Item = Op> + '_ {
        self.threads.iter().flatten().chain(&self.then).copied()
    }

    /// The words of the keys that are operated on, and of those that nobody may touch.
    fn words(&self, slots: &[Slot]) -> Vec<(u64, Vec<u64>)> {
        let latest = self.all_ops().map(|op| match op {
            Op::Check { now, .. } | Op::Abandon { now, .. } => self.start.rule.fresh(now),
            Op::Refund { .. } | Op::GiveBack { .. } | Op::Peek { .. } => 0,
        });
        let latest = latest.max().unwrap_or(0);
        let is_live =
            |slot: &&Slot| slot.state == SlotState::Time && slot.value + self.start.rule.lead() >= latest;
        let live = self.start.slots.iter().filter(is_live).map(|slot| slot.tag);
        let keys: BTreeSet<u64> = self.all_ops().map(Op::key).chain(live).collect();
        let words = |key: u64| {
            let own = slots.iter().filter(|slot| slot.tag == key && slot.state == SlotState::Time);
            own.map(|slot| slot.value).collect()
        };
        keys.into_iter().map(|key| (key, words(key))).collect()
    }
}

/// The operations of one thread on the real table.
fn perform(table: &Table, rule: &Rule, ops: &[Op]) -> Vec<Out> {
    let mut outs: Vec<Out> = Vec::new();
    for &op in ops {
        let out = match op {
            Op::Check { key, now, cost } => check(table, rule, key, now, cost),
            Op::GiveBack { .. } if outs.last() != Some(&Out::Admit) => Out::Skipped,
            Op::Refund { key, now, units } | Op::GiveBack { key, now, units } => {
                let back = table.visit(key, |word| match rule.give_back(word, now, units) {
                    next if next == word => Turn::Keep(false),
                    next => Turn::Put(next, true),
                });
                Out::Back(back.unwrap_or(false))
            }
            Op::Peek { key } => Out::Saw(table.visit(key, Turn::Keep)),
            Op::Abandon { key, now, stop } => {
                table.abandon(key, rule.fresh(now), rule.lead(), stop);
                Out::Stopped
            }
        };
        outs.push(out);
    }
    outs
}

fn check(table: &Table, rule: &Rule, key: u64, now: u64, cost: u64) -> Out {
    let answer = table.decide(key, rule.fresh(now), rule.lead(), |word, floor| {
        match rule.take(word, floor, now, cost) {
            Some(next) => Turn::Put(next, Out::Admit),
            None => Turn::Keep(Out::Deny),
        }
    });
    match answer {
        Ok(out) => out,
        Err(NoRoom::Deny | NoRoom::Allow) => Out::NoRoom,
    }
}
