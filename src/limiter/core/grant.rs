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

/// What a lease asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// Of the call, above what is in hand.
    pub(crate) cost: u64,
    pub(crate) held: u64,
    /// To have in hand afterwards; fewer when little is left.
    pub(crate) extra: u64,
}

impl Wish {
    /// What must fit.
    pub(super) const fn need(self) -> u64 {
        self.cost - self.held
    }
}

impl<C> Core<C> {
    /// Takes the units that are wished for if those that are needed fit: in one step, or for a log in two.
    pub(crate) fn grant<S: Store>(
        &self,
        store: &S,
        token: &S::Token,
        hash: u64,
        plan: &Plan,
        now_ns: u64,
        wish: Wish,
    ) -> Result<Grant, Decision> {
        let Wish { cost, extra, .. } = wish;
        let need = wish.need();
        let untaken = |decision| Grant { units: need, decision, taken: None };
        let meter = match &plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return self.grant_logged(store, token, hash, *span, now_ns, wish),
            Kind::Unlimited => return Ok(untaken(Decision::allowed(need, u64::MAX, u64::MAX, 0))),
            Kind::Blocked => return Err(Decision::never_fits(0, 0, 0)),
        };
        let now = Now::at(now_ns);
        let life = life(meter, now);
        let answer = store.decide_token(token, life, |word, floor| {
            let now = newcomer(meter, self.among(now), life, floor);
            let least = meter.decide(word, now, need);
            if cost > least.decision.limit() {
                // What is in hand does not make it fit.
                return Turn::Keep(Err(meter.decide(word, now, cost).decision));
            }
            if least.decision.is_denied() {
                return Turn::Keep(Err(least.decision));
            }
            let units = need + share(extra, least.decision.remaining());
            let more = meter.decide(word, now, units);
            let (units, step) = if more.decision.is_allowed() { (units, more) } else { (need, least) };
            let taken = self.taken(meter, hash, word, step.word, now);
            Turn::Put(step.word, Ok(Grant { units, decision: step.decision, taken: Some(taken) }))
        });
        match answer {
            Ok(answer) => {
                answer.map(|grant| Grant { taken: grant.taken.map(|taken| self.confirmed(taken)), ..grant })
            }
            Err(NoRoom::Allow) => match meter.decide(life.fresh, now, cost).decision {
                allowed if allowed.is_allowed() => Ok(untaken(allowed)),
                refusal => Err(refusal),
            },
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
        let found = store.decide_token(token, life, |word, floor| {
            Turn::Keep(meter.decide(word, newcomer(meter, self.among(now), life, floor), 0).decision)
        });
        found.unwrap_or_else(|_: NoRoom| meter.decide(life.fresh, now, 0).decision)
    }
}

/// How many more units to take of those that are left.
pub(super) fn share(extra: u64, left: u64) -> u64 {
    extra.min(left / SHARE)
}
