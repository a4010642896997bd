//! The log with its insides open, for `loom-tests`.

#![allow(unsafe_code)]

use std::mem;
use std::ptr;

use crossbeam_epoch::Collector;

use crate::log::current::{Found, Guard, Owner};
use crate::log::ring::Ring;
use crate::log::word::Layout;
use crate::log::{Answer, Ask, Mode, Span};

/// What becomes of rings that were replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Nothing: fewer accesses to search.
    Kept,
    /// crossbeam-epoch drops them.
    Reclaimed,
}

struct Keep;

// SAFETY: nothing is ever dropped.
unsafe impl Guard for Keep {
    fn retire<P: Owner + Send + 'static>(&self, unlinked: P) {
        mem::forget(unlinked);
    }
}

struct Pinned(crossbeam_epoch::Guard);

// SAFETY: as for the guard itself.
unsafe impl Guard for Pinned {
    /// The memory is kept, so that a late reader meets the ring's witness.
    fn retire<P: Owner + Send + 'static>(&self, unlinked: P) {
        // SAFETY: it is a box, and is not dropped otherwise.
        self.0.defer(move || unsafe { ptr::drop_in_place(unlinked.into_raw()) });
        self.0.flush();
    }
}

/// A log, and how its memory is reclaimed.
#[derive(Debug)]
pub struct Log {
    log: super::Log,
    span: Span,
    collector: Option<Collector>,
}

/// All that can be told of a log when nobody uses it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogState {
    /// The time of the newest entry; `None` if the log is dead.
    pub newest: Option<u64>,
    /// The times of the units that count then.
    pub stamps: Vec<u64>,
}

impl Log {
    /// A log of at most `limit` units in `window`, with a ring of `1 << slot_bits` slots that holds these times and units.
    pub fn new(limit: u64, window: u64, slot_bits: u32, entries: &[(u64, u64)], memory: Memory) -> Self {
        let span = Span { units: limit, window_ns: window };
        let log = super::Log::new();
        if let Some(&(base, _)) = entries.first() {
            let ring = Ring::new(Layout::new(limit, window), slot_bits, base, entries.iter().copied());
            assert!(log.ring.start(Box::new(ring)));
        }
        Self { log, span, collector: (memory == Memory::Reclaimed).then(Collector::new) }
    }

    /// A thread's access.
    pub fn with_thread<T>(&self, work: impl FnOnce(&dyn Fn(LogOp) -> LogOut) -> T) -> T {
        let handle = self.collector.as_ref().map(Collector::register);
        work(&|op| match &handle {
            Some(handle) => self.apply(&Pinned(handle.pin()), op),
            None => self.apply(&Keep, op),
        })
    }

    fn apply(&self, guard: &impl Guard, op: LogOp) -> LogOut {
        let ask = |now_ns, cost, mode| {
            let ask = Ask { span: self.span, now_ns, cost, mode };
            self.log.ask(guard, || 0, &ask).map_or(LogOut::Dead, LogOut::from)
        };
        match op {
            LogOp::Take { now, cost } => ask(now, cost, Mode::Take),
            LogOp::Look { now, cost } => ask(now, cost, Mode::Look),
            LogOp::Charge { now, units } => ask(now, units, Mode::Charge),
            LogOp::GiveBack { now, stamp, units } => {
                self.log.give_back(guard, self.span, now, stamp, |given, there| (units - given).min(there));
                LogOut::Done
            }
            LogOp::Reset { now } => {
                self.log.reset(guard, self.span, now, || ());
                LogOut::Done
            }
            LogOp::DieIfIdle { now } => LogOut::Died(self.log.die_if_idle(guard, self.span, now, || ())),
        }
    }

    /// The state, and that what sums up the slots agrees with them.
    pub fn state(&self) -> LogState {
        let ring = match self.log.ring.get(&Keep) {
            Found::Unset => return LogState { newest: Some(0), stamps: Vec::new() },
            Found::Dead => return LogState { newest: None, stamps: Vec::new() },
            Found::Value(ring) => ring,
        };
        let view = loop {
            // Helps on what the last thread left undone.
            if let Some(view) = ring.view() {
                break view;
            }
        };
        let all = view.tail.index()..view.head.index();
        let entries: Vec<_> = all.map(|index| ring.load(index)).collect();
        let units: u32 = entries.iter().map(|&entry| ring.units(entry)).sum();
        assert_eq!(view.head.since(view.tail), units, "what is announced is what the entries say");
        for end in view.tail.index()..=view.head.index() {
            let behind = crate::log::ring::Mark::new(end, 0);
            let sought = ring.seek(view.tail, behind, |_, _| true);
            let listed = entries[..(end - view.tail.index()) as usize].iter().map(|&entry| ring.units(entry));
            assert_eq!(
                (sought.index(), sought.since(view.tail)),
                (end, listed.sum()),
                "sums are of the entries"
            );
        }
        let live =
            entries.iter().filter(|&&entry| ring.time_ns(entry) + self.span.window_ns > view.newest_ns);
        let stamps =
            live.flat_map(|&entry| std::iter::repeat_n(ring.time_ns(entry), ring.units(entry) as usize));
        LogState { newest: Some(view.newest_ns), stamps: stamps.collect() }
    }
}

/// What a thread does with a log: at a time, with units, of a stamp.
#[expect(missing_docs, reason = "as said")]
#[derive(Clone, Copy, Debug)]
pub enum LogOp {
    /// Asks for units.
    Take { now: u64, cost: u64 },
    /// Asks what a `Take` would be answered.
    Look { now: u64, cost: u64 },
    /// Takes units whether they fit or not.
    Charge { now: u64, units: u64 },
    /// Gives back units of a time, or the newest.
    GiveBack { now: u64, stamp: Option<u64>, units: u64 },
    /// Forgets all units.
    Reset { now: u64 },
    /// Kills the log if nothing counts.
    DieIfIdle { now: u64 },
}

/// What it is answered.
#[expect(missing_docs, reason = "as they are called")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogOut {
    Taken { stamp: u64, live: u64 },
    Found { live: u64, wait: u64, reset_after: u64 },
    Done,
    Died(bool),
    Dead,
}

impl From<Answer> for LogOut {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Taken { stamp_ns: stamp, live } => Self::Taken { stamp, live },
            Answer::Found { live, wait_ns: wait, reset_after_ns: reset_after } => {
                Self::Found { live, wait, reset_after }
            }
        }
    }
}
