//! A scenario on a real log: what is in it, what each thread does, and the sequential log that says which outcomes are right.

use std::sync::Arc;

use tollgate::model::{Log, LogOp, LogOut, LogState, Memory};

use crate::explore::{Bounds, explore_orders, run_threads};
use crate::merge::merges;

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// See there.
    Log(LogOp),
    /// Gives units back that the operation before took.
    GiveBack { now: u64, units: u64 },
}

/// Asks for units.
pub const fn take(now: u64, cost: u64) -> Op {
    Op::Log(LogOp::Take { now, cost })
}

/// Asks whether units would fit.
pub const fn look(now: u64, cost: u64) -> Op {
    Op::Log(LogOp::Look { now, cost })
}

/// Takes units whether they fit or not.
pub const fn charge(now: u64, units: u64) -> Op {
    Op::Log(LogOp::Charge { now, units })
}

/// Gives back units of a time.
pub const fn refund(now: u64, stamp: u64, units: u64) -> Op {
    Op::Log(LogOp::GiveBack { now, stamp: Some(stamp), units })
}

/// Gives back the newest units.
pub const fn newest(now: u64, units: u64) -> Op {
    Op::Log(LogOp::GiveBack { now, stamp: None, units })
}

/// Forgets all.
pub const fn reset(now: u64) -> Op {
    Op::Log(LogOp::Reset { now })
}

/// Kills the log if nothing counts.
pub const fn die(now: u64) -> Op {
    Op::Log(LogOp::DieIfIdle { now })
}

/// The operation, now that the one before is answered.
fn resolved(op: Op, last: Option<&LogOut>) -> Option<LogOp> {
    match (op, last) {
        (Op::Log(op), _) => Some(op),
        (Op::GiveBack { now, units }, Some(&LogOut::Taken { stamp, .. })) => {
            Some(LogOp::GiveBack { now, stamp: Some(stamp), units })
        }
        (Op::GiveBack { .. }, _) => None,
    }
}

/// The sequential log.
#[derive(Clone, Debug)]
struct Spec {
    limit: u64,
    window: u64,
    is_dead: bool,
    newest: u64,
    stamps: Vec<u64>,
}

impl Spec {
    fn live(&self, at: u64) -> Vec<u64> {
        self.stamps.iter().copied().filter(|stamp| stamp + self.window > at).collect()
    }

    fn apply(&mut self, op: LogOp) -> LogOut {
        if self.is_dead {
            return match op {
                LogOp::GiveBack { .. } | LogOp::Reset { .. } => LogOut::Done,
                LogOp::DieIfIdle { .. } => LogOut::Died(false),
                _ => LogOut::Dead,
            };
        }
        match op {
            LogOp::Take { now, cost } => {
                let room = self.limit.saturating_sub(self.live(now.max(self.newest)).len() as u64);
                self.ask(now, cost, if cost <= room { cost } else { 0 })
            }
            LogOp::Look { now, cost } => self.ask(now, cost, 0),
            LogOp::Charge { now, units } => {
                let live = self.live(now.max(self.newest)).len() as u64;
                self.ask(now, units, units.min((2 * self.limit).saturating_sub(live)))
            }
            LogOp::GiveBack { now, stamp, units } => {
                let mut live = self.live(now.max(self.newest));
                live.retain(|&at| stamp.is_none_or(|stamp| stamp == at));
                for at in live.into_iter().rev().take(units as usize) {
                    let place = self.stamps.iter().rposition(|&other| other == at);
                    self.stamps.remove(place.expect("it is live"));
                }
                LogOut::Done
            }
            LogOp::Reset { now } => {
                if !self.live(now.max(self.newest)).is_empty() {
                    self.stamps.clear();
                }
                LogOut::Done
            }
            LogOp::DieIfIdle { now } => {
                self.is_dead = self.newest <= now && self.live(now).is_empty();
                LogOut::Died(self.is_dead)
            }
        }
    }

