//! The units of one key that this process has.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::cell::{Refusal, Refused};
use crate::decision::Decision;
use crate::sync::{AtomicU8, AtomicU64, Ordering};
use crate::time::duration_ns;

/// Of what was taken before: so many marks are known, the units of older ones lapse.
const MARKS: usize = 4;

/// A refusal is believed for this long at most, however long Redis says to wait: others give back what they do not use.
const REMEMBERED: Duration = Duration::from_secs(1);

/// The half of a word in which units are kept.
const LEFT: u64 = (1 << ASKED_AT) - 1;
const ASKED_AT: u32 = 32;

pub(super) struct Hand {
    key: Box<[u8]>,
    /// The key in Redis.
    name: Box<[u8]>,
    /// Units that are left, below; above, units that were asked for, allowed or not, which wrap: one exchange writes both.
    units: AtomicU64,
    /// When less is left, more is taken ahead of need: 0 while somebody does, and after a grant that was short, as Redis has no more.
    low: AtomicU64,
    /// Units that were asked for at the last look.
    looked: AtomicU64,
    /// Written by whoever holds `taken`.
    refusal: Refusal,
    /// 1 when the key has been forgotten: set by whoever holds `taken`. Nothing is added any more, and whoever waited for it takes another.
    gone: AtomicU8,
    /// Whoever takes units holds this.
    pub(super) taken: Arc<Mutex<Taken>>,
}

/// What was taken, for whoever takes next or gives back.
#[derive(Default)]
pub(super) struct Taken {
    /// When units were last taken, and what had been asked for by then.
    last: Option<(u64, u32)>,
    /// Sizes and marks, the newest last.
    marks: Vec<(u64, [u64; 2])>,
}

