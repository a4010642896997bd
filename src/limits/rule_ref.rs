//! One rule of many, to be looked at.

use core::time::Duration;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use crate::clock::Clock;
use crate::decision::Decision;
use crate::error::BuildError;
use crate::limits::Limits;
use crate::limits::counts::Counts;
use crate::limits::current::Current;
use crate::limits::events;
use crate::limits::gate::Asked;
use crate::limits::ready::Ready;
use crate::quota::Quota;
use crate::time::duration_ns;

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

    pub(super) const fn ready(&self) -> &'a Arc<Ready<R>> {
        &self.limits.rules[self.index]
    }

    pub(super) const fn limits(&self) -> &'a Limits<R, C> {
        self.limits
    }

    pub(super) fn current(&self) -> Current {
        self.limits.plans.load()[self.index].clone()
    }

    /// The rule's name.
    pub fn name(&self) -> &'a str {
        &self.ready().name
    }

    /// The quota of now.
    pub fn quota(&self) -> Quota {
        self.limits.plans.load()[self.index].plan.quota()
    }

    /// [`set_quota`](Self::set_quota) at a time of your own.
    ///
    /// # Errors
    /// As [`set_quota`](Self::set_quota).
    pub fn set_quota_at(&self, quota: Quota, now_ns: u64) -> Result<(), BuildError> {
        let ready = self.ready();
        let _turn = ready.generation.turn();
        self.change(|current| {
            if quota == current.plan.quota() {
                return Ok(None);
            }
            let changed = current.change(&*ready.gate, &ready.generation, quota, now_ns)?;
            Ok(Some((changed, (current.plan.quota(), quota))))
        })
        .map(|changed| {
            if let Some((old, new)) = changed {
                events::requoted(self.name(), old, new);
            }
        })
    }

    /// Whether the rule counts only, as a [shadow](crate::Rule::shadow), or refuses, from now on. What its keys have used counts on.
    ///
    /// A shadow is charged last, and with what it has room for only, so one that begins to refuse finds nobody in debt.
    pub fn set_shadow(&self, is_shadow: bool) {
        let changed = self.change(|current| {
            let is_change = current.is_shadow != is_shadow;
            Ok::<_, Infallible>(is_change.then(|| (current.as_shadow(is_shadow), ())))
        });
        if let Ok(Some(())) = changed {
            events::shadowed(self.name(), is_shadow);
        }
    }

    /// Whether the rule counts only.
    pub fn is_shadow(&self) -> bool {
        self.limits.plans.load()[self.index].is_shadow
    }

    /// Puts another in the place of what is current, if there is another. Again, if a rule was changed meanwhile.
    fn change<T, E>(
        &self,
        mut to: impl FnMut(&Current) -> Result<Option<(Current, T)>, E>,
    ) -> Result<Option<T>, E> {
        loop {
            let plans = self.limits.plans.load_full();
            let Some((changed, told)) = to(&plans[self.index])? else { return Ok(None) };
            let mut next = Vec::clone(&plans);
            next[self.index] = changed;
            let found = self.limits.plans.compare_and_swap(&plans, Arc::new(next));
            if Arc::ptr_eq(&found, &plans) {
                return Ok(Some(told));
            }
        }
    }

    /// Where the key of a request stands in this rule, at a time of your own: see its `remaining` and `reset_after`. `None` where the
    /// rule does not apply. Nothing is charged.
    pub fn peek_at(&self, request: &R, now_ns: u64) -> Option<Decision> {
        let plan = &self.limits.plans.load()[self.index].plan;
        self.ready().gate_for(request)?.look(&Asked { request, plan, cost: 0, now_ns })
    }

    /// What the rule has answered so far; `None` unless the limits were built with
    /// [`counters`](crate::LimitsBuilder::counters).
    pub fn counts(&self) -> Option<Counts> {
        self.limits.counters.as_ref().map(|counters| counters.of(self.index))
    }

    /// Whose counts, and whose keys: those that take their place begin at zero.
    #[cfg(feature = "metrics")]
    pub(crate) fn identities(&self) -> [Option<Arc<()>>; 2] {
        let counters = self.limits.counters.as_ref().map(|counters| counters.identity.clone());
        [counters, Some(self.ready().identity.clone())]
    }

    /// New keys that met the [`Overflow`](crate::Overflow) policy since the limits were built. When it grows, the rule's capacity
    /// is too small.
    pub fn overflowed(&self) -> u64 {
        self.ready().gate.room().overflowed
    }

    /// Idle keys that made room for others, since the rule was built.
    pub fn reclaimed(&self) -> u64 {
        self.ready().gate.room().reclaimed
    }

    /// Keys that are not idle, at a time of your own.
    ///
    /// # Cost
    /// Reads the whole store. For a gauge, not for a decision.
    pub fn len_at(&self, now_ns: u64) -> usize {
        self.ready().gate.len(&self.limits.plans.load()[self.index].rated, now_ns)
    }
}

