//! What every face does with a plan, a time and a store.

mod batch;
mod grant;
mod held;
mod hold;
mod logged;

pub(crate) use grant::{Grant, Wish};
pub(crate) use held::Taken;

use std::hash::{BuildHasher, Hash};

use crate::algorithm::{Algorithm, Meter, Reserved, each};
use crate::cell::{Apart, HighMark, Returns};
use crate::clock::Clock;
use crate::decision::Decision;
use crate::error::BuildError;
use crate::limiter::plan::{Kind, Plan};
use crate::log;
use crate::quota::Quota;
use crate::store::{Found, Life, Lookup, Map, NoRoom, Store, Turn};
use crate::time::Now;

/// The parts of a limiter besides its store.
#[derive(Debug)]
pub(crate) struct Core<C> {
    plan: Plan,
    ahead: Apart<Ahead>,
    returns: Returns,
    clock: C,
}

/// What explains a word that is further ahead than a full burst of the quota that reads it. A word that this does not
/// explain shows that the clock stepped back.
#[derive(Debug)]
struct Ahead {
    /// The longest time in which a full burst of any plan comes back; 0 while there is only the limiter's own.
    span_ns: HighMark,
    /// The highest word ever put with units that were still to come. Time passes it, and it explains nothing more.
    debt: HighMark,
}

impl<C> Core<C> {
    pub(crate) fn new(plan: Plan, clock: C, many_keys: bool) -> Self {
        let ahead = Apart(Ahead { span_ns: HighMark::new(0), debt: HighMark::new(0) });
        Self { plan, ahead, returns: Returns::new(many_keys), clock }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// `plan`, or the limiter's own when that is a plan of another limiter, whose words mean something else.
    #[inline]
    pub(crate) fn own<'a>(&'a self, plan: &'a Plan) -> &'a Plan {
        if plan.is_sibling(&self.plan) { plan } else { &self.plan }
    }

    pub(crate) fn clock(&self) -> &C {
        &self.clock
    }

    /// Another quota for the same words.
    pub(crate) fn derive(&self, quota: Quota) -> Result<Plan, BuildError> {
        let plan = self.plan.derive(quota)?;
        self.expect(&plan);
        Ok(plan)
    }

    /// Words of another plan may be found from now on.
    pub(crate) fn expect(&self, plan: &Plan) {
        for kind in [&self.plan.kind, &plan.kind] {
            if let Kind::Metered(meter) = kind {
                self.ahead.span_ns.raise(meter.span_ns());
            }
        }
    }

    /// The time at which to decide on a word that was found. Not before: whoever put it far ahead has said so first.
    #[inline]
    fn among(&self, now: Now) -> Now {
        now.among(self.ahead.span_ns.get(), self.ahead.debt.get())
    }

    /// The units of `put` may be still to come. Called before the word is put, so that whoever finds it knows.
    fn allow_debt(&self, put: Reserved) {
        if put.wait_ns > 0 {
            self.ahead.debt.raise(put.word);
        }
    }

    // Always: a few dozen instructions.
    #[inline(always)]
    pub(crate) fn decide<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        plan: &Plan,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        self.decide_hinted(store, key, store.hint(key), plan, now_ns, cost)
    }

