//! Sliding window counter: what this window has counted, and the previous window's count by how much of it the trailing
//! period still covers. The estimate is compared as a fraction, without rounding.

use tollgate::Verdict;

use super::fixed::window_start;
use super::{Answer, Model, first, told_apart};

#[derive(Clone, Debug)]
pub(crate) struct Counter {
    limit: u128,
    period_ns: u128,
    offset_ns: u64,
    start_ns: i128,
    previous: u128,
    current: u128,
}

impl Counter {
    pub(crate) fn new(limit: u64, period_ns: u64, offset_ns: u64) -> Self {
        // Never charged: long ago.
        let start_ns = window_start(0, period_ns.into(), offset_ns.into()) - 2 * i128::from(period_ns);
        Self {
            limit: limit.into(),
            period_ns: period_ns.into(),
            offset_ns,
            start_ns,
            previous: 0,
            current: 0,
        }
    }

    fn start_of(&self, now_ns: u64) -> i128 {
        window_start(now_ns, self.period_ns as i128, self.offset_ns.into())
    }

    /// Moves on to the window of `now_ns`.
    fn roll(&mut self, now_ns: u64) {
        let start_ns = self.start_of(now_ns);
        let period_ns = self.period_ns as i128;
        if start_ns == self.start_ns + period_ns {
            (self.previous, self.current) = (self.current, 0);
        } else if start_ns > self.start_ns {
            (self.previous, self.current) = (0, 0);
        }
        self.start_ns = self.start_ns.max(start_ns);
    }

    /// The estimate after `wait_ns`, in units of which `period_ns` are one call's.
    fn estimate_after(&self, now_ns: u64, wait_ns: u128) -> u128 {
        let later_ns = u64::try_from(u128::from(now_ns) + wait_ns).unwrap();
        let mut later = self.clone();
        later.roll(later_ns);
        let elapsed_ns = (i128::from(later_ns) - later.start_ns) as u128;
        later.previous * (self.period_ns - elapsed_ns) + later.current * self.period_ns
    }

    /// Takes units whether they fit or not.
    pub(crate) fn charge(&mut self, units: u64, now_ns: u64) {
        self.roll(self.read(now_ns));
        self.current += u128::from(units);
    }

    /// Gives back units that were taken at `taken_ns`: from the window they were counted in, if it still counts.
    pub(crate) fn give_back(&mut self, units: u64, taken_ns: u64, now_ns: u64) {
        let (now_ns, taken_in) = (self.read(now_ns), self.start_of(taken_ns));
        if self.start_of(now_ns) - taken_in > self.period_ns as i128 {
            return;
        }
        self.roll(now_ns);
        if taken_in == self.start_ns {
            self.current = self.current.saturating_sub(units.into());
        } else if taken_in + self.period_ns as i128 == self.start_ns {
            self.previous = self.previous.saturating_sub(units.into());
        }
    }
}

impl Model for Counter {
    fn read(&self, now_ns: u64) -> u64 {
        told_apart(now_ns).max(u64::try_from(self.start_ns.max(0)).unwrap())
    }

    fn check(&mut self, cost: u64, now_ns: u64) -> Answer {
        let now_ns = self.read(now_ns);
        let cost = u128::from(cost);
        let full = self.limit * self.period_ns;
        let room = full.saturating_sub(self.estimate_after(now_ns, 0)) / self.period_ns;
        // From two windows on nothing counts any more.
        let long_ns = 2 * self.period_ns;
        let (verdict, taken, retry_after_ns) = if cost > self.limit {
            (Verdict::NeverFits, 0, 0)
        } else if cost > room {
            let fits = |wait_ns| self.estimate_after(now_ns, wait_ns) + cost * self.period_ns <= full;
            (Verdict::Denied, 0, first(0, long_ns, fits))
        } else {
            (Verdict::Allowed, cost, 0)
        };
        if taken > 0 {
            self.roll(now_ns);
            self.current += taken;
        }
        Answer {
            verdict,
            taken: taken as u64,
            limit: self.limit as u64,
            remaining: (room - taken) as u64,
            retry_after_ns,
            reset_after_ns: first(0, long_ns, |wait_ns| self.estimate_after(now_ns, wait_ns) == 0),
        }
    }

    /// The newest first: from this window's count, then from the previous one's.
    fn refund(&mut self, units: u64, now_ns: u64) {
        let now_ns = self.read(now_ns);
        if self.start_of(now_ns) - self.start_ns > self.period_ns as i128 {
            // Nothing of it counts any more.
            return;
        }
        self.roll(now_ns);
        let units = u128::from(units);
        let from_current = units.min(self.current);
        self.current -= from_current;
        self.previous = self.previous.saturating_sub(units - from_current);
    }

    fn reset(&mut self, now_ns: u64) {
        let start_ns = self.start_of(told_apart(now_ns));
        // What was counted in the window before weighs on this one, and on earlier times.
        let counts = self.previous + self.current > 0;
        let is_before = start_ns == self.start_ns + self.period_ns as i128;
        if start_ns <= self.start_ns || is_before && counts {
            (self.start_ns, self.previous, self.current) = (start_ns, 0, 0);
        }
    }

    fn fork(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
