//! Units that are held for a moment, while other limiters are asked.

use crate::algorithm::{Algorithm, each};
use crate::decision::Decision;
use crate::limiter::core::{Core, Grant, Wish};
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
        let glanced = match &plan.kind {
            Kind::Metered(meter) => {
                each!(meter, a => self.glance_by(a, store, store.hint(key), now_ns, cost))
            }
            _ => None,
        };
        glanced.unwrap_or_else(|| self.peek(store, key, plan, now_ns, cost))
    }

    #[inline(always)]
    fn glance_by<S: Store>(
        &self,
        algorithm: &impl Algorithm,
        store: &S,
        hint: S::Hint,
        now_ns: u64,
        cost: u64,
    ) -> Option<Decision> {
        loop {
            let found = store.find(hint)?;
            let decision = algorithm.decide(found.word(), self.among(Now::at(now_ns)), cost).decision;
            if found.is_still_there() {
                return Some(decision);
            }
        }
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
        let held = match &plan.kind {
            Kind::Metered(meter) => {
                each!(meter, a => self.hold_by(a, store, store.hint(key), hash, now_ns, units))
            }
            _ => None,
        };
        held.unwrap_or_else(|| {
            self.grant(store, key, hash, plan, now_ns, Wish { cost: units, held: 0, extra: 0 })
        })
    }

    #[inline(always)]
    fn hold_by<S: Store>(
        &self,
        algorithm: &impl Algorithm,
        store: &S,
        hint: S::Hint,
        hash: u64,
        now_ns: u64,
        units: u64,
    ) -> Option<Result<Grant, Decision>> {
        loop {
            let found = store.find(hint)?;
            let (word, now) = (found.word(), self.among(Now::at(now_ns)));
            let step = algorithm.decide(word, now, units);
            if step.decision.is_denied() {
                if found.is_still_there() {
                    return Some(Err(step.decision));
                }
                continue;
            }
            let taken = self.taken(algorithm, hash, word, step.word, now);
            if found.put(step.word) {
                let taken = Some(self.confirmed(taken));
                return Some(Ok(Grant { units, decision: step.decision, taken }));
            }
        }
    }
}
