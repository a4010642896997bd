//! A scenario on one real limiter without keys, whose units are reserved, settled and given back by several threads.

use std::collections::BTreeSet;
use std::sync::Arc;

use tollgate::{DirectLimiter, ManualClock, Quota, Reservation, store};

use crate::explore::{Bounds, explore_orders, run_threads};
use crate::merge::merges;

/// What a thread does. All happens at one instant, so that nothing comes back by itself.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Takes units in advance.
    Reserve(u64),
    /// Accounts for the thread's oldest open reservation.
    Commit(u64),
    /// Asks for units.
    Check(u64),
    /// Gives units back that the thread has taken.
    Refund(u64),
    /// Makes the limiter as good as new.
    Reset,
}

/// A model: what each thread does with one limiter.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: &'static str,
    algorithm: &'static str,
    quota: Quota,
    now: u64,
    taken: u64,
    threads: Vec<Vec<Op>>,
}

/// A scenario at an instant, on a limiter from which `taken` units were taken to be kept.
pub fn scenario(name: &'static str, algorithm: &'static str, quota: Quota, now: u64, taken: u64) -> Scenario {
    Scenario { name, algorithm, quota, now, taken, threads: Vec::new() }
}

type Direct = DirectLimiter<ManualClock>;
type Open<'a> = Vec<Option<Reservation<'a, ManualClock, store::Single>>>;

impl Scenario {
    /// One more thread.
    #[must_use]
    pub fn thread(mut self, ops: &[Op]) -> Self {
        self.threads.push(ops.to_vec());
        self
    }

    /// Runs it: what was answered must be what some sequence answers, with no more left than after such a sequence. Less is
    /// right where a return raced with another, as `Reservation` says.
    pub fn run(self, bounds: Bounds) {
        let allowed = self.sequential();
        let count = self.threads.len();
        explore_orders(self.name, count, bounds.now(), move |order| {
            let shared = Arc::new((self.limiter(), self.threads.clone(), self.now));
            let outs = run_threads(order, &shared, |(limiter, threads, now), thread| {
                let (mut open, mut outs) = (Open::new(), Vec::new());
                threads[thread].iter().for_each(|&op| outs.extend(step(limiter, op, *now, &mut open)));
                outs
            });
            let left = shared.0.peek_at(self.now).remaining();
            let fits = |(other, most): &Outcome| *other == outs && left <= *most;
            assert!(allowed.iter().any(fits), "{}: {outs:?}, {left}\nis none of {allowed:#?}", self.name);
        });
    }

    fn limiter(&self) -> Direct {
        let builder = DirectLimiter::builder(self.quota).algorithm(self.algorithm);
        let limiter = builder.clock(ManualClock::new(0)).build().expect("a valid quota");
        assert!(limiter.check_n_at(self.taken, self.now).is_allowed());
        limiter
    }

    /// The outcomes of all sequences.
    fn sequential(&self) -> BTreeSet<Outcome> {
        let limit = self.quota.rate().expect("a rate").capacity();
        let lengths: Vec<usize> = self.threads.iter().map(Vec::len).collect();
        let mut outcomes = BTreeSet::new();
        merges(&lengths, &mut |order| {
            let mut spec = Spec { limit, may_wait: self.algorithm == "gcra", taken: self.taken, resets: 0 };
            let count = self.threads.len();
            let (mut open, mut outs, mut next) =
                (vec![Vec::new(); count], vec![Vec::new(); count], vec![0; count]);
            for &thread in order {
                outs[thread].extend(spec.step(self.threads[thread][next[thread]], &mut open[thread]));
                next[thread] += 1;
            }
            outcomes.insert((outs, spec.left()));
        });
        outcomes
    }
}

/// What each thread was told, and what is left at the end.
type Outcome = (Vec<Vec<Out>>, u64);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Out {
    /// To a reservation: whether it may be used at once. If not, it waits, or, in a window, is refused.
    Held { fits: bool },
    /// To a check: what is left, if it was admitted.
    Left(Option<u64>),
}

/// The units that are taken.
struct Spec {
    limit: u64,
    may_wait: bool,
    taken: u64,
    resets: usize,
}

/// What a reservation holds, and how many resets there had been when it was made.
type Holding = (u64, usize);

impl Spec {
    fn left(&self) -> u64 {
        self.limit.saturating_sub(self.taken)
    }

    fn step(&mut self, op: Op, open: &mut Vec<Holding>) -> Option<Out> {
        match op {
            Op::Reserve(units) => {
                let fits = units <= self.left();
                let held = if fits || self.may_wait { units } else { 0 };
                self.taken += held;
                open.push((held, self.resets));
                return Some(Out::Held { fits });
            }
            Op::Commit(actual) => {
                let (held, resets) = open.remove(0);
                if resets == self.resets {
                    self.taken -= held.saturating_sub(actual);
                }
            }
            Op::Check(cost) => {
                let fits = cost <= self.left();
                self.taken += if fits { cost } else { 0 };
                return Some(Out::Left(fits.then(|| self.left())));
            }
            Op::Refund(units) => self.taken -= units,
            Op::Reset => {
                self.taken = 0;
                self.resets += 1;
            }
        }
        None
    }
}

fn step<'a>(limiter: &'a Direct, op: Op, now: u64, open: &mut Open<'a>) -> Option<Out> {
    match op {
        Op::Reserve(units) => {
            let held = limiter.reserve_at(units, now).ok();
            let fits = held.as_ref().is_some_and(|held| held.wait().is_zero());
            open.push(held);
            return Some(Out::Held { fits });
        }
        Op::Commit(actual) => {
            if let Some(held) = open.remove(0) {
                held.commit_at(actual, now);
            }
        }
        Op::Check(cost) => {
            let decision = limiter.check_n_at(cost, now);
            return Some(Out::Left(decision.is_allowed().then(|| decision.remaining())));
        }
        Op::Refund(units) => limiter.refund_at(units, now),
        Op::Reset => limiter.reset_at(now),
    }
    None
}