    #[inline(always)]
    fn decide_hinted<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        hint: S::Hint,
        plan: &Plan,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        self.decide_at_once(store, hint, plan, now_ns, cost)
            .unwrap_or_else(|| self.decide_otherwise(store, key, hint, plan, now_ns, cost))
    }

    /// The usual case: the default algorithm, and a key that is known. It is compiled into the caller, and what the caller does
    /// not ask of the decision is not computed.
    #[inline(always)]
    fn decide_at_once<S: Store>(
        &self,
        store: &S,
        hint: S::Hint,
        plan: &Plan,
        now_ns: u64,
        cost: u64,
    ) -> Option<Decision> {
        match &plan.kind {
            Kind::Metered(Meter::Arrival(arrival)) if cost > 0 => {
                self.decide_known(arrival, store, hint, now_ns, cost)
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn decide_otherwise<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        hint: S::Hint,
        plan: &Plan,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        match &plan.kind {
            // Not found at once, or somebody else was at it.
            Kind::Metered(Meter::Arrival(arrival)) if cost > 0 => {
                self.decide_beyond(arrival, store, key, hint, now_ns, cost)
            }
            Kind::Metered(meter) if cost > 0 => each!(meter, algorithm => {
                self.decide_known(algorithm, store, hint, now_ns, cost)
                    .unwrap_or_else(|| self.decide_beyond(algorithm, store, key, hint, now_ns, cost))
            }),
            Kind::Logged(span) => Self::decide_logged(store, key, *span, now_ns, cost),
            _ => self.peek(store, key, plan, now_ns, cost),
        }
    }

    /// The decision on a key that is where it is looked for first, if nobody else is at it.
    #[inline(always)]
    fn decide_known<S: Store, A: Algorithm>(
        &self,
        algorithm: &A,
        store: &S,
        hint: S::Hint,
        now_ns: u64,
        cost: u64,
    ) -> Option<Decision> {
        let found = store.find(hint)?;
        let step = algorithm.decide(found.word(), self.among(Now::at(now_ns)), cost);
        let is_done = if step.decision.is_allowed() { found.put(step.word) } else { found.is_still_there() };
        is_done.then_some(step.decision)
    }

    /// The decision on any key.
    #[inline(never)]
    fn decide_beyond<Q: ?Sized, S: Lookup<Q>, A: Algorithm>(
        &self,
        algorithm: &A,
        store: &S,
        key: &Q,
        hint: S::Hint,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        let now = Now::at(now_ns);
        let life = life(algorithm, now);
        // Left here rather than handed through the store: it is six words long. The store calls at least once.
        let mut decision = Decision::never_fits(0, 0, 0);
        let stored = store.decide(key, hint, life, |word, floor| {
            let step = algorithm.decide(word, newcomer(algorithm, self.among(now), life, floor), cost);
            decision = step.decision;
            if step.decision.is_allowed() { Turn::Put(step.word, ()) } else { Turn::Keep(()) }
        });
        match stored {
            Ok(()) => decision,
            Err(NoRoom::Allow) => algorithm.decide(life.fresh, now, cost).decision,
            Err(NoRoom::Deny) => no_room(algorithm, life, now, cost),
        }
    }

    /// What `decide` would answer. Nothing changes.
    pub(crate) fn peek<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        plan: &Plan,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        let meter = match &plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return Self::peek_logged(store, key, *span, now_ns, cost),
            Kind::Unlimited => return Decision::allowed(cost, u64::MAX, u64::MAX, 0),
            Kind::Blocked if cost == 0 => return Decision::allowed(0, 0, 0, 0),
            Kind::Blocked => return Decision::never_fits(0, 0, 0),
        };
        let now = Now::at(now_ns);
        let life = life(meter, now);
        store.peek(key, life, |word, floor| {
            meter.decide(word, newcomer(meter, self.among(now), life, floor), cost).decision
        })
    }

    /// Makes a key as good as new.
    pub(crate) fn reset<Q: ?Sized, S: Lookup<Q>>(&self, store: &S, key: &Q, now_ns: u64) {
        let meter = match &self.plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return self.reset_logged(store, key, *span, now_ns),
            Kind::Unlimited | Kind::Blocked => return,
        };
        let (life, hash) = (life(meter, Now::at(now_ns)), store.hash(key));
        let _turn = self.returns.turn(hash);
        store.visit(key, |word| {
            if life.is_idle(word) {
                return Turn::Keep(());
            }
            self.returns.reset(hash);
            Turn::Put(life.fresh, ())
        });
    }

    /// Keys that are not idle at a time.
    pub(crate) fn len<S: Store>(&self, store: &S, plan: &Plan, now_ns: u64) -> usize {
        match &plan.kind {
            Kind::Metered(meter) => store.len(life(meter, Now::at(now_ns))),
            Kind::Logged(span) => logged::count(store, *span, now_ns),
            Kind::Unlimited | Kind::Blocked => 0,
        }
    }

    /// Forgets the keys that are idle at a time.
    pub(crate) fn evict_idle<K, H>(&self, map: &Map<K, H>, now_ns: u64) -> usize
    where
        K: Hash + Ord + Clone + Send + Sync + 'static,
        H: BuildHasher,
    {
        match &self.plan.kind {
            Kind::Metered(meter) => map.evict_idle(life(meter, Now::at(now_ns))),
            Kind::Logged(span) => {
                let (guard, now_ns) = (log::pin(), Now::at(now_ns).ns());
                map.evict_idle_logs(|log, floor| {
                    log.die_if_idle(&guard, *span, now_ns, || floor.raise(now_ns))
                })
            }
            Kind::Unlimited | Kind::Blocked => 0,
        }
    }
}

impl<C: Clock> Core<C> {
    /// [`decide`](Self::decide) by the clock, whose reading takes as long as a cache line takes to come.
    #[inline(always)]
    pub(crate) fn decide_now<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        plan: &Plan,
        cost: u64,
    ) -> Decision {
        let hint = store.hint(key);
        store.prefetch(hint);
        self.decide_hinted(store, key, hint, plan, self.now_ns(), cost)
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}

/// The refusal of a key for which the store has no room: to come back when what it asks for would have been forgotten.
#[cold]
fn no_room(algorithm: &(impl Algorithm + ?Sized), life: Life, now: Now, cost: u64) -> Decision {
    let fresh = algorithm.decide(life.fresh, now, cost).decision;
    if !fresh.is_allowed() {
        return fresh;
    }
    let wait_ns = crate::time::duration_ns(fresh.reset_after());
    Decision::denied(fresh.limit(), 0, wait_ns, wait_ns)
}

#[inline]
fn life(algorithm: &(impl Algorithm + ?Sized), now: Now) -> Life {
    Life { fresh: algorithm.fresh(now), lead: algorithm.lead() }
}

/// The time to decide at: a newcomer that starts at the store's floor is not early for it.
#[inline]
fn newcomer(algorithm: &(impl Algorithm + ?Sized), now: Now, life: Life, floor: u64) -> Now {
    if floor > life.fresh { at_floor(algorithm, now, floor) } else { now }
}

/// Out of line: only when another thread's clock is ahead.
#[cold]
fn at_floor(algorithm: &(impl Algorithm + ?Sized), now: Now, floor: u64) -> Now {
    now.no_earlier_than(algorithm.opening_ns(floor))
}

/// Puts a word only if something changes.
fn lower(word: u64, next: u64) -> Turn<()> {
    if next == word { Turn::Keep(()) } else { Turn::Put(next, ()) }
}