    fn ask(&mut self, now: u64, cost: u64, taken: u64) -> LogOut {
        let at = now.max(self.newest);
        let live = self.live(at);
        let count = live.len() as u64;
        if taken > 0 {
            self.newest = at;
            self.stamps.extend((0..taken).map(|_| at));
            LogOut::Taken { stamp: at, live: count + taken }
        } else {
            let gone_after = |units: u64| live[units as usize - 1] + self.window - at;
            let fits = cost == 0 || cost > self.limit || count + cost <= self.limit;
            LogOut::Found {
                live: count,
                wait: if fits { 0 } else { gone_after(count + cost - self.limit) },
                reset_after: if count == 0 { 0 } else { gone_after(count) },
            }
        }
    }

    fn state(&self) -> LogState {
        if self.is_dead {
            return LogState { newest: None, stamps: Vec::new() };
        }
        LogState { newest: Some(self.newest), stamps: self.live(self.newest) }
    }
}

/// A model.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: &'static str,
    limit: u64,
    window: u64,
    slot_bits: u32,
    entries: Vec<(u64, u64)>,
    memory: Memory,
    threads: Vec<Vec<Op>>,
    bounds: Option<Bounds>,
}

type Outcome = (Vec<Vec<Option<LogOut>>>, LogState);

/// At most `limit` units in `window`, and a ring of `1 << slot_bits` slots with these times and units in it.
pub fn scenario(
    name: &'static str,
    limit: u64,
    window: u64,
    slot_bits: u32,
    entries: &[(u64, u64)],
) -> Scenario {
    let (entries, threads) = (entries.to_vec(), Vec::new());
    Scenario { name, limit, window, slot_bits, entries, memory: Memory::Kept, threads, bounds: None }
}

impl Scenario {
    /// One more thread.
    #[must_use]
    pub fn thread(mut self, ops: &[Op]) -> Self {
        self.threads.push(ops.to_vec());
        self
    }

    /// Rings that were replaced are dropped.
    #[must_use]
    pub fn reclaimed(mut self) -> Self {
        self.memory = Memory::Reclaimed;
        self
    }

    /// Other bounds than most models of so many threads.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = Some(bounds);
        self
    }

    /// Runs it under loom: answers and content must be those of some sequence.
    pub fn run(self) {
        let bound = self.bounds.unwrap_or(Bounds::of(self.threads.len())).now();
        let allowed = self.sequential();
        explore_orders(self.name, self.threads.len(), bound, move |order| {
            let log = Log::new(self.limit, self.window, self.slot_bits, &self.entries, self.memory);
            let shared = Arc::new((log, self.threads.clone()));
            let outs = run_threads(order, &shared, |(log, threads), thread| {
                log.with_thread(|apply| {
                    let mut outs: Vec<Option<LogOut>> = Vec::new();
                    for &op in &threads[thread] {
                        let last = outs.last().and_then(Option::as_ref);
                        outs.push(resolved(op, last).map(apply));
                    }
                    outs
                })
            });
            let mut outcome = (outs, shared.0.state());
            outcome.1.stamps.sort_unstable();
            assert!(allowed.contains(&outcome), "{}: {outcome:?}\nis none of {allowed:#?}", self.name);
        });
    }

    fn sequential(&self) -> Vec<Outcome> {
        let lengths: Vec<usize> = self.threads.iter().map(Vec::len).collect();
        let units = self.entries.iter().flat_map(|&(at, units)| (0..units).map(move |_| at));
        let newest = self.entries.last().map_or(0, |&(at, _)| at);
        let start =
            Spec { limit: self.limit, window: self.window, is_dead: false, newest, stamps: units.collect() };
        let mut outcomes = Vec::new();
        merges(&lengths, &mut |order| {
            let mut spec = start.clone();
            let mut outs: Vec<Vec<Option<LogOut>>> = vec![Vec::new(); self.threads.len()];
            for &thread in order {
                let op = self.threads[thread][outs[thread].len()];
                let last = outs[thread].last().and_then(Option::as_ref);
                let out = resolved(op, last).map(|op| spec.apply(op));
                outs[thread].push(out);
            }
            let outcome = (outs, spec.state());
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        });
        outcomes
    }
}
