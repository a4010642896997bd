//! The same for limiters that keep a log of each key.

use crate::decision::Decision;
use crate::limiter::core::grant::{Grant, Wish, share};
use crate::limiter::core::{Core, Taken};
use crate::log::{self, Answer, Ask, Log, Mode, Span};
use crate::store::{Lookup, Store};
use crate::time::{Now, duration_ns};

impl<C> Core<C> {
    /// Takes `cost` units if they fit. A cost that is zero, or never fits, stores no key.
    #[inline]
    pub(super) fn decide_logged<Q: ?Sized, S: Lookup<Q>>(
        store: &S,
        key: &Q,
        span: Span,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        if cost == 0 || cost > span.units {
            return Self::peek_logged(store, key, span, now_ns, cost);
        }
        let (guard, ask) = (log::pin(), ask(span, now_ns, cost, Mode::Take));
        if let Some(answer) = store.near_log(&guard, key).and_then(|log| log.ask_charged(&guard, &ask)) {
            return decision(span, cost, answer);
        }
        let answer = store.log_or_new(&guard, key, |log, floor| log.ask(&guard, || floor.get(), &ask));
        answer.map_or_else(|| no_logs(span), |answer| decision(span, cost, answer))
    }

    /// What `decide_logged` would answer. Nothing changes.
    pub(super) fn peek_logged<Q: ?Sized, S: Lookup<Q>>(
        store: &S,
        key: &Q,
        span: Span,
        now_ns: u64,
        cost: u64,
    ) -> Decision {
        let (guard, ask) = (log::pin(), ask(span, now_ns, cost, Mode::Look));
        let answer = store.log(key, |log| log.ask(&guard, || 0, &ask));
        decision(span, cost, answer.unwrap_or(Answer::Found { live: 0, wait_ns: 0, reset_after_ns: 0 }))
    }

