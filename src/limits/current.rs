//! The quota of now of one rule.

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
}

impl Current {
    pub(super) fn new(plan: Plan) -> Self {
        Self { rated: plan.clone(), plan }
    }

    /// After a change at a time.
    pub(super) fn change<R: ?Sized>(
        &self,
        gate: &dyn Gate<R>,
        quota: Quota,
        now_ns: u64,
    ) -> Result<Self, BuildError> {
        if quota == self.plan.quota() {
            return Ok(self.clone());
        }
        let plan = gate.change(&self.rated, quota, now_ns)?;
        let rated = if quota.rate().is_some() { plan.clone() } else { self.rated.clone() };
        Ok(Self { plan, rated })
    }
}
