//! Token bucket, GCRA and leaky bucket: a level of tokens that rises evenly.

use std::cmp::{max, min};

use tollgate::{MAX_NOW_NS, Verdict};

use super::{Answer, Model, told_apart};

/// The clock that a bucket is filled by.
///
/// Where `period / limit` is a whole number of nanoseconds a reading is the time itself. Elsewhere it is the last tick, of
/// which `ceil(period / limit)` make an interval: a tick is shorter than a nanosecond, so a reading is early by less
/// than one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readings {
    /// `ticks` are `ns` nanoseconds.
    ticks: i128,
    ns: i128,
}

impl Readings {
    pub(crate) fn new(limit: u64, period_ns: u64) -> Self {
        if period_ns.is_multiple_of(limit) {
            return Self { ticks: 1, ns: 1 };
        }
        let (limit, ns) = (i128::from(limit), i128::from(period_ns));
        Self { ticks: (ns / limit + 1) * limit, ns }
    }

    pub(crate) fn at(&self, ns: u64) -> i128 {
        i128::from(ns) * self.ticks / self.ns
    }

    /// The first nanosecond whose reading is `ticks` or more.
    pub(crate) fn opening_ns(&self, ticks: i128) -> i128 {
        assert!(ticks >= 0);
        (ticks * self.ns + self.ticks - 1) / self.ticks
    }

    /// By how much the reading at `ns` is early, as (numerator, denominator) of nanoseconds.
    pub(crate) fn early_by(&self, ns: u64) -> (i128, i128) {
        (i128::from(ns) * self.ticks - self.at(ns) * self.ns, self.ticks)
    }

    /// Whether a full burst on top of the latest time is below 2^62 ticks. Such quotas are exact; others are only bounded.
    pub(crate) fn are_exact_for(limit: u64, period_ns: u64, burst: u64) -> bool {
        let readings = Self::new(limit, period_ns);
        let interval = i128::from(period_ns.div_ceil(limit));
        // Less the slack that a word needs for its own ends.
        readings.at(MAX_NOW_NS) + interval * i128::from(burst) <= (1 << 62) - (1 << 21)
    }
}

/// The level, known exactly at one time and followed from there. Before that time it is followed backwards: an
/// earlier `now` finds less.
#[derive(Clone, Copy, Debug)]
struct Level {
    at: i128,
    /// In parts of which `Bucket::token` make a token. Below zero only by a debt.
    parts: i128,
}

/// At most `burst` tokens, `limit` more per period.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    readings: Readings,
    /// Parts that come back per unit of a reading.
    refill: i128,
    /// Parts of one token.
    token: i128,
    burst: u64,
    level: Option<Level>,
    /// After a debt, a level below zero says nothing about the clock.
    in_debt: bool,
}

/// The level right after a charge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(Level);

impl Bucket {
    pub(crate) fn new(limit: u64, period_ns: u64, burst: u64) -> Self {
        assert!(Readings::are_exact_for(limit, period_ns, burst));
        let readings = Readings::new(limit, period_ns);
        let (refill, token) = if period_ns.is_multiple_of(limit) {
            // The ideal: `limit` tokens per period, on the true clock.
            (i128::from(limit), i128::from(period_ns))
        } else {
            (1, i128::from(period_ns.div_ceil(limit)))
        };
        Self { readings, refill, token, burst, level: None, in_debt: false }
    }

    fn full(&self) -> i128 {
        i128::from(self.burst) * self.token
    }

    /// Parts at a reading, not cut off at a full bucket.
    fn uncut(&self, level: Level, reading: i128) -> i128 {
        level.parts + (reading - level.at) * self.refill
    }

    fn parts(&self, reading: i128) -> i128 {
        self.level.map_or(self.full(), |level| min(self.full(), self.uncut(level, reading)))
    }

    /// Nanoseconds from `now_ns` until the level is `parts`.
    fn wait_ns(&self, parts: i128, now_ns: u64) -> u128 {
        let Some(level) = self.level else { return 0 };
        let missing = parts - self.uncut(level, self.readings.at(now_ns));
        if missing <= 0 {
            return 0;
        }
        let steps = (missing + self.refill - 1) / self.refill;
        let opening = self.readings.opening_ns(self.readings.at(now_ns) + steps);
        u128::try_from(opening - i128::from(now_ns)).unwrap()
    }

    fn take(&mut self, parts: i128, reading: i128) {
        self.level = Some(Level { at: reading, parts: self.parts(reading) - parts });
    }

    /// Takes units whether they are there or not: how long until they are, and a stamp for `give_back`.
    pub(crate) fn take_in_advance(&mut self, units: u64, now_ns: u64) -> (u128, Stamp) {
        let now_ns = self.read(now_ns);
        self.take(i128::from(units) * self.token, self.readings.at(now_ns));
        let wait_ns = self.wait_ns(0, now_ns);
        self.in_debt |= wait_ns > 0;
        (wait_ns, Stamp(self.level.unwrap()))
    }

    /// Gives back units of the charge that left `stamp`. Tokens come back for the oldest charge first, so as many of them are
    /// still out as the bucket would miss now if nothing had been taken since.
    pub(crate) fn give_back(&mut self, units: u64, stamp: Stamp, now_ns: u64) {
        let now_ns = self.read(now_ns);
        let reading = self.readings.at(now_ns);
        let missing = self.full() - self.parts(reading);
        let out = min(missing, max(0, self.full() - self.uncut(stamp.0, reading)));
        let back = min(out, i128::from(units) * self.token);
        if back > 0 {
            self.take(-back, reading);
        }
    }
}

impl Model for Bucket {
    fn read(&self, now_ns: u64) -> u64 {
        let now_ns = told_apart(now_ns);
        let Some(level) = self.level else { return now_ns };
        if self.in_debt || self.uncut(level, self.readings.at(now_ns)) >= 0 {
            return now_ns;
        }
        // Emptier than empty cannot be: the call is later than it says.
        let empty_at = level.at - level.parts / self.refill;
        u64::try_from(self.readings.opening_ns(empty_at)).unwrap()
    }

    fn check(&mut self, cost: u64, now_ns: u64) -> Answer {
        let now_ns = self.read(now_ns);
        let reading = self.readings.at(now_ns);
        let need = i128::from(cost) * self.token;
        let here = self.parts(reading);
        let remaining = |parts: i128| u64::try_from(max(0, parts) / self.token).unwrap();
        let (verdict, taken, remaining, retry_after_ns) = if cost > self.burst {
            (Verdict::NeverFits, 0, remaining(here), 0)
        } else if cost > 0 && need > here {
            (Verdict::Denied, 0, remaining(here), self.wait_ns(need, now_ns))
        } else {
            (Verdict::Allowed, cost, remaining(here - need), 0)
        };
        if taken > 0 {
            self.take(need, reading);
        }
        let reset_after_ns = self.wait_ns(self.full(), now_ns);
        Answer { verdict, taken, limit: self.burst, remaining, retry_after_ns, reset_after_ns }
    }

    fn refund(&mut self, units: u64, now_ns: u64) {
        if let Some(level) = self.level {
            self.give_back(units, Stamp(level), now_ns);
        }
    }

    fn reset(&mut self, now_ns: u64) {
        let reading = self.readings.at(told_apart(now_ns));
        if let Some(level) = self.level
            && self.uncut(level, reading) < self.full()
        {
            self.level = Some(Level { at: reading, parts: self.full() });
        }
    }

    fn fork(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
