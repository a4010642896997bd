//! One check: look at every rule, and then charge every rule or none.

use std::sync::Arc;

use arc_swap::Guard;

use crate::clock::Clock;
use crate::decision::Decision;
use crate::limits::counts::Event;
use crate::limits::current::Current;
use crate::limits::gate::Asked;
use crate::limits::outcome::Tally;
use crate::limits::ready::Ready;
use crate::limits::{Limits, TimeLine};

/// One request at one time, under the quotas of its start.
pub(super) struct Call<'a, R: ?Sized, C> {
    pub(super) limits: &'a Limits<R, C>,
    pub(super) plans: &'a Guard<Arc<Vec<Current>>>,
    /// Nothing is charged, and nothing counted.
    pub(super) is_peek: bool,
    pub(super) request: &'a R,
    pub(super) now_ns: u64,
}

impl<R: ?Sized, C: Clock> Call<'_, R, C> {
    fn rule(&self, index: usize) -> (&Ready<R>, Asked<'_, R>) {
        let Self { plans, request, now_ns, .. } = *self;
        let rule = &self.limits.rules[index];
        (rule, Asked { request, plan: &plans[index].plan, cost: rule.cost(request), now_ns })
    }

    /// The rules, each with its index, that enforce or that do not.
    fn rules(&self, is_shadow: bool) -> impl Iterator<Item = usize> {
        let rules = self.plans.iter().enumerate();
        rules.filter(move |(_, current)| current.is_shadow == is_shadow).map(|(index, _)| index)
    }

    /// What the rules would answer, and the last of them that applies. Nothing is charged.
    pub(super) fn look(&self) -> (Tally, Option<usize>) {
        let (mut tally, mut last) = (Tally::default(), None);
        for index in self.rules(false) {
            let (rule, asked) = self.rule(index);
            let Some(decision) = rule.gate_for(self.request).and_then(|gate| gate.look(&asked)) else {
                continue;
            };
            last = Some(index);
            // What allows is asked again when it is charged.
            if self.is_peek || decision.is_denied() {
                self.note(index, Some(decision), &mut tally);
            }
            if decision.is_denied() && self.limits.stops_at_first {
                break;
            }
        }
        (tally, last)
    }

    /// Charges all rules up to the last that applies, or none, and then those that never refuse.
    pub(super) fn charge(&self, last: Option<usize>) -> Tally {
        let mut tally = Tally::default();
        if last.is_none_or(|last| self.charge_from(0, last, &mut tally)) {
            self.charge_shadows();
        }
        tally
    }

    /// Charges the rules from one index to another: all, or none. The units of each that applies are held, on the stack, until those after
    /// it have answered.
    ///
    /// All calls charge in one order. Who is refused for units that are on their way back is therefore refused by a call
    /// that went further, and of those that race for the last units somebody gets on.
    fn charge_from(&self, first: usize, last: usize, tally: &mut Tally) -> bool {
        for index in first..last {
            if self.plans[index].is_shadow {
                continue;
            }
            let (rule, asked) = self.rule(index);
            let mut is_through = None;
            let mut go_on = || *is_through.insert(self.charge_from(index + 1, last, tally));
            let gate = rule.gate_for(self.request);
            let answer = gate.and_then(|gate| gate.hold(&asked, &|| self.back_ns(index), &mut go_on));
            if !self.note(index, answer, tally) {
                return false;
            }
            // Only who holds units has asked those after it.
            if let Some(is_through) = is_through {
                return self.passed(index, answer, is_through);
            }
            if answer.is_some() {
                return self.passed(index, answer, self.charge_from(index + 1, last, tally));
            }
        }
        let (rule, asked) = self.rule(last);
        let answer = rule.gate_for(self.request).and_then(|gate| gate.take(&asked));
        let is_allowed = self.note(last, answer, tally);
        self.passed(last, answer, is_allowed)
    }

    /// Counts a rule that applies and allowed, if all others did too.
    fn passed(&self, index: usize, answer: Option<Decision>, is_through: bool) -> bool {
        if is_through && answer.is_some() {
            self.count(index, Event::Allowed);
        }
        is_through
    }

    /// Notes what a rule has answered, if it applies, and says whether to go on.
    fn note(&self, index: usize, answer: Option<Decision>, tally: &mut Tally) -> bool {
        let Some(decision) = answer else { return true };
        tally.add(index, decision);
        if decision.is_denied() {
            self.count(index, Event::Denied);
            self.watch(index);
        }
        decision.is_allowed()
    }

    fn charge_shadows(&self) {
        for index in self.rules(true) {
            let (rule, asked) = self.rule(index);
            if let Some(decision) = rule.gate_for(self.request).and_then(|gate| gate.take(&asked)) {
                if decision.is_allowed() {
                    self.count(index, Event::Allowed);
                } else {
                    self.count(index, Event::ShadowDenied);
                    self.watch(index);
                }
            }
        }
    }

    fn watch(&self, index: usize) {
        if let Some(watch) = &self.limits.rules[index].watch
            && !self.is_peek
        {
            watch(self.request);
        }
    }

    fn count(&self, index: usize, event: Event) {
        if let Some(counters) = &self.limits.counters
            && !self.is_peek
        {
            counters.add(index, event);
        }
    }

    /// A time no earlier than that of any call whose charge has been seen. For ever, which gives nothing back, once the rule's quota
    /// has changed: the charge may be one of the new quota, whose words mean something else.
    fn back_ns(&self, index: usize) -> u64 {
        if !self.plans[index].is_latest(&self.limits.rules[index].generation) {
            return u64::MAX;
        }
        let TimeLine { clock, latest_ns } = &*self.limits.time;
        self.now_ns.max(latest_ns.get()).max(clock.now_ns())
    }
}
