//! One check: look at every rule, and then charge every rule or none.

use crate::clock::Clock;
use crate::decision::Decision;
use crate::limiter::Plan;
use crate::limits::Limits;
use crate::limits::gate::Asked;
use crate::limits::outcome::Tally;
use crate::limits::rule::Ready;

/// One request at one time, under the quotas of its start.
pub(super) struct Call<'a, R: ?Sized, C> {
    pub(super) limits: &'a Limits<R, C>,
    pub(super) plans: &'a [Plan],
    pub(super) request: &'a R,
    pub(super) now_ns: u64,
}

impl<R: ?Sized, C: Clock> Call<'_, R, C> {
    fn rule(&self, index: usize) -> (&Ready<R>, Asked<'_, R>) {
        let Self { plans, request, now_ns, .. } = *self;
        let rule = &self.limits.rules[index];
        (rule, Asked { request, plan: &plans[index], cost: rule.cost(request), now_ns })
    }

    /// The rules, each with its index, that enforce or that do not.
    fn rules(&self, is_shadow: bool) -> impl Iterator<Item = usize> {
        let rules = self.limits.rules.iter().enumerate();
        rules.filter(move |(_, rule)| rule.is_shadow == is_shadow).map(|(index, _)| index)
    }

    /// What the rules would answer, and the last of them that applies. Nothing is charged.
    pub(super) fn look(&self) -> (Tally, Option<usize>) {
        let (mut tally, mut last) = (Tally::default(), None);
        for index in self.rules(false) {
            let (rule, asked) = self.rule(index);
            let Some(decision) = rule.gate.look(&asked) else { continue };
            last = Some(index);
            tally.add(index, decision);
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

    /// Charges the rules from one index to another: all, or none. The units of each are held, on the stack, until those after
    /// it have answered.
    ///
    /// All calls charge in one order. Who is refused for units that are on their way back is therefore refused by a call
    /// that went further, and of those that race for the last units somebody gets on.
    fn charge_from(&self, index: usize, last: usize, tally: &mut Tally) -> bool {
        let (rule, asked) = self.rule(index);
        if index == last {
            return Self::note(index, rule.gate.take(&asked), tally);
        }
        let mut is_through = None;
        let mut go_on = || *is_through.insert(self.charge_from(index + 1, last, tally));
        let held = if rule.is_shadow { None } else { rule.gate.hold(&asked, &|| self.back_ns(), &mut go_on) };
        let is_allowed = Self::note(index, held, tally);
        // Without an answer those after it have not been asked.
        is_allowed && is_through.unwrap_or_else(|| self.charge_from(index + 1, last, tally))
    }

    /// Notes what a rule has answered, if it applies, and says whether to go on.
    fn note(index: usize, decision: Option<Decision>, tally: &mut Tally) -> bool {
        decision.is_none_or(|decision| {
            tally.add(index, decision);
            decision.is_allowed()
        })
    }

    fn charge_shadows(&self) {
        for index in self.rules(true) {
            let (rule, asked) = self.rule(index);
            let _ = rule.gate.take(&asked);
        }
    }

    /// A time no earlier than that of any call whose charge has been seen.
    fn back_ns(&self) -> u64 {
        let Limits { clock, latest_ns, .. } = self.limits;
        self.now_ns.max(latest_ns.get()).max(clock.now_ns())
    }
}