impl Hand {
    pub(super) fn new(key: &[u8], name: &[u8]) -> Self {
        let [units, low, looked] = [(); 3].map(|()| AtomicU64::new(0));
        let (refusal, gone) = (Refusal::new(), AtomicU8::new(0));
        Self { key: key.into(), name: name.into(), units, low, looked, refusal, gone, taken: Arc::default() }
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// Spends units, and says how many are left.
    pub(super) fn spend(&self, cost: u64) -> Option<u64> {
        // More than any hand has.
        let cost = u64::from(u32::try_from(cost).ok()?);
        let asked = cost << ASKED_AT;
        // Relaxed: a number of its own. Units say nothing about other memory, and each is spent by one exchange.
        let mut units = self.units.load(Ordering::Relaxed);
        loop {
            let Some(left) = (units & LEFT).checked_sub(cost) else {
                // Relaxed: as above.
                self.units.fetch_add(asked, Ordering::Relaxed);
                return None;
            };
            let next = (units & !LEFT).wrapping_add(asked) | left;
            // Relaxed: as above.
            match self.units.compare_exchange(units, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(left),
                Err(found) => units = found,
            }
        }
    }

    pub(super) fn left(&self) -> u64 {
        // Relaxed: a number to look at.
        self.units.load(Ordering::Relaxed) & LEFT
    }

    fn asked(&self) -> u32 {
        // Relaxed: a number to look at.
        (self.units.load(Ordering::Relaxed) >> ASKED_AT) as u32
    }

    pub(super) fn is_low(&self, left: u64) -> bool {
        // Relaxed: a hint.
        left < self.low.load(Ordering::Relaxed)
    }

    /// Below how many units more are to be taken; by whoever holds `taken`.
    pub(super) fn set_low(&self, low: u64) {
        // Relaxed: a hint.
        self.low.store(low, Ordering::Relaxed);
    }

    /// What Redis has refused of a limit, and is not worth asking again yet.
    pub(super) fn denied(&self, cost: u64, limit: u64, now_ns: impl FnOnce() -> u64) -> Option<Decision> {
        let refused = self.refusal.get().filter(|refused| cost >= refused.cost)?;
        let now_ns = now_ns();
        let after = |time_ns: u64| time_ns.saturating_sub(now_ns);
        let is_remembered = refused.until_ns > now_ns;
        is_remembered.then(|| {
            Decision::denied(limit, self.left(), after(refused.fits_at_ns), after(refused.idle_at_ns))
        })
    }

    /// By whoever holds `taken`.
    pub(super) fn refused(&self, cost: u64, decision: Decision, now_ns: u64) {
        let after = |time: Duration| now_ns.saturating_add(duration_ns(time));
        let (fits_at_ns, idle_at_ns) = (after(decision.retry_after()), after(decision.reset_after()));
        let until_ns = fits_at_ns.min(after(REMEMBERED));
        self.refusal.set(Refused { cost, until_ns, fits_at_ns, idle_at_ns });
    }

    /// By whoever holds `taken`.
    pub(super) fn forget_refusal(&self) {
        self.refusal.set(Refused { cost: 0, until_ns: 0, fits_at_ns: 0, idle_at_ns: 0 });
    }

    /// Units asked for each second, since units were last taken.
    pub(super) fn demand(&self, taken: &mut Taken, now_ns: u64) -> f64 {
        let asked = self.asked();
        let Some((before_ns, asked_before)) = taken.last.replace((now_ns, asked)) else { return 0.0 };
        let elapsed = Duration::from_nanos(now_ns.saturating_sub(before_ns)).max(Duration::from_micros(100));
        f64::from(asked.wrapping_sub(asked_before)) / elapsed.as_secs_f64()
    }

    /// Adds units of a size that was taken.
    pub(super) fn add(&self, units: u64, size: u64, mark: Option<[u64; 2]>, taken: &mut Taken) {
        if let Some(mark) = mark {
            if taken.marks.len() == MARKS {
                taken.marks.remove(0);
            }
            taken.marks.push((size, mark));
        }
        // Relaxed: as `spend` says. Less than half a word is ever left: see `Sizes`.
        self.units.fetch_add(units, Ordering::Relaxed);
    }

    /// Whether nothing was asked for since this was last called.
    pub(super) fn is_idle(&self) -> bool {
        let asked = u64::from(self.asked());
        // Relaxed: a number of one task.
        let before = self.looked.load(Ordering::Relaxed);
        self.looked.store(asked, Ordering::Relaxed);
        asked == before
    }

    /// Takes all that is left, by the marks under which it was taken: the oldest is spent first. What has no mark lapses.
    pub(super) fn empty(&self, taken: &mut Taken) -> Vec<(u64, [u64; 2])> {
        // Relaxed: as `spend` says.
        let mut units = self.units.load(Ordering::Relaxed);
        while let Err(found) =
            self.units.compare_exchange(units, units & !LEFT, Ordering::Relaxed, Ordering::Relaxed)
        {
            units = found;
        }
        let mut left = units & LEFT;
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

    /// By whoever holds `taken`, and has emptied it.
    pub(super) fn forget(&self) {
        // Relaxed: who holds `taken` next sees it by that; others only take a longer way.
        self.gone.store(1, Ordering::Relaxed);
    }

    pub(super) fn is_gone(&self) -> bool {
        // Relaxed: as in `forget`.
        self.gone.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand(units: u64) -> (Hand, Taken) {
        let (hand, mut taken) = (Hand::new(b"key", b"name"), Taken::default());
        hand.add(units, units, Some([units, 0]), &mut taken);
        (hand, taken)
    }

    #[test]
    fn units_are_spent_once_and_what_is_asked_for_does_not_touch_them() {
        let (hand, mut taken) = hand(10);
        assert_eq!(
            (hand.spend(4), hand.spend(7), hand.spend(u64::MAX), hand.spend(6)),
            (Some(6), None, None, Some(0))
        );
        // What is asked for wraps beyond its half, and units stay as they are.
        for _ in 0..3 {
            assert_eq!(hand.spend(u32::MAX.into()), None);
        }
        assert_eq!((hand.left(), hand.asked()), (0, 17_u32.wrapping_sub(3)));
        hand.add(2, 2, None, &mut taken);
        assert_eq!((hand.spend(2), hand.left()), (Some(0), 0));
    }

    #[test]
    fn demand_is_what_was_asked_for_since_the_last_grant() {
        let (hand, mut taken) = hand(1);
        assert_eq!(hand.demand(&mut taken, 0), 0.0);
        (0..50).for_each(|_| _ = hand.spend(2));
        assert_eq!(hand.demand(&mut taken, 500_000_000), 200.0);
        assert_eq!(hand.demand(&mut taken, 500_000_000), 0.0);
    }

    #[test]
    fn what_is_left_goes_back_by_the_newest_marks() {
        let (hand, mut taken) = hand(10);
        hand.add(5, 5, Some([15, 0]), &mut taken);
        hand.spend(8);
        assert_eq!(hand.empty(&mut taken), [(2, [10, 0]), (5, [15, 0])]);
        assert_eq!((hand.left(), hand.asked(), hand.empty(&mut taken).len()), (0, 8, 0));
    }

    #[test]
    fn a_refusal_holds_for_its_cost_and_time() {
        let (hand, _) = hand(0);
        let denied = |cost, now_ns| hand.denied(cost, 9, || now_ns);
        assert!(denied(5, 0).is_none());
        hand.refused(5, Decision::denied(9, 0, 100, 300), 1_000);
        assert!(denied(4, 1_000).is_none());
        assert_eq!(denied(5, 1_040), Some(Decision::denied(9, 0, 60, 260)));
        assert!(denied(5, 1_100).is_none());
        let hour_ns = 3_600_000_000_000;
        hand.refused(1, Decision::denied(9, 0, hour_ns, hour_ns), 0);
        assert_eq!(
            denied(1, 999_999_999).map(|decision| duration_ns(decision.retry_after())),
            Some(hour_ns - 999_999_999)
        );
        assert!(denied(1, 1_000_000_000).is_none(), "others may have given back");
    }
}
