//! Units taken for a lease.

use crate::algorithm::Algorithm;
use crate::decision::Decision;
use crate::limiter::core::{Core, Taken, life, newcomer, no_room};
use crate::limiter::plan::{Kind, Plan};
use crate::store::{NoRoom, Store, Turn};
use crate::time::Now;

/// Of what is left, a lease takes a quarter at most: the rest is for other holders.
const SHARE: u64 = 4;

/// Units that a lease got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub(crate) units: u64,
    /// The decision on all of them.
    pub(crate) decision: Decision,
    /// What to give the rest back by; `None` where there is nothing to give back to.
    pub(crate) taken: Option<Taken>,
}

impl<C> Core<C> {
    /// Takes `need` units if they fit, and up to `extra` more, fewer when little is left: in one step, or for a log in two.
    /// `need` is not zero.
    #[expect(clippy::too_many_arguments, reason = "as a settlement, and one caller")]
    pub(crate) fn grant<S: Store>(
        &self,
        store: &S,
        token: &S::Token,
        hash: u64,
        plan: &Plan,
        now_ns: u64,
        need: u64,
        extra: u64,
    ) -> Result<Grant, Decision> {
        let untaken = |decision| Grant { units: need, decision, taken: None };
        let meter = match &plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return self.grant_logged(store, token, hash, *span, now_ns, need, extra),
            Kind::Unlimited => return Ok(untaken(Decision::allowed(need, u64::MAX, u64::MAX, 0))),
            Kind::Blocked => return Err(Decision::never_fits(0, 0, 0)),
        };
        let now = Now::at(now_ns);
        let life = life(meter, now);
        let answer = store.decide_token(token, life, |word, floor| {
            let now = newcomer(meter, self.among(now), life, floor);
            let least = meter.decide(word, now, need);
            if least.decision.is_denied() {
                return Turn::Keep(Err(least.decision));
            }
            let units = need + share(extra, least.decision.remaining());
            let step = if units > need { meter.decide(word, now, units) } else { least };
            let taken = self.taken(meter, hash, word, step.word, now);
            Turn::Put(step.word, Ok(Grant { units, decision: step.decision, taken: Some(taken) }))
        });
        match answer {
            Ok(answer) => answer,
            Err(NoRoom::Allow) => Ok(untaken(meter.decide(life.fresh, now, need).decision)),
            Err(NoRoom::Deny) => Err(no_room(meter, life, now, need)),
        }
    }

    /// Where a key stands, found by its token. Nothing is taken.
    pub(crate) fn look<S: Store>(&self, store: &S, token: &S::Token, plan: &Plan, now_ns: u64) -> Decision {
        let meter = match &plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return Self::look_logged(store, token, *span, now_ns),
            Kind::Unlimited => return Decision::allowed(0, u64::MAX, u64::MAX, 0),
            Kind::Blocked => return Decision::allowed(0, 0, 0, 0),
        };
        let now = Now::at(now_ns);
        let life = life(meter, now);
        let fresh = || meter.decide(life.fresh, now, 0).decision;
        let found =
            store.visit_token(token, |word| Turn::Keep(meter.decide(word, self.among(now), 0).decision));
        found.unwrap_or_else(fresh)
    }
}

/// How many more units to take of those that are left.
pub(super) fn share(extra: u64, left: u64) -> u64 {
    extra.min(left / SHARE)
}
