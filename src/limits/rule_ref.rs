//! One rule of many, to be looked at.

use std::fmt;

use crate::clock::Clock;
use crate::decision::Decision;
use crate::limits::Limits;
use crate::limits::gate::Asked;
use crate::limits::rule::Ready;
use crate::quota::Quota;

/// One rule of [`Limits`], got by [`Limits::rule`] or [`Limits::rules`].
pub struct RuleRef<'a, R: ?Sized, C> {
    limits: &'a Limits<R, C>,
    index: usize,
}

impl<R: ?Sized, C> fmt::Debug for RuleRef<'_, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleRef").field("name", &self.name()).field("quota", &self.quota()).finish()
    }
}

impl<'a, R: ?Sized, C> RuleRef<'a, R, C> {
    pub(super) const fn new(limits: &'a Limits<R, C>, index: usize) -> Self {
        Self { limits, index }
    }

    const fn ready(&self) -> &'a Ready<R> {
        &self.limits.rules[self.index]
    }

    /// The rule's name.
    pub const fn name(&self) -> &'a str {
        &self.ready().name
    }

    /// The quota of now.
    pub fn quota(&self) -> Quota {
        self.limits.plans.load()[self.index].quota()
    }

    /// Where the key of a request stands in this rule, at a time of your own: see its `remaining` and `reset_after`. `None` where the
    /// rule does not apply. Nothing is charged.
    pub fn peek_at(&self, request: &R, now_ns: u64) -> Option<Decision> {
        let plan = &self.limits.plans.load()[self.index];
        self.ready().gate.look(&Asked { request, plan, cost: 0, now_ns })
    }

    /// Keys that are not idle, at a time of your own.
    ///
    /// # Cost
    /// Reads the whole store. For a gauge, not for a decision.
    pub fn len_at(&self, now_ns: u64) -> usize {
        self.ready().gate.len(now_ns)
    }
}

impl<R: ?Sized, C: Clock> RuleRef<'_, R, C> {
    /// [`peek_at`](Self::peek_at) the clock's time.
    pub fn peek(&self, request: &R) -> Option<Decision> {
        self.peek_at(request, self.limits.clock.now_ns())
    }
}
