//! Arrival times under a quota that was changed for one whose burst takes another time to come back: every key keeps the
//! fraction of its burst that it has used.
//!
//! Each quota writes its words in a segment of its own, above all words of the quotas before it. So a word says which quota
//! wrote it, and is carried over when it is next looked at: nobody has to go through the keys.

use std::sync::Arc;

use crate::algorithm::arrival::Arrival;
use crate::algorithm::{Algorithm, MAX_WORD, Reserved, Step};
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::Now;

/// Ticks between the words of two quotas, besides two full bursts: calls that were under way at the change may put words of the
/// former quota later. About a second.
const GAP: u64 = 1 << 30;

/// Quotas whose words are told apart.
const MAX_FORMER: usize = 256;

/// A quota, and where its words are.
#[derive(Clone, Copy, Debug)]
struct Segment {
    arrival: Arrival,
    since_ns: u64,
    /// The word of `since_ns`: the lowest.
    start: u64,
}

impl Segment {
    /// What is added to the words of `arrival`, modulo 2^64.
    fn shift(&self) -> u64 {
        self.start.wrapping_sub(self.arrival.fresh(Now::at(self.since_ns)))
    }

    fn word(&self, ns: u64) -> u64 {
        self.arrival.fresh(Now::at(ns.max(self.since_ns))).wrapping_add(self.shift())
    }
}

/// The quota of now, and those before it.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// Those of which words may still count, the oldest first; not empty.
    former: Arc<[Segment]>,
    now: Segment,
    /// Kept beside `now`, for speed.
    shift: u64,
    lead: u64,
}

impl Carried {
    /// The first change of a quota.
    pub(super) fn from(arrival: Arrival, rate: Rate, now_ns: u64) -> Result<Self, BuildError> {
        let start = arrival.fresh(Now::at(0));
        Self::after(vec![Segment { arrival, since_ns: 0, start }], rate, now_ns)
    }

    /// The next change.
    pub(super) fn next(&self, rate: Rate, now_ns: u64) -> Result<Self, BuildError> {
        let settled_ns = self.now.since_ns.saturating_add(self.now.arrival.span_ns().saturating_mul(2));
        // By then nothing counts that was written before.
        let former = if now_ns >= settled_ns { &[] } else { &*self.former };
        Self::after([former, &[self.now]].concat(), rate, now_ns)
    }

    fn after(former: Vec<Segment>, rate: Rate, now_ns: u64) -> Result<Self, BuildError> {
        let last = former[former.len() - 1];
        let since_ns = Now::at(now_ns.max(last.since_ns)).ns();
        let burst_ticks = last.arrival.burst_ticks();
        let start = last.word(since_ns) + 2 * burst_ticks + GAP;
        // With no more ticks to a burst than before a word is never carried further up than the others, so that one lead
        // does for all.
        let arrival = Arrival::within(rate, burst_ticks)?;
        let now = Segment { arrival, since_ns, start };
        if former.len() > MAX_FORMER || now.word(u64::MAX).saturating_add(arrival.burst_ticks()) > MAX_WORD {
            let why = "the quota has been changed too often within the time of a burst: build the rules anew";
            return Err(BuildError::Other(why.to_owned()));
        }
        let oldest_end_ns = former.get(1).map_or(since_ns, |next| next.since_ns);
        let lead = start - former[0].word(oldest_end_ns);
        Ok(Self { former: former.into(), now, shift: now.shift(), lead })
    }

    /// Another rate on the same scale: a burst that takes as long to come back.
    pub(super) fn at_rate(&self, rate: Rate) -> Result<Self, BuildError> {
        let arrival = self.now.arrival.at_rate(rate)?;
        Ok(Self { now: Segment { arrival, ..self.now }, ..self.clone() })
    }

    /// A word as the quota of now would have written it, without what is added.
    #[inline]
    fn inner(&self, word: u64) -> u64 {
        let word = if word < self.now.start { self.carry(word) } else { word };
        word.wrapping_sub(self.shift)
    }

    /// Through all changes since a word was written: what it owes then is the same fraction of the next burst, rounded up.
    #[cold]
    fn carry(&self, mut word: u64) -> u64 {
        let index = self.former.partition_point(|segment| segment.start <= word).saturating_sub(1);
        let nexts = self.former[index + 1..].iter().chain([&self.now]);
        for (segment, next) in self.former[index..].iter().zip(nexts) {
            let owed = word.saturating_sub(segment.word(next.since_ns));
            word = next.start + rescale(owed, segment.arrival.burst_ticks(), next.arrival.burst_ticks());
        }
        word
    }

    /// A time of the quota of now.
    #[inline]
    fn moment(&self, now: Now) -> Now {
        let debt = if now.debt() == 0 { 0 } else { self.inner(now.debt()) };
        now.among(now.span_ns(), debt).no_earlier_than(self.now.since_ns)
    }
}

/// A part of one burst as a part of another. A debt beyond it keeps its ticks.
fn rescale(owed: u64, from: u64, to: u64) -> u64 {
    match owed.checked_sub(from) {
        Some(debt) => to.saturating_add(debt),
        None => (u128::from(owed) * u128::from(to)).div_ceil(from.into()) as u64,
    }
}

impl Algorithm for Carried {
    #[inline]
    fn fresh(&self, now: Now) -> u64 {
        self.now.arrival.fresh(now.no_earlier_than(self.now.since_ns)).wrapping_add(self.shift)
    }

    #[inline]
    fn lead(&self) -> u64 {
        self.lead
    }

