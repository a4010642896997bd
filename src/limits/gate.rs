//! A rule made ready: one limiter behind the function that finds its keys, with the types of both forgotten.

use std::hash::BuildHasher;

use crate::decision::Decision;
use crate::error::BuildError;
use crate::limiter::{Core, Plan};
use crate::quota::Quota;
use crate::store::{Lookup, Store, Table};

/// What a rule is asked.
pub(super) struct Asked<'a, R: ?Sized> {
    pub(super) request: &'a R,
    pub(super) plan: &'a Plan,
    pub(super) cost: u64,
    pub(super) now_ns: u64,
}

/// One rule, whatever its keys and store. Everything answers `None` where the rule does not apply.
pub(super) trait Gate<R: ?Sized>: Send + Sync {
    /// What `take` would answer. Nothing changes.
    fn look(&self, asked: &Asked<'_, R>) -> Option<Decision>;

    /// Takes the units, if they fit.
    fn take(&self, asked: &Asked<'_, R>) -> Option<Decision>;

    /// Takes the units, if they fit, and then gives them back unless `go_on` answers true. `back_ns` is a time no earlier
    /// than that of any call that was made meanwhile.
    fn hold(
        &self,
        asked: &Asked<'_, R>,
        back_ns: &dyn Fn() -> u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Decision>;

    /// Takes the units whether they fit or not, as many as owe no more than `max_debt_ns` beyond a full quota.
    fn penalize(&self, asked: &Asked<'_, R>, max_debt_ns: u64) -> Option<Decision>;

    /// The quota that the rule was built with.
    fn plan(&self) -> &Plan;

    /// Another quota for the same keys from a time on, after the last one that had a rate. Their level stays what it is.
    fn change(&self, rated: &Plan, quota: Quota, now_ns: u64) -> Result<Plan, BuildError>;

    /// Keys that are not idle at a time.
    fn len(&self, rated: &Plan, now_ns: u64) -> usize;

    /// How its keys have found room.
    fn room(&self) -> Room;
}

/// How the keys of a rule have found room, since it was built.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// New keys that met the overflow policy.
    pub(super) overflowed: u64,
    /// Idle keys that made room for others.
    pub(super) reclaimed: u64,
}

impl Room {
    pub(super) fn of(table: &Table<impl BuildHasher>) -> Self {
        Self { overflowed: table.overflowed(), reclaimed: table.reclaimed() }
    }
}

/// A rule over a store that finds keys by the key itself.
pub(super) struct Keyed<F, S> {
    pub(super) core: Core<()>,
    pub(super) store: S,
    pub(super) key: F,
    pub(super) room: fn(&S) -> Room,
}

impl<R, K, F, S> Gate<R> for Keyed<F, S>
where
    R: ?Sized,
    F: Fn(&R) -> Option<K> + Send + Sync,
    S: Store<Token = K> + Lookup<K> + Send + Sync,
{
    fn look(&self, asked: &Asked<'_, R>) -> Option<Decision> {
        let key = (self.key)(asked.request)?;
        Some(self.core.glance(&self.store, &key, asked.plan, asked.now_ns, asked.cost))
    }

    fn take(&self, asked: &Asked<'_, R>) -> Option<Decision> {
        let key = (self.key)(asked.request)?;
        Some(self.core.decide(&self.store, &key, asked.plan, asked.now_ns, asked.cost))
    }

    fn hold(
        &self,
        asked: &Asked<'_, R>,
        back_ns: &dyn Fn() -> u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Decision> {
        let key = (self.key)(asked.request)?;
        let Asked { plan, cost, now_ns, .. } = *asked;
        if cost == 0 {
            go_on();
            return Some(self.core.peek(&self.store, &key, plan, now_ns, 0));
        }
        let grant = match self.core.hold(&self.store, &key, plan, now_ns, cost) {
            Ok(grant) => grant,
            Err(refusal) => return Some(refusal),
        };
        if !go_on()
            && let Some(taken) = grant.taken
        {
            self.core.settle(&self.store, &key, plan, back_ns, cost, 0, taken, false);
        }
        Some(grant.decision)
    }

    fn penalize(&self, asked: &Asked<'_, R>, max_debt_ns: u64) -> Option<Decision> {
        let key = (self.key)(asked.request)?;
        let Asked { plan, cost, now_ns, .. } = *asked;
        self.core.penalize(&self.store, &key, plan, now_ns, cost, max_debt_ns);
        Some(self.core.peek(&self.store, &key, plan, now_ns, 1))
    }

    fn plan(&self) -> &Plan {
        self.core.plan()
    }

    fn change(&self, rated: &Plan, quota: Quota, now_ns: u64) -> Result<Plan, BuildError> {
        let plan = rated.carried(quota, now_ns)?;
        self.core.expect(&plan);
        Ok(plan)
    }

    fn len(&self, rated: &Plan, now_ns: u64) -> usize {
        self.core.len(&self.store, rated, now_ns)
    }

    fn room(&self) -> Room {
        (self.room)(&self.store)
    }
}
