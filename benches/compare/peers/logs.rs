//! What one writes by hand for an exact log: the times of the calls, in a queue behind a mutex.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ahash::RandomState;
use dashmap::DashMap;
use tollgate::Clock;

use super::clocks::Fine;
use crate::contender::Contender;

/// A time that moves on by one step for each call, for a single thread.
pub(crate) struct Steps {
    now_ns: AtomicU64,
    step_ns: u64,
}

impl Steps {
    pub(crate) fn of(step: Duration) -> Self {
        Self { now_ns: AtomicU64::new(0), step_ns: step.as_nanos() as u64 }
    }

    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        let now_ns = self.now_ns.load(Ordering::Relaxed) + self.step_ns;
        self.now_ns.store(now_ns, Ordering::Relaxed);
        now_ns
    }
}

/// One log. The clock is read under the lock, or the times would be out of order and the limit not exact.
#[derive(Default)]
struct Log(Mutex<VecDeque<u64>>);

/// How many calls in how long.
#[derive(Clone, Copy)]
struct Window {
    limit: u64,
    period_ns: u64,
}

impl Window {
    fn new(limit: NonZeroU64, period: Duration) -> Self {
        Self { limit: limit.get(), period_ns: period.as_nanos() as u64 }
    }

    #[inline]
    fn take(self, log: &Log, cost: u64, now_ns: impl FnOnce() -> u64) -> bool {
        let mut times = log.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = now_ns();
        while times.front().is_some_and(|&time_ns| time_ns + self.period_ns <= now_ns) {
            times.pop_front();
        }
        let fits = times.len() as u64 + cost <= self.limit;
        if fits {
            (0..cost).for_each(|_| times.push_back(now_ns));
        }
        fits
    }
}

const NAME: &str = "queues in dashmap";

fn keyed(
    limit: NonZeroU64,
    period: Duration,
    now_ns: impl Fn() -> u64 + Send + Sync + 'static,
) -> Contender<u64> {
    let window = Window::new(limit, period);
    let map = DashMap::<u64, Log, RandomState>::default();
    Contender::new(NAME, move |key| match map.get(key) {
        Some(log) => window.take(&log, 1, &now_ns),
        None => window.take(&map.entry(*key).or_default().downgrade(), 1, &now_ns),
    })
}

/// By key, at the counter's time.
pub(crate) fn deque_keyed(limit: NonZeroU64, period: Duration) -> Contender<u64> {
    let clock = Fine::new();
    keyed(limit, period, move || clock.now_ns())
}

/// By key, at a time that each call moves on.
pub(crate) fn deque_keyed_at(limit: NonZeroU64, period: Duration, steps: Steps) -> Contender<u64> {
    keyed(limit, period, move || steps.next_ns())
}

/// Without keys, full; each call is of `cost`.
pub(crate) fn deque_direct(name: &str, limit: NonZeroU64, period: Duration, cost: u64) -> Contender<u64> {
    let (window, log, clock) = (Window::new(limit, period), Log::default(), Fine::new());
    (0..limit.get()).for_each(|_| assert!(window.take(&log, 1, || clock.now_ns())));
    Contender::new(name, move |_| window.take(&log, cost, || clock.now_ns()))
}
