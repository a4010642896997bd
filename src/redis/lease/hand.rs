//! The units of one key that this process has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::Mutex;

use crate::decision::Decision;
use crate::sync::{AtomicU64, Ordering};

/// Of what was taken before: so many marks are known, the units of older ones lapse.
const MARKS: usize = 4;

#[derive(Default)]
pub(super) struct Hand {
    left: AtomicU64,
    /// When less is left, more is taken ahead of need.
    low: AtomicU64,
    /// Units that were asked for, allowed or not.
    asked: AtomicU64,
    /// What was asked for at the last look.
    looked: AtomicU64,
    denial: ArcSwapOption<Denial>,
    /// Whoever takes units holds this.
    pub(super) taken: Arc<Mutex<Taken>>,
}

/// What was taken, for whoever takes next or gives back.
#[derive(Default)]
pub(super) struct Taken {
    /// When units were last taken, and what had been asked for by then.
    last: Option<(Instant, u64)>,
    /// Sizes and marks, the newest last.
    marks: Vec<(u64, [u64; 2])>,
    /// The key has been forgotten: whoever waited for this hand is to take another.
    pub(super) is_gone: bool,
}

/// A refusal, until later.
struct Denial {
    cost: u64,
    until: Instant,
    decision: Decision,
}

impl Hand {
    /// Spends units, and says how many are left.
    pub(super) fn spend(&self, cost: u64) -> Option<u64> {
        // Relaxed: a number of its own. Units say nothing about other memory, and each is spent by one exchange.
        self.asked.fetch_add(cost, Ordering::Relaxed);
        let mut left = self.left.load(Ordering::Relaxed);
        loop {
            let next = left.checked_sub(cost)?;
            // Relaxed: as above.
            match self.left.compare_exchange(left, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(next),
                Err(found) => left = found,
            }
        }
    }

    pub(super) fn is_low(&self, left: u64) -> bool {
        // Relaxed: a hint.
        left < self.low.load(Ordering::Relaxed)
    }

    /// What Redis has refused, and is not worth asking again yet.
    pub(super) fn denied(&self, cost: u64) -> Option<Decision> {
        let denial = self.denial.load();
        let denial = denial.as_ref()?;
        if cost < denial.cost {
            return None;
        }
        let wait = denial.until.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero())?;
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // Relaxed: a number to look at.
        let left = self.left.load(Ordering::Relaxed);
        let decision = denial.decision;
        Some(Decision::denied(decision.limit(), left, ns(wait), ns(decision.reset_after())))
    }

    pub(super) fn refused(&self, cost: u64, decision: Decision) {
        // A wait beyond what a clock tells is asked for again.
        if let Some(until) = Instant::now().checked_add(decision.retry_after()) {
            self.denial.store(Some(Arc::new(Denial { cost, until, decision })));
        }
    }

    /// Units asked for each second, since units were last taken.
    pub(super) fn demand(&self, taken: &mut Taken) -> f64 {
        // Relaxed: a number to look at.
        let (now, asked) = (Instant::now(), self.asked.load(Ordering::Relaxed));
        let Some((before, asked_before)) = taken.last.replace((now, asked)) else { return 0.0 };
        let elapsed = (now - before).max(Duration::from_micros(100));
        asked.wrapping_sub(asked_before) as f64 / elapsed.as_secs_f64()
    }

    /// Adds units of a size that was taken.
    pub(super) fn add(&self, units: u64, size: u64, mark: Option<[u64; 2]>, taken: &mut Taken) {
        if let Some(mark) = mark {
            if taken.marks.len() == MARKS {
                taken.marks.remove(0);
            }
            taken.marks.push((size, mark));
        }
        // Relaxed: as `spend` says, and a hint.
        self.left.fetch_add(units, Ordering::Relaxed);
        self.low.store(size / 2, Ordering::Relaxed);
    }

    /// Whether nothing was asked for since this was last called.
    pub(super) fn is_idle(&self) -> bool {
        // Relaxed: numbers to look at, by one task.
        let asked = self.asked.load(Ordering::Relaxed);
        let before = self.looked.load(Ordering::Relaxed);
        self.looked.store(asked, Ordering::Relaxed);
        asked == before
    }

    /// Takes all that is left, by the marks under which it was taken: the oldest is spent first. What has no mark lapses.
    pub(super) fn empty(&self, taken: &mut Taken) -> Vec<(u64, [u64; 2])> {
        // Relaxed: as `spend` says.
        let mut left = self.left.load(Ordering::Relaxed);
        while let Err(found) = self.left.compare_exchange(left, 0, Ordering::Relaxed, Ordering::Relaxed) {
            left = found;
        }
        let mut parts = Vec::new();
        for (size, mark) in taken.marks.drain(..).rev() {
            let units = size.min(left);
            if units > 0 {
                parts.push((units, mark));
            }
            left -= units;
        }
        // From the front of the line on: what is given back before moves up what is behind it.
        parts.reverse();
        parts
    }
}
