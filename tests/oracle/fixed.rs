//! Fixed window: a count that starts at 0 in each window `[offset + k * period, offset + (k + 1) * period)`.

use tollgate::Verdict;

use super::{Answer, Model, told_apart};

#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    limit: u128,
    period_ns: i128,
    offset_ns: i128,
    /// The start of the window that was last charged.
    start_ns: i128,
    count: u128,
}

/// The start of the window that `now_ns` is in; before 0 for the first one when there is an offset.
pub(super) fn window_start(now_ns: u64, period_ns: i128, offset_ns: i128) -> i128 {
    let now_ns = i128::from(now_ns);
    now_ns - (now_ns - offset_ns).rem_euclid(period_ns)
}

impl Fixed {
    pub(crate) fn new(limit: u64, period_ns: u64, offset_ns: u64) -> Self {
        let (period_ns, offset_ns) = (i128::from(period_ns), i128::from(offset_ns));
        let start_ns = window_start(0, period_ns, offset_ns);
        Self { limit: limit.into(), period_ns, offset_ns, start_ns, count: 0 }
    }

    /// The count of the window that `now_ns` is in, and that window's start.
    fn look(&self, now_ns: u64) -> (u128, i128) {
        let start_ns = window_start(now_ns, self.period_ns, self.offset_ns);
        (if start_ns == self.start_ns { self.count } else { 0 }, start_ns)
    }

    /// Takes units whether they fit or not.
    pub(crate) fn charge(&mut self, units: u64, now_ns: u64) {
        let (count, start_ns) = self.look(self.read(now_ns));
        (self.start_ns, self.count) = (start_ns, count + u128::from(units));
    }

    /// Gives back units that were taken at `taken_ns`, if that window is not over.
    pub(crate) fn give_back(&mut self, units: u64, taken_ns: u64, now_ns: u64) {
        let (count, start_ns) = self.look(self.read(now_ns));
        if start_ns == window_start(taken_ns, self.period_ns, self.offset_ns) {
            (self.start_ns, self.count) = (start_ns, count.saturating_sub(units.into()));
        }
    }
}

impl Model for Fixed {
    fn read(&self, now_ns: u64) -> u64 {
        told_apart(now_ns).max(u64::try_from(self.start_ns.max(0)).unwrap())
    }

    fn check(&mut self, cost: u64, now_ns: u64) -> Answer {
        let now_ns = self.read(now_ns);
        let (count, start_ns) = self.look(now_ns);
        let left_ns = u128::try_from(start_ns + self.period_ns - i128::from(now_ns)).unwrap();
        let room = self.limit.saturating_sub(count);
        let cost = u128::from(cost);
        let (verdict, taken, retry_after_ns) = if cost > self.limit {
            (Verdict::NeverFits, 0, 0)
        } else if cost > room {
            (Verdict::Denied, 0, left_ns)
        } else {
            (Verdict::Allowed, cost, 0)
        };
        if taken > 0 {
            (self.start_ns, self.count) = (start_ns, count + taken);
        }
        Answer {
            verdict,
            taken: taken as u64,
            limit: self.limit as u64,
            remaining: (room - taken) as u64,
            retry_after_ns,
            reset_after_ns: if count + taken > 0 { left_ns } else { 0 },
        }
    }

    fn refund(&mut self, units: u64, now_ns: u64) {
        let (count, start_ns) = self.look(self.read(now_ns));
        if start_ns == self.start_ns {
            self.count = count.saturating_sub(units.into());
        }
    }

    fn reset(&mut self, now_ns: u64) {
        let start_ns = window_start(told_apart(now_ns), self.period_ns, self.offset_ns);
        if start_ns <= self.start_ns {
            (self.start_ns, self.count) = (start_ns, 0);
        }
    }

    fn fork(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
