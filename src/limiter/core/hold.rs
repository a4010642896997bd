//! Units that are held for a moment, while other limiters are asked.

use crate::algorithm::Algorithm;
use crate::decision::Decision;
use crate::limiter::core::{Core, Grant};
use crate::limiter::plan::{Kind, Plan};
use crate::store::{Found, Lookup, Store};
use crate::time::Now;

impl<C> Core<C> {
    /// [`peek`](Self::peek), faster for a key that is where it is looked for first.
    pub(crate) fn glance<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        plan: &Plan,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        if let Kind::Metered(meter) = &plan.kind {
            let hint = store.hint(key);
            while let Some(found) = store.find(hint) {
                let decision = meter.decide(found.word(), self.among(Now::at(now_ns)), cost).decision;
                if found.is_still_there() {
                    return decision;
                }
            }
        }
        self.peek(store, key, plan, now_ns, cost)
    }

    /// Takes units if they fit, with what to give them back by. They are not zero.
    pub(crate) fn hold<Q, S>(
        &self,
        store: &S,
        key: &Q,
        plan: &Plan,
        now_ns: u64,
        units: u64,
    ) -> Result<Grant, Decision>
    where
        S: Store<Token = Q> + Lookup<Q>,
    {
        let hash = store.hash(key);
        if let Kind::Metered(meter) = &plan.kind {
            let hint = store.hint(key);
            while let Some(found) = store.find(hint) {
                let (word, now) = (found.word(), self.among(Now::at(now_ns)));
                let step = meter.decide(word, now, units);
                if step.decision.is_allowed() {
                    let taken = Some(self.taken(meter, hash, word, step.word, now));
                    if found.put(step.word) {
                        return Ok(Grant { units, decision: step.decision, taken });
                    }
                } else if found.is_still_there() {
                    return Err(step.decision);
                }
            }
        }
        self.grant(store, key, hash, plan, now_ns, units, 0)
    }
}
