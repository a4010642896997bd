//! Rules, checked once when they are put together.

use std::fmt;

use arc_swap::ArcSwap;

use crate::cell::{Apart, HighMark};
use crate::clock::DefaultClock;
use crate::error::BuildError;
use crate::limits::counts::Counters;
use crate::limits::rule::Ready;
use crate::limits::{Limits, Rule};

/// Settings of [`Limits`].
#[must_use = "nothing is limited until `build`"]
pub struct LimitsBuilder<R: ?Sized, C = DefaultClock> {
    rules: Vec<Rule<R>>,
    stops_at_first: bool,
    counts: bool,
    clock: C,
}

impl<R: ?Sized, C> fmt::Debug for LimitsBuilder<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitsBuilder").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl<R: ?Sized> LimitsBuilder<R> {
    pub(super) fn new() -> Self {
        Self { rules: Vec::new(), stops_at_first: false, counts: false, clock: DefaultClock::default() }
    }
}

impl<R: ?Sized, C> LimitsBuilder<R, C> {
    /// Adds a rule. They are charged in the order in which they are added: put those that many requests share last.
    pub fn rule(mut self, rule: Rule<R>) -> Self {
        self.rules.push(rule);
        self
    }

    /// The first rule that refuses answers, and those after it are not asked: for tiers, the most specific first. When nothing
    /// is said all are asked, and the longest wait answers.
    pub fn first_refusal_answers(mut self) -> Self {
        self.stops_at_first = true;
        self
    }

    /// Counts what each rule answers, for [`RuleRef::counts`](crate::RuleRef::counts). Costs each check an addition per rule that
    /// applies, where threads do not meet.
    pub fn counters(mut self) -> Self {
        self.counts = true;
        self
    }

    /// Where time comes from when it is not an argument.
    pub fn clock<D>(self, clock: D) -> LimitsBuilder<R, D> {
        let Self { rules, stops_at_first, counts, .. } = self;
        LimitsBuilder { rules, stops_at_first, counts, clock }
    }

    /// The limits.
    ///
    /// # Errors
    /// When a rule is refused, or two have one name; the error says which, and what to write instead.
    pub fn build(self) -> Result<Limits<R, C>, BuildError> {
        for (index, rule) in self.rules.iter().enumerate() {
            if self.rules[..index].iter().any(|former| former.name() == rule.name()) {
                return Err(BuildError::RuleNameTaken { name: rule.name().to_owned() });
            }
        }
        let rules = self.rules.into_iter().map(Rule::build).collect::<Result<Box<[Ready<R>]>, _>>()?;
        let plans = rules.iter().map(|rule| rule.gate.plan().clone()).collect();
        let counters = self.counts.then(|| Counters::new(rules.len()));
        Ok(Limits {
            rules,
            plans: ArcSwap::from_pointee(plans),
            latest_ns: Apart(HighMark::new(0)),
            stops_at_first: self.stops_at_first,
            counters,
            clock: self.clock,
        })
    }
}
