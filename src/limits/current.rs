//! The quota of now of one rule.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cell::HighMark;
use crate::error::BuildError;
use crate::limiter::Plan;
use crate::limits::gate::Gate;
use crate::quota::Quota;

/// The plan by which a rule decides, and the last one with a rate, by which its words are read after it was blocked or
/// unlimited for a while.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) plan: Plan,
    pub(super) rated: Plan,
    /// It counts, and does not refuse.
    pub(super) is_shadow: bool,
    /// Which of the rule's quotas this is.
    generation: u64,
}

/// Which quota the keys of a rule are charged by: limits that took a rule over have plans of their own, and the same keys.
#[derive(Debug)]
pub(super) struct Generation {
    latest: HighMark,
    turn: Mutex<()>,
}

impl Generation {
    pub(super) fn new() -> Self {
        Self { latest: HighMark::new(0), turn: Mutex::new(()) }
    }

    /// Held by whoever changes the quota.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that could be left half done.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    pub(super) fn new(plan: Plan, is_shadow: bool) -> Self {
        Self { rated: plan.clone(), plan, is_shadow, generation: 0 }
    }

    /// Whether no key can have been charged by a quota after this one. To be asked once a word was found: whoever charges by a later quota has seen
    /// the mark raised.
    pub(super) fn is_latest(&self, generation: &Generation) -> bool {
        self.generation == generation.latest.get()
    }

    pub(super) fn as_shadow(&self, is_shadow: bool) -> Self {
        Self { is_shadow, ..self.clone() }
    }

    /// After a change at a time, by whoever has the turn.
    pub(super) fn change<R: ?Sized>(
        &self,
        gate: &dyn Gate<R>,
        generation: &Generation,
        quota: Quota,
        now_ns: u64,
    ) -> Result<Self, BuildError> {
        let plan = gate.change(&self.rated, quota, now_ns)?;
        let rated = if quota.rate().is_some() { plan.clone() } else { self.rated.clone() };
        // Before anybody can charge by the new quota.
        let next = generation.latest.get() + 1;
        generation.latest.raise(next);
        Ok(Self { plan, rated, generation: next, ..*self })
    }
}