    /// As [`reserve`](Self::reserve): units of a log cannot be taken before they fit.
    pub(super) fn reserve_logged<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        span: Span,
        now_ns: u64,
        units: u64,
    ) -> Result<Taken, Decision> {
        let hash = store.hash(key);
        if units == 0 || units > span.units {
            let looked = Self::peek_logged(store, key, span, now_ns, units);
            let nothing = Taken { wait_ns: 0, stamp: 0, earliest: 0, mark: self.returns.mark(hash), hash };
            return if looked.is_allowed() { Ok(nothing) } else { Err(looked) };
        }
        let (guard, ask) = (log::pin(), ask(span, now_ns, units, Mode::Take));
        let answer = store.log_or_new(&guard, key, |log, floor| {
            // Before the charge.
            let mark = self.returns.mark(hash);
            log.ask(&guard, || floor.get(), &ask).map(|answer| (mark, answer))
        });
        match answer {
            Some((mark, Answer::Taken { stamp_ns, .. })) => {
                Ok(Taken { wait_ns: 0, stamp: stamp_ns, earliest: stamp_ns, mark, hash })
            }
            Some((_, answer)) => Err(decision(span, units, answer)),
            None => Err(no_logs(span)),
        }
    }

    /// As [`grant`](Self::grant): how many units to take is found out first.
    pub(super) fn grant_logged<S: Store>(
        &self,
        store: &S,
        token: &S::Token,
        hash: u64,
        span: Span,
        now_ns: u64,
        wish: Wish,
    ) -> Result<Grant, Decision> {
        let need = wish.need();
        let looked = Self::look_logged(store, token, span, now_ns);
        let left = looked.remaining();
        if wish.cost > span.units {
            return Err(Decision::never_fits(span.units, left, duration_ns(looked.reset_after())));
        }
        let most = need + share(wish.extra, left.saturating_sub(need));
        let guard = log::pin();
        let take = |units| {
            let ask = ask(span, now_ns, units, Mode::Take);
            let answer = store.log_or_new_token(&guard, token, |log, floor| {
                let mark = self.returns.mark(hash);
                log.ask(&guard, || floor.get(), &ask).map(|answer| (mark, answer))
            });
            let Some((mark, answer)) = answer else { return Err(no_logs(span)) };
            let decision = decision(span, units, answer);
            let Answer::Taken { stamp_ns, .. } = answer else { return Err(decision) };
            let taken = Some(Taken { wait_ns: 0, stamp: stamp_ns, earliest: stamp_ns, mark, hash });
            Ok(Grant { units, decision, taken })
        };
        // Others may have taken what was left.
        take(most).or_else(|refusal| if most > need { take(need) } else { Err(refusal) })
    }

    /// As [`look`](Self::look).
    pub(super) fn look_logged<S: Store>(store: &S, token: &S::Token, span: Span, now_ns: u64) -> Decision {
        let (guard, ask) = (log::pin(), ask(span, now_ns, 0, Mode::Look));
        let answer = store.log_token(token, |log| log.ask(&guard, || 0, &ask));
        decision(span, 0, answer.unwrap_or(Answer::Found { live: 0, wait_ns: 0, reset_after_ns: 0 }))
    }

    /// As [`charge`](Self::charge).
    pub(super) fn charge_logged<S: Store>(store: &S, token: &S::Token, span: Span, now_ns: u64, units: u64) {
        let (guard, ask) = (log::pin(), ask(span, now_ns, units, Mode::Charge));
        _ = store.log_or_new_token(&guard, token, |log, floor| log.ask(&guard, || floor.get(), &ask));
    }

    /// As [`give_back`](Self::give_back), by the time at which they were taken: units of one time are all alike.
    pub(super) fn give_back_logged<S: Store>(
        &self,
        store: &S,
        token: &S::Token,
        span: Span,
        now_ns: u64,
        units: u64,
        taken: Taken,
    ) {
        let (guard, now_ns) = (log::pin(), Now::at(now_ns).ns());
        _ = store.log_token(token, |log| {
            log.give_back(&guard, span, now_ns, Some(taken.stamp), |given, there| {
                let since = self.returns.since(taken.hash, taken.mark);
                since.map_or(0, |since| units.saturating_sub(since.refunded.saturating_add(given)).min(there))
            });
            Ok(())
        });
    }

    /// As [`refund`](Self::refund).
    pub(super) fn refund_logged<Q: ?Sized, S: Lookup<Q>>(
        &self,
        store: &S,
        key: &Q,
        span: Span,
        now_ns: u64,
        units: u64,
    ) {
        let (guard, now_ns) = (log::pin(), Now::at(now_ns).ns());
        _ = store.log(key, |log| {
            log.give_back(&guard, span, now_ns, None, |given, there| {
                let part = (units - given).min(there);
                // They may be units that somebody holds.
                self.returns.refund(store.hash(key), part);
                part
            });
            Ok(())
        });
    }

    /// As [`reset`](Self::reset).
    pub(super) fn reset_logged<Q: ?Sized, S: Lookup<Q>>(&self, store: &S, key: &Q, span: Span, now_ns: u64) {
        let (guard, now_ns) = (log::pin(), Now::at(now_ns).ns());
        _ = store.log(key, |log| {
            log.reset(&guard, span, now_ns, || self.returns.reset(store.hash(key)));
            Ok(())
        });
    }
}

/// Keys with units that count at a time.
pub(super) fn count<S: Store>(store: &S, span: Span, now_ns: u64) -> usize {
    let (guard, now_ns) = (log::pin(), Now::at(now_ns).ns());
    store.count_logs(|log: &Log| !log.is_idle(&guard, span, now_ns))
}

#[inline]
fn ask(span: Span, now_ns: u64, cost: u64, mode: Mode) -> Ask {
    Ask { span, now_ns: Now::at(now_ns).ns(), cost, mode }
}

#[inline]
fn decision(span: Span, cost: u64, answer: Answer) -> Decision {
    let Span { units: limit, window_ns } = span;
    match answer {
        Answer::Taken { live, .. } => Decision::allowed(cost, limit, limit.saturating_sub(live), window_ns),
        Answer::Found { live, wait_ns, reset_after_ns } => {
            let room = limit.saturating_sub(live);
            if cost > limit {
                Decision::never_fits(limit, room, reset_after_ns)
            } else if wait_ns > 0 {
                Decision::denied(limit, room, wait_ns, reset_after_ns)
            } else {
                let reset_after_ns = if cost > 0 { window_ns } else { reset_after_ns };
                Decision::allowed(cost, limit, room - cost, reset_after_ns)
            }
        }
    }
}

/// The refusal of a store that keeps no logs. Builders do not pair them.
#[cold]
fn no_logs(span: Span) -> Decision {
    Decision::denied(span.units, 0, span.window_ns, span.window_ns)
}