    fn opening_ns(&self, word: u64) -> u64 {
        if word <= self.now.start { 0 } else { self.now.arrival.opening_ns(word.wrapping_sub(self.shift)) }
    }

    fn span_ns(&self) -> u64 {
        self.now.arrival.span_ns()
    }

    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        let step = self.now.arrival.decide(self.inner(word), self.moment(now), cost);
        let is_charged = cost > 0 && step.decision.is_allowed();
        Step { word: if is_charged { step.word.wrapping_add(self.shift) } else { word }, ..step }
    }

    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        let inner = self.inner(word);
        let next = self.now.arrival.refund(inner, self.moment(now), units, self.inner(stamp));
        if next == inner { word } else { next.wrapping_add(self.shift) }
    }

    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved {
        let reserved = self.now.arrival.charge(self.inner(word), self.moment(now), units);
        Reserved { word: reserved.word.wrapping_add(self.shift).min(MAX_WORD), ..reserved }
    }

    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        Ok(Arc::new(self.at_rate(rate)?))
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algorithm::Meter;
    use crate::quota::Quota;

    const S: u64 = 1_000_000_000;

    fn rate() -> impl Strategy<Value = Rate> {
        let period_ns =
            prop_oneof![Just(S), Just(60 * S), Just(86_400 * S), Just(7 * S / 3), 1_000_000..100 * S];
        (1..2_000_u64, period_ns, 1..2_000_u64).prop_map(|(limit, period_ns, burst)| {
            Quota::new(limit, Duration::from_nanos(period_ns)).burst(burst).rate().unwrap()
        })
    }

    fn start(rate: Rate) -> Meter {
        Meter::Arrival(Arrival::new(rate).unwrap())
    }

    /// A full burst in nanoseconds.
    fn span_ns(rate: Rate) -> f64 {
        rate.capacity() as f64 * rate.period_ns() as f64 / rate.limit() as f64
    }

    proptest! {
        /// A key that was charged once, or never, and then lives through changes.
        #[test]
        fn the_fraction_is_kept(
            first in rate(), changes in vec((rate(), 0..300_u64), 1..6), used in 0..=100_u64, now_ns in 0..1_000 * S,
        ) {
            let mut now_ns = now_ns;
            let mut meter = start(first);
            let cost = first.capacity() * used / 100;
            let word = meter.decide(meter.fresh(Now::at(now_ns)), Now::at(now_ns), cost).word;
            let mut fraction = cost as f64 / first.capacity() as f64;
            let mut last = first;
            for (rate, percent) in changes {
                // A few steps of up to three bursts.
                let pause_ns = (span_ns(last) * percent as f64 / 100.0) as u64;
                now_ns += pause_ns;
                fraction = (fraction - pause_ns as f64 / span_ns(last)).max(0.0);
                // One that the former scale is too coarse for is refused.
                let Ok(next) = meter.carried(rate, now_ns) else { return Ok(()) };
                (meter, last) = (next, rate);
                let now = Now::at(now_ns).among(meter.span_ns(), 0);
                let burst = rate.capacity();
                let left = meter.decide(word, now, 0).decision.remaining() as f64;
                let expected = (1.0 - fraction) * burst as f64;
                let give = 1.0 + burst as f64 * 0.002;
                prop_assert!(left >= expected - give, "{} of {}, not {}", left, burst, expected);
                // Never more, but for a tick of the new scale, of which there are a thousand in a period.
                let tick = rate.limit() as f64 / 1_000.0;
                prop_assert!(left <= expected + tick + 1e-6 * burst as f64, "{left} of {burst}, not {expected}");
                // The wait is exact.
                let refused = meter.decide(word, now, burst).decision;
                if refused.is_denied() {
                    let wait_ns = refused.retry_after().as_nanos() as u64;
                    let at = |ns| meter.decide(word, Now::at(ns).among(meter.span_ns(), 0), burst).decision;
                    prop_assert!(at(now_ns + wait_ns).is_allowed());
                    prop_assert!(at(now_ns + wait_ns - 1).is_denied());
                }
                // What may be forgotten is as good as new, and what was never used can be claimed.
                prop_assert!(meter.fresh(Now::at(0)) > meter.lead() + 1);
                for later in [0.0, 0.5, 1.0, 2.0, 3.0] {
                    let later = Now::at(now_ns + (later * span_ns(rate)) as u64);
                    if word + meter.lead() <= meter.fresh(later) {
                        let [known, fresh] = [word, meter.fresh(later)].map(|word| meter.decide(word, later, burst));
                        prop_assert_eq!(known.decision, fresh.decision);
                    }
                }
            }
        }

        /// Words grow with every charge, whatever wrote them, and are above all of those before.
        #[test]
        fn a_charge_is_above_all_former_words(first in rate(), next in rate(), now_ns in 0..1_000 * S) {
            let meter = start(first);
            let full = meter.decide(meter.fresh(Now::at(now_ns)), Now::at(now_ns), first.capacity()).word;
            let Ok(next) = meter.carried(next, now_ns) else { return Ok(()) };
            prop_assert!(next.fresh(Now::at(0)) > full);
            let step = next.decide(0, Now::at(now_ns), 1);
            prop_assert!(step.decision.is_allowed() && step.word > next.fresh(Now::at(now_ns)));
            prop_assert_eq!(next.refund(step.word, Now::at(now_ns), 1, step.word), next.fresh(Now::at(now_ns)));
        }
    }
}
