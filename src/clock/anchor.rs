//! What the threads of a guarded clock share: where the fast source stood when it was last checked.
//!
//! A reading of the fast source is worth `raw + offset`, and is believed only if that lies in
//! `[mark, mark + WINDOW_NS]`, where `mark` is a time that the reference has confirmed. Otherwise the thread
//! anchors anew.
//!
//! The two words are published one after the other and read one after the other, so a reader may pair any
//! `mark` with any `offset`, old or new, of one writer or two. No pair does harm: the offset only proposes a time,
//! the mark alone admits it, and every mark that was ever stored was confirmed. What is believed is therefore
//! never before a confirmed time nor more than a window after one; a bad pair can only send a thread to the
//! reference once too often.

use crate::sync::{AtomicU64, Ordering};

/// How far time may run from the last confirmed time, about one millisecond.
pub(super) const WINDOW_NS: u64 = 1 << 20;

/// Written once per window at most, so it has cache lines of its own: nothing hot may take them from the readers.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Anchor {
    /// A time that the reference has reached. Never decreases.
    mark: AtomicU64,
    /// What to add to the fast source, wrapping.
    offset: AtomicU64,
}

impl Anchor {
    /// Reads the reference first, as [`set`](Self::set) does.
    pub(super) fn new(reference: impl FnOnce() -> u64, fast: impl FnOnce() -> u64) -> Self {
        let truth = reference();
        Self { mark: AtomicU64::new(truth), offset: AtomicU64::new(truth.wrapping_sub(fast())) }
    }

    /// The time at which the fast source reads `raw`, if it can be believed.
    #[inline]
    pub(super) fn time_of(&self, raw: u64) -> Option<u64> {
        // Relaxed: needs no partner, as any mark with any offset is harmless. A thread that learns of another's
        // reading sees at least that reading's mark, which coherence alone gives.
        let mark = self.mark.load(Ordering::Relaxed);
        // Relaxed: as above.
        let offset = self.offset.load(Ordering::Relaxed);
        within_window(mark, raw.wrapping_add(offset))
    }

    /// Confirms the time with the reference, publishes it, and returns it.
    ///
    /// The order matters where a thread is descheduled half-way. The mark comes first, so that it is later than the
    /// reference only if the reference stepped back, and not because another thread has confirmed a later
    /// time since. The fast source comes last, so that the delay makes the offset late and never early.
    pub(super) fn set(&self, reference: impl FnOnce() -> u64, fast: impl FnOnce() -> u64) -> u64 {
        // Acquire: pairs with the Release fetch_max below. The reading of the reference that became this mark
        // happens before the one that follows.
        let mark = self.mark.load(Ordering::Acquire);
        let truth = reference().max(mark);
        let offset = truth.wrapping_sub(fast());
        // Release: pairs with the Acquire load above, in the next thread to anchor. The maximum keeps a thread
        // that was descheduled since its load from moving the mark back.
        self.mark.fetch_max(truth, Ordering::Release);
        // Relaxed: needs no partner, see `time_of`. A stale offset stored here is refused or within the window.
        self.offset.store(offset, Ordering::Relaxed);
        truth
    }
}

/// `time`, if it is no earlier than `mark` and at most a window later.
#[inline]
const fn within_window(mark: u64, time: u64) -> Option<u64> {
    match time.checked_sub(mark) {
        Some(0..=WINDOW_NS) => Some(time),
        _ => None,
    }
}

/// `reference` is more than a window later than `time`.
pub(super) const fn is_stale(time: u64, reference: u64) -> bool {
    reference.saturating_sub(time) > WINDOW_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_closed_at_both_ends() {
        assert_eq!(within_window(100, 99), None);
        assert_eq!(within_window(100, 100), Some(100));
        assert_eq!(within_window(100, 100 + WINDOW_NS), Some(100 + WINDOW_NS));
        assert_eq!(within_window(100, 101 + WINDOW_NS), None);
    }

    #[test]
    fn the_window_does_not_wrap_at_the_end_of_time() {
        assert_eq!(within_window(u64::MAX - 1, 0), None);
        assert_eq!(within_window(u64::MAX - 1, u64::MAX), Some(u64::MAX));
        assert_eq!(within_window(0, u64::MAX), None);
    }

    #[test]
    fn stale_is_more_than_a_window() {
        assert!(!is_stale(100, 100 + WINDOW_NS));
        assert!(is_stale(100, 101 + WINDOW_NS));
        assert!(!is_stale(u64::MAX, 0));
    }

    #[test]
    fn a_torn_pair_is_within_the_window_or_refused() {
        let marks = [0, 1, 1_000, WINDOW_NS, u64::MAX - WINDOW_NS, u64::MAX];
        let words = [0, 1, 999, WINDOW_NS, WINDOW_NS + 1, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        for mark in marks {
            for offset in words {
                for raw in words {
                    let anchor = Anchor { mark: AtomicU64::new(mark), offset: AtomicU64::new(offset) };
                    if let Some(time) = anchor.time_of(raw) {
                        assert!(time >= mark && u128::from(time) <= u128::from(mark) + u128::from(WINDOW_NS));
                    }
                }
            }
        }
    }

    #[test]
    fn a_thread_descheduled_between_the_two_readings_makes_time_late() {
        let now = core::cell::Cell::new(5_000);
        let descheduled = || now.replace(now.get() + 300);
        let anchor = Anchor::new(descheduled, descheduled);
        assert_eq!(anchor.time_of(5_400), Some(5_100));
        now.set(9_000);
        assert_eq!(anchor.set(descheduled, descheduled), 9_000);
        assert_eq!(anchor.time_of(9_400), Some(9_100));
    }

    #[test]
    fn a_thread_overtaken_half_way_moves_neither_the_mark_back_nor_the_time_forward() {
        let anchor = Anchor::new(|| 0, || 0);
        let far = 10 * WINDOW_NS;
        let slow = anchor.set(
            || {
                anchor.set(|| far, || far);
                1_000
            },
            || far,
        );
        assert_eq!(slow, 1_000);
        // The slow thread's offset is a whole ten windows late, and the mark shows it.
        assert_eq!(anchor.time_of(far), None);
        assert_eq!(anchor.set(|| far + 5, || far + 5), far + 5);
        assert_eq!(anchor.time_of(far + 7), Some(far + 7));
    }

    #[test]
    fn a_reference_that_stepped_back_stands_at_the_mark() {
        let anchor = Anchor::new(|| 1_000, || 50);
        assert_eq!(anchor.set(|| 400, || 60), 1_000);
        assert_eq!(anchor.time_of(61), Some(1_001));
    }
}
