//! Sliding window log: every unit that was taken, and when. A unit stops counting exactly one window later.

use tollgate::Verdict;

use super::{Answer, Model, told_apart};

#[derive(Clone, Debug)]
pub(crate) struct Log {
    limit: u64,
    window_ns: u64,
    /// When, and how many units; no time is before the one before it.
    taken: Vec<(u64, u64)>,
    /// Of the newest admission, whatever has become of it: no call is read as earlier.
    newest_ns: Option<u64>,
    /// The first admission is not before this.
    floor_ns: u64,
}

impl Log {
    pub(crate) fn new(limit: u64, window_ns: u64) -> Self {
        Self { limit, window_ns, taken: Vec::new(), newest_ns: None, floor_ns: 0 }
    }

    /// A log of a key that was forgotten, or never seen, where keys were forgotten at this time.
    pub(crate) fn starting_at(self, floor_ns: u64) -> Self {
        Self { floor_ns, ..self }
    }

    /// Whether anything was ever taken.
    pub(crate) fn is_known(&self) -> bool {
        self.newest_ns.is_some()
    }

    /// The same units under another limit.
    pub(crate) fn limited_to(&mut self, limit: u64) -> &mut Self {
        self.limit = limit;
        self
    }

    /// Whether nothing is lost if it is forgotten.
    pub(crate) fn is_idle(&self, now_ns: u64) -> bool {
        self.newest_ns.is_none_or(|newest_ns| newest_ns <= told_apart(now_ns)) && self.count(now_ns) == 0
    }

    fn counts(&self, at_ns: u64, now_ns: u64) -> bool {
        self.read(now_ns) - at_ns < self.window_ns
    }

    /// Units that count.
    pub(crate) fn count(&self, now_ns: u64) -> u64 {
        self.taken.iter().filter(|&&(at_ns, _)| self.counts(at_ns, now_ns)).map(|&(_, units)| units).sum()
    }

    /// How long until at most `goal` units count.
    fn wait_ns(&self, goal: u64, now_ns: u64) -> u128 {
        let (mut count, mut wait_ns) = (self.count(now_ns), 0);
        for &(at_ns, units) in self.taken.iter().filter(|&&(at_ns, _)| self.counts(at_ns, now_ns)) {
            if count <= goal {
                break;
            }
            count -= units;
            wait_ns = u128::from(at_ns) + u128::from(self.window_ns) - u128::from(self.read(now_ns));
        }
        wait_ns
    }

    /// Takes units whether they fit or not.
    pub(crate) fn take(&mut self, units: u64, now_ns: u64) {
        if units > 0 {
            let now_ns = self.read(now_ns);
            // Time does not go back before this: what is over is over.
            self.taken.retain(|&(at_ns, _)| now_ns - at_ns < self.window_ns);
            self.taken.push((now_ns, units));
            self.newest_ns = Some(now_ns);
        }
    }

    /// Takes units for work that is done: as many as make twice the limit, if they are more.
    pub(crate) fn charge(&mut self, units: u64, now_ns: u64) {
        let room = (2 * self.limit).saturating_sub(self.count(now_ns));
        self.take(units.min(room), now_ns);
    }

    /// Gives back units that were taken at `stamp_ns`, or else the newest, as far as they count. How many that were.
    pub(crate) fn give_back(&mut self, units: u64, stamp_ns: Option<u64>, now_ns: u64) -> u64 {
        let now_ns = self.read(now_ns);
        let mut left = units;
        for (at_ns, units) in self.taken.iter_mut().rev() {
            let counts = now_ns - *at_ns < self.window_ns;
            if counts && stamp_ns.is_none_or(|stamp_ns| stamp_ns == *at_ns) {
                let back = left.min(*units);
                *units -= back;
                left -= back;
            }
        }
        self.taken.retain(|&(_, units)| units > 0);
        units - left
    }
}

impl Model for Log {
    fn read(&self, now_ns: u64) -> u64 {
        told_apart(now_ns).max(self.newest_ns.unwrap_or(self.floor_ns))
    }

    fn check(&mut self, cost: u64, now_ns: u64) -> Answer {
        let room = self.limit.saturating_sub(self.count(now_ns));
        let (verdict, taken, retry_after_ns) = if cost > self.limit {
            (Verdict::NeverFits, 0, 0)
        } else if cost > room {
            (Verdict::Denied, 0, self.wait_ns(self.limit - cost, now_ns))
        } else {
            (Verdict::Allowed, cost, 0)
        };
        self.take(taken, now_ns);
        Answer {
            verdict,
            taken,
            limit: self.limit,
            remaining: room - taken,
            retry_after_ns,
            reset_after_ns: self.wait_ns(0, now_ns),
        }
    }

    fn refund(&mut self, units: u64, now_ns: u64) {
        let _ = self.give_back(units, None, now_ns);
    }

    fn reset(&mut self, now_ns: u64) {
        if self.count(now_ns) > 0 {
            self.taken.clear();
        }
    }

    fn fork(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
