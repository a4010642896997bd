//! How a figure comes about: short samples of a limiter and of its floor in turn, and the medians of both.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

/// Samples of which the median counts.
const ROUNDS: usize = 7;
/// Keys decided between two looks at the time: some microseconds at the least, and less than the system gives others when
/// it interrupts.
const CHUNK: usize = 1 << 12;

/// Decides on keys in one thread, and counts those allowed. The loop is inside, compiled together with what it calls.
pub(super) type Worker<'a> = Box<dyn FnMut(&[u64]) -> usize + 'a>;

/// Makes the worker of a thread, in that thread, so that what it writes is in a line of its own.
pub(super) type Workers<'a> = dyn Fn(usize) -> Worker<'a> + Sync + 'a;

/// A worker that decides one by one.
pub(super) fn one_by_one<'a>(mut decide: impl FnMut(&u64) -> bool + 'a) -> Worker<'a> {
    Box::new(move |keys| keys.iter().filter(|key| black_box(decide(black_box(key)))).count())
}

/// One row on so many threads.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) threads: usize,
    /// What a decision takes in one of the threads.
    pub(super) ns: f64,
    pub(super) floor_ns: f64,
    /// Of all decisions, which have been allowed.
    pub(super) allowed_share: f64,
}

impl Figure {
    /// Of all threads together.
    pub(super) fn per_second(&self) -> f64 {
        self.threads as f64 * 1e9 / self.ns
    }
}

/// Measures rows, each for the same time.
pub(super) struct Gauge<'p> {
    sample: Duration,
    threads: Vec<usize>,
    progress: &'p ProgressBar,
    figures: Vec<Figure>,
}

impl<'p> Gauge<'p> {
    /// For so many rows on each number of `threads`, in `total` time.
    pub(super) fn new(total: Duration, rows: usize, threads: Vec<usize>, progress: &'p ProgressBar) -> Self {
        let samples = 2 * ROUNDS * rows * threads.len();
        Self { sample: total.div_f64(samples as f64), threads, progress, figures: Vec::new() }
    }

    pub(super) fn threads_max(&self) -> usize {
        self.threads.iter().copied().max().unwrap_or(1)
    }

    pub(super) fn into_figures(self) -> Vec<Figure> {
        self.figures
    }

    /// Measures a row on each number of threads. The keys are whole chunks.
    pub(super) fn row(&mut self, name: &'static str, keys: &[u64], limiter: &Workers, floor: &Workers) {
        for &threads in &self.threads {
            self.progress.set_message(name);
            let [mut limiters, mut floors] = [Vec::new(), Vec::new()];
            for round in 0..ROUNDS {
                limiters.push(self.sample(keys, threads, round, limiter));
                floors.push(self.sample(keys, threads, round, floor));
            }
            let total = limiters.iter().fold(Calls::default(), |sum, sample| sum.and(sample.calls));
            self.figures.push(Figure {
                name,
                threads,
                ns: median(limiters.iter().map(|sample| sample.ns).collect()),
                floor_ns: median(floors.iter().map(|sample| sample.ns).collect()),
                allowed_share: total.allowed as f64 / total.made as f64,
            });
            self.progress.inc(1);
        }
    }

    /// Every thread has its own place in the sequence of keys, which also moves from round to round.
    fn sample(&self, keys: &[u64], threads: usize, round: usize, workers: &Workers) -> Sample {
        let chunks = keys.len().div_ceil(CHUNK);
        let barrier = Barrier::new(threads);
        let timed = |thread: usize| {
            let mut work = workers(thread);
            let first = chunks * thread / threads + chunks * round / ROUNDS;
            let (mut times_ns, mut calls) = (Vec::new(), Calls::default());
            barrier.wait();
            let start = Instant::now();
            let mut last = start;
            for chunk in keys.chunks(CHUNK).cycle().skip(first) {
                calls = calls.and(Calls { made: chunk.len(), allowed: work(chunk) });
                let now = Instant::now();
                times_ns.push((now - last).as_nanos() as f64 / chunk.len() as f64);
                if now - start >= self.sample {
                    break;
                }
                last = now;
            }
            (times_ns, calls)
        };
        let timed = &timed;
        let (times_ns, calls): (Vec<_>, Vec<_>) = thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|thread| scope.spawn(move || timed(thread))).collect();
            started.into_iter().map(|thread| thread.join().expect("nothing here panics")).unzip()
        });
        // Alone, most chunks are not interrupted, and those that are say nothing. Threads that are interrupted do not meet, and
        // their chunks would hide what meeting costs: there the whole time counts, and the rates add up.
        let typical_ns = if threads == 1 { median } else { mean };
        let per_ns: f64 = times_ns.into_iter().map(|times_ns| 1.0 / typical_ns(times_ns)).sum();
        Sample { ns: threads as f64 / per_ns, calls: calls.into_iter().fold(Calls::default(), Calls::and) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// What a decision took in one of the threads.
    ns: f64,
    calls: Calls,
}

#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    made: usize,
    allowed: usize,
}

impl Calls {
    fn and(self, more: Self) -> Self {
        Self { made: self.made + more.made, allowed: self.allowed + more.allowed }
    }
}

fn mean(times: Vec<f64>) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_time_does_not_count() {
        assert_eq!(median(vec![3.0, 900.0, 2.0]), 3.0);
    }

    #[test]
    fn every_key_is_asked_for_and_every_thread_starts_elsewhere() {
        let keys: Vec<u64> = (0..4 * CHUNK as u64).collect();
        let progress = ProgressBar::hidden();
        let mut gauge = Gauge::new(Duration::from_nanos(1), 1, vec![1, 2], &progress);
        let seen = std::sync::Mutex::new(Vec::new());
        let half = |_| -> Worker<'_> {
            Box::new(|keys: &[u64]| {
                seen.lock().unwrap().push(keys[0]);
                keys.len() / 2
            })
        };
        gauge.row("half", &keys, &half, &|_| one_by_one(|_| true));
        let figures = gauge.into_figures();
        assert_eq!(figures.iter().map(|figure| figure.threads).collect::<Vec<_>>(), [1, 2]);
        assert!(figures.iter().all(|figure| figure.allowed_share == 0.5 && figure.ns > 0.0));
        // A sample is one chunk, as its time is over at once.
        let mut seen = seen.into_inner().unwrap();
        assert_eq!(seen.len(), ROUNDS + 2 * ROUNDS);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [0, 1, 2, 3].map(|chunk| chunk * CHUNK as u64));
    }
}