impl<R: ?Sized, C: Clock> RuleRef<'_, R, C> {
    /// Another quota from now on, for all keys. Checks go on meanwhile, each under one quota or the other.
    ///
    /// Every key keeps the fraction of its burst that it has used, so nobody gets a fresh burst, and who is out of units gets the next
    /// one at the new rate. Windows and logs keep the units that they have counted.
    ///
    /// ```
    /// use tollgate::{Limits, Quota, Rule};
    /// let limits = Limits::builder().rule(Rule::<()>::global("all", Quota::per_minute(60))).build()?;
    /// limits.rule("all").unwrap().set_quota(Quota::per_minute(600))?;
    /// assert_eq!(limits.check_at(&(), 0).remaining(), 599);
    /// # Ok::<(), tollgate::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// When the quota is refused, or a word cannot say the level of a key under both quotas: windows must keep their length, and
    /// a rule that was built without a limit counts nothing. The rule then stays as it is.
    ///
    /// # Cost
    /// Allocates, and copies the list of quotas. Checks do not wait. After a change by which a full burst takes another time to come back
    /// a check of the rule takes a few nanoseconds more, and a table keeps idle keys for about two bursts longer.
    pub fn set_quota(&self, quota: Quota) -> Result<(), BuildError> {
        self.set_quota_at(quota, self.limits.clock().now_ns())
    }

    /// Takes `units` of a request's key whether they fit or not: for what should not have been, such as a wrong password. The key
    /// may be left in debt, and then waits until that has come back; what goes beyond the rule's
    /// [`max_debt`](crate::Rule::max_debt) is not taken. Says whether one unit would be allowed now, and if not, when; `None` where
    /// the rule does not apply.
    ///
    /// A window owes nothing to the next one, so there its end is the longest wait.
    pub fn penalize(&self, request: &R, units: u64) -> Option<Decision> {
        self.penalize_by(request, units, self.limits.clock().now_ns())
    }

    /// [`penalize`](Self::penalize) at a time of your own.
    pub fn penalize_at(&self, request: &R, units: u64, now_ns: u64) -> Option<Decision> {
        self.limits.time.latest_ns.raise(now_ns);
        self.penalize_by(request, units, now_ns)
    }

    fn penalize_by(&self, request: &R, units: u64, now_ns: u64) -> Option<Decision> {
        let plan = &self.limits.plans.load()[self.index].plan;
        let ready = self.ready();
        let period = || plan.quota().rate().map_or(Duration::ZERO, |rate| rate.period());
        let max_debt = ready.max_debt.unwrap_or_else(period);
        ready
            .gate_for(request)?
            .penalize(&Asked { request, plan, cost: units, now_ns }, duration_ns(max_debt))
    }

    /// [`peek_at`](Self::peek_at) the clock's time.
    pub fn peek(&self, request: &R) -> Option<Decision> {
        self.peek_at(request, self.limits.clock().now_ns())
    }
}
