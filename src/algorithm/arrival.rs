//! The theoretical arrival time: one arithmetic for token bucket, GCRA and leaky bucket.
//!
//! ITU-T I.371, annex A, and RFC 2697 say it in different words. The word is the time, in [`Ticks`], at which the key is
//! fresh again; what it is ahead of `now` is what has been taken and not come back.

use core::num::NonZeroU64;
use std::sync::Arc;

use crate::algorithm::ticks::Ticks;
use crate::algorithm::{Algorithm, MAX_WORD, Reserved, Step};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::Now;

/// `burst` units at once, one unit each `per_unit` ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    ticks: Ticks,
    per_unit: NonZeroU64,
    burst: u64,
    burst_ticks: u64,
}

/// A decision's time, in both units.
#[derive(Clone, Copy)]
struct Moment {
    ns: u64,
    word: u64,
}

impl Arrival {
    /// The arithmetic of `rate`, on a scale of its own.
    pub(super) fn new(rate: Rate) -> Result<Self, BuildError> {
        let (ticks, per_unit) = Ticks::new(rate)?;
        Ok(Self::on(ticks, per_unit, rate.capacity()))
    }

    /// The arithmetic of `rate`, on a scale on which a full burst takes no more than so many ticks.
    pub(super) fn within(rate: Rate, max_burst_ticks: u64) -> Result<Self, BuildError> {
        let (ticks, per_unit) = Ticks::within(rate, max_burst_ticks)?;
        Ok(Self::on(ticks, per_unit, rate.capacity()))
    }

    /// Ticks in which a full burst comes back.
    pub(super) const fn burst_ticks(&self) -> u64 {
        self.burst_ticks
    }

    /// The arithmetic of `rate`, on this scale.
    pub(super) fn at_rate(&self, rate: Rate) -> Result<Self, BuildError> {
        let per_unit = self.ticks.per_unit_of(rate)?;
        Ok(Self::on(self.ticks, per_unit, rate.capacity()))
    }

    const fn on(ticks: Ticks, per_unit: NonZeroU64, burst: u64) -> Self {
        Self { ticks, per_unit, burst, burst_ticks: burst * per_unit.get() }
    }

    /// `now`, or the earliest time that fits `word`.
    #[inline]
    fn moment(&self, word: u64, now: Now) -> Moment {
        let moment = Moment { ns: now.ns(), word: self.ticks.word(now.ns()) };
        if word <= moment.word + self.burst_ticks {
            moment
        } else {
            self.moment_far_behind(word, now.ns(), now.span_ns(), now.debt())
        }
    }

    /// No word is further ahead than a full burst of this quota or of another plan, but for debts.
    // By number: a time handed over by address would be written to memory in every decision.
    #[cold]
    fn moment_far_behind(&self, word: u64, now_ns: u64, span_ns: u64, debt: u64) -> Moment {
        let now = if word <= debt {
            Now::at(now_ns)
        } else {
            let full_ns = self.ticks.ns(word - self.burst_ticks);
            Now::at(now_ns).no_earlier_than(full_ns.min(self.ticks.ns(word).saturating_sub(span_ns)))
        };
        Moment { ns: now.ns(), word: self.ticks.word(now.ns()) }
    }

    /// Nanoseconds from `moment` until `word` is the present.
    #[inline]
    fn wait_ns(&self, moment: Moment, word: u64) -> u64 {
        if word <= moment.word { 0 } else { self.ticks.ns(word).saturating_sub(moment.ns) }
    }

    /// Out of line, to keep the way of an admission short.
    #[inline(never)]
    fn refusal(&self, moment: Moment, base: u64, room: u64, cost: u64) -> Decision {
        let reset_after_ns = self.wait_ns(moment, base);
        let decision = if cost > self.burst {
            Decision::never_fits(self.burst, room, reset_after_ns)
        } else {
            let need = cost * self.per_unit.get();
            let retry_after_ns = self.wait_ns(moment, base + need - self.burst_ticks);
            Decision::denied(self.burst, room, retry_after_ns, reset_after_ns)
        };
        decision.in_parts(self.per_unit)
    }

    /// `units` on top of `base`, fitting or not.
    fn advance(&self, base: u64, moment: Moment, units: u64) -> Reserved {
        let word = base.saturating_add(units.saturating_mul(self.per_unit.get())).min(MAX_WORD);
        Reserved { word, wait_ns: self.wait_ns(moment, word.saturating_sub(self.burst_ticks)) }
    }
}

impl Algorithm for Arrival {
    #[inline]
    fn fresh(&self, now: Now) -> u64 {
        self.ticks.word(now.ns())
    }

    #[inline]
    fn lead(&self) -> u64 {
        0
    }

    fn opening_ns(&self, word: u64) -> u64 {
        self.ticks.ns(word)
    }

    fn span_ns(&self) -> u64 {
        self.ticks.span_ns(self.burst_ticks)
    }

    // Always: it is the body of a loop of a dozen instructions, in each store.
    #[inline(always)]
    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        let moment = self.moment(word, now);
        let base = word.max(moment.word);
        let room = self.burst_ticks.saturating_sub(base - moment.word);
        // A cost above the burst needs more than any room; at most a full burst fits a word.
        let need = cost.saturating_mul(self.per_unit.get());
        if need > room {
            return Step { word, decision: self.refusal(moment, base, room, cost) };
        }
        let next = base + need;
        let decision = Decision::allowed(cost, self.burst, room - need, self.wait_ns(moment, next));
        // A cost of zero leaves even an idle word as it is.
        Step { word: if cost == 0 { word } else { next }, decision: decision.in_parts(self.per_unit) }
    }

    fn reserve(&self, word: u64, now: Now, cost: u64) -> Result<Reserved, Decision> {
        let moment = self.moment(word, now);
        let base = word.max(moment.word);
        if cost > self.burst || MAX_WORD - base < cost * self.per_unit.get() {
            return Err(self.decide(word, now, cost).decision);
        }
        Ok(self.advance(base, moment, cost))
    }

    /// Units drain from the oldest on: of a charge that left the word at `stamp`, what lies before now has come back.
    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        let present = self.moment(word, now).word;
        let outstanding = stamp.min(word).saturating_sub(present);
        word - outstanding.min(units.saturating_mul(self.per_unit.get()))
    }

    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved {
        let moment = self.moment(word, now);
        self.advance(word.max(moment.word), moment, units)
    }

    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        Ok(Arc::new(self.at_rate(rate)?))
    }
}
