//! Units that are taken now and accounted for later.

use crate::algorithm::{Algorithm, Meter};
use crate::cell::Mark;
use crate::decision::Decision;
use crate::limiter::Queue;
use crate::limiter::core::{Core, life, lower, newcomer, no_room};
use crate::limiter::plan::{Kind, Plan};
use crate::store::{Lookup, NoRoom, Store, Turn};
use crate::time::Now;

/// Units that were taken in advance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) wait_ns: u64,
    /// The word right after the charge, or the time in a log.
    pub(super) stamp: u64,
    /// What that word would have been had nothing been taken before: however much of that is given back, later units do not
    /// move up any further. The stamp itself where units do not move.
    pub(super) earliest: u64,
    /// What had been given back by then to keys of this hash.
    pub(super) mark: Mark,
    pub(super) hash: u64,
}

impl<C> Core<C> {
    /// Takes units whether they fit yet or not, as long as the line allows it. `None`: there is nothing to take them from.
    pub(crate) fn reserve<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        plan: &Plan,
        now_ns: u64,
        units: u64,
        queue: &Queue,
    ) -> Result<Option<Taken>, Decision> {
        let meter = match &plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return self.reserve_logged(store, key, *span, now_ns, units).map(Some),
            Kind::Blocked if units > 0 => return Err(Decision::never_fits(0, 0, 0)),
            Kind::Blocked | Kind::Unlimited => return Ok(None),
        };
        let hash = store.hash(key);
        if units == 0 {
            return Ok(Some(Taken {
                wait_ns: 0,
                stamp: 0,
                earliest: 0,
                mark: self.returns.mark(hash),
                hash,
            }));
        }
        let now = Now::at(now_ns);
        let (life, max_wait_ns) = (life(meter, now), queue.max_wait_ns(meter, plan.capacity()));
        let answer = store.decide(key, store.hint(key), life, |word, floor| {
            let now = newcomer(meter, self.among(now), life, floor);
            match meter.reserve(word, now, units) {
                Ok(reserved) if reserved.wait_ns > max_wait_ns => {
                    let refusal = meter.decide(word, now, units).decision;
                    Turn::Keep(Err(refusal.denied_for(reserved.wait_ns - max_wait_ns)))
                }
                Ok(reserved) => {
                    self.allow_debt(reserved);
                    let taken = self.taken(meter, hash, word, reserved.word, now);
                    Turn::Put(reserved.word, Ok(Taken { wait_ns: reserved.wait_ns, ..taken }))
                }
                Err(refusal) => Turn::Keep(Err(refusal)),
            }
        });
        match answer {
            Ok(taken) => taken.map(|taken| Some(self.confirmed(taken))),
            Err(NoRoom::Allow) => Ok(None),
            Err(NoRoom::Deny) => Err(no_room(meter, life, now, units)),
        }
    }

    /// What to give units back by that bring `word` to `next`. To be made before that word is put, so that what is given back
    /// later is not in its mark.
    #[inline]
    pub(super) fn taken(&self, meter: &impl Algorithm, hash: u64, word: u64, next: u64, now: Now) -> Taken {
        let fresh = meter.fresh(now);
        let earliest = if meter.is_queue() { fresh + next.saturating_sub(word.max(fresh)) } else { next };
        Taken { wait_ns: 0, stamp: next, earliest, mark: self.returns.mark(hash), hash }
    }

    /// The same, when that word has been put.
    #[inline]
    pub(super) fn confirmed(&self, taken: Taken) -> Taken {
        Taken { mark: self.returns.confirm(taken.hash, taken.mark), ..taken }
    }

    /// Accounts for units that were taken: charges what they were too few, or gives back what was too much; if `alone`, only if
    /// there was no call since. The time is no earlier than that of any call since: it is asked for when the word has been
    /// found, so that it is later than that of whoever put the word.
    #[expect(clippy::too_many_arguments, reason = "a settlement has that many parts, and one caller")]
    pub(crate) fn settle<S: Store>(
        &self,
        store: &S,
        token: &S::Token,
        plan: &Plan,
        now_ns: impl Fn() -> u64,
        units: u64,
        actual: u64,
        taken: Taken,
        alone: bool,
    ) {
        let (excess, unused) = (actual.saturating_sub(units), units.saturating_sub(actual));
        match &plan.kind {
            Kind::Metered(meter) if excess > 0 => self.charge(store, token, meter, now_ns(), excess),
            Kind::Metered(meter) if unused > 0 => {
                self.give_back(store, token, meter, now_ns, unused, taken, alone);
            }
            Kind::Logged(span) if excess > 0 => Self::charge_logged(store, token, *span, now_ns(), excess),
            Kind::Logged(span) if unused > 0 => {
                self.give_back_logged(store, token, *span, now_ns(), unused, taken);
            }
            _ => {}
        }
    }

    /// Takes more units, whether they fit or not.
    fn charge<S: Store>(&self, store: &S, token: &S::Token, meter: &Meter, now_ns: u64, units: u64) {
        let now = Now::at(now_ns);
        let life = life(meter, now);
        let charged = store.decide_token(token, life, |word, floor| {
            let charged = meter.charge(word, newcomer(meter, self.among(now), life, floor), units);
            self.allow_debt(charged);
            Turn::Put(charged.word, ())
        });
        // Without room there is no word to charge; the store has counted it.
        let (Ok(()) | Err(NoRoom::Deny | NoRoom::Allow)) = charged;
    }

    /// Takes units whether they fit or not, as many as leave a debt that takes up to `max_debt_ns` to come back.
    pub(crate) fn penalize<S: Store>(
        &self,
        store: &S,
        token: &S::Token,
        plan: &Plan,
        now_ns: u64,
        units: u64,
        max_debt_ns: u64,
    ) {
        let meter = match &plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return Self::charge_logged(store, token, *span, now_ns, units),
            Kind::Unlimited | Kind::Blocked => return,
        };
        let now = Now::at(now_ns);
        let life = life(meter, now);
        let charged = store.decide_token(token, life, |word, floor| {
            let now = newcomer(meter, self.among(now), life, floor);
            let units = most_within(units, |units| meter.charge(word, now, units).wait_ns <= max_debt_ns);
            if units == 0 {
                return Turn::Keep(());
            }
            let charged = meter.charge(word, now, units);
            self.allow_debt(charged);
            Turn::Put(charged.word, ())
        });
        // Without room there is no word to charge; the store has counted it.
        let (Ok(()) | Err(NoRoom::Deny | NoRoom::Allow)) = charged;
    }

    /// Gives back some of the units that were taken; if `alone`, only if there was no call since.
    #[expect(clippy::too_many_arguments, reason = "a settlement has that many parts, and one caller")]
    fn give_back<S: Store>(
        &self,
        store: &S,
        token: &S::Token,
        meter: &Meter,
        now_ns: impl Fn() -> u64,
        units: u64,
        taken: Taken,
        alone: bool,
    ) {
        let mut giver = self.returns.turn(taken.hash);
        store.visit_token(token, |word| {
            let Some(since) = giver.since(taken.mark, taken.stamp) else { return Turn::Keep(()) };
            let (units, stamp) = if meter.is_queue() {
                let moved = taken.stamp.saturating_sub(since.settled).max(taken.earliest);
                (units, moved.saturating_sub(since.refunded))
            } else {
                (units.saturating_sub(since.refunded), taken.stamp)
            };
            if meter.is_queue() && alone && stamp != word {
                return Turn::Keep(());
            }
            let next = meter.refund(word, self.among(Now::at(now_ns())), units, stamp);
            if meter.is_queue() && stamp < word && next < word {
                // There are later units, and they move up.
                giver.settle(taken.mark, taken.stamp, since, word - next);
            }
            lower(word, next)
        });
    }

    /// Gives back the newest units of a key.
    pub(crate) fn refund<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        plan: &Plan,
        now_ns: u64,
        units: u64,
    ) {
        let meter = match &plan.kind {
            Kind::Metered(meter) => meter,
            Kind::Logged(span) => return self.refund_logged(store, key, *span, now_ns, units),
            Kind::Unlimited | Kind::Blocked => return,
        };
        let (now, hash) = (Now::at(now_ns), store.hash(key));
        let _turn = self.returns.turn(hash);
        store.visit(key, |word| {
            let next = meter.refund(word, self.among(now), units, word);
            if next != word {
                // They may be units that somebody holds.
                let given =
                    if meter.is_queue() { word.saturating_sub(next) } else { units.min(plan.capacity()) };
                self.returns.refund(hash, given);
            }
            lower(word, next)
        });
    }
}

/// The largest number up to `most` that passes, where every smaller one passes too; 0 if none does.
fn most_within(most: u64, passes: impl Fn(u64) -> bool) -> u64 {
    if passes(most) {
        return most;
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if passes(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
