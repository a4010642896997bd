//! A limiter that is ready to be asked, and what a sample of it is.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::effort::{Effort, Sample, Samples};
use crate::processor::{self, Stopwatch, Used};

/// Keys decided between two looks at the time: some 100 µs.
const CHUNK: usize = 1 << 13;

/// Asks for one unit for each of some keys, and counts the admissions.
type Sweep<K> = Box<dyn Fn(&[K]) -> usize + Send + Sync>;

pub(crate) struct Contender<K> {
    pub(crate) name: String,
    /// The loop is inside, where it is compiled together with what it calls.
    sweep: Sweep<K>,
}

impl<K: Sync> Contender<K> {
    pub(crate) fn new(name: &str, check: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        let sweep = move |keys: &[K]| keys.iter().filter(|key| black_box(check(black_box(key)))).count();
        Self { name: name.to_owned(), sweep: Box::new(sweep) }
    }

    /// One that goes through keys in its own way.
    pub(crate) fn sweeping(name: &str, sweep: impl Fn(&[K]) -> usize + Send + Sync + 'static) -> Self {
        Self { name: name.to_owned(), sweep: Box::new(sweep) }
    }

    pub(crate) fn sweep(&self, keys: &[K]) -> usize {
        (self.sweep)(keys)
    }

    /// Asks for all of `keys`, and demands that all are admitted.
    #[must_use]
    pub(crate) fn warm(self, keys: &[K]) -> Self {
        assert_eq!(self.sweep(keys), keys.len(), "{}: admissions while it warmed up", self.name);
        self
    }

    /// Nanoseconds that a decision takes in each of `threads`. Every thread has its own place in the
    /// sequence, which also moves from round to round.
    fn sample(&self, keys: &[K], threads: usize, round: usize, sample: Duration) -> Sample<1> {
        let barrier = Barrier::new(threads);
        let timed = |thread: usize| {
            let mut from_key = (keys.len() / threads * thread + round * 8 * CHUNK) % keys.len();
            barrier.wait();
            let (watch, mut calls) = (Stopwatch::start(), 0);
            while watch.wall() < sample {
                let chunk = &keys[from_key..keys.len().min(from_key + CHUNK)];
                self.sweep(chunk);
                calls += chunk.len();
                from_key = (from_key + chunk.len()) % keys.len();
            }
            (calls as f64, watch.used())
        };
        let (calls, used): (Vec<_>, Vec<_>) = in_threads(threads, timed).into_iter().unzip();
        let per_ns = |(calls, used): (&f64, &Used)| calls / used.wall.as_nanos() as f64;
        let rate: f64 = calls.iter().zip(&used).map(per_ns).sum();
        Sample { values: [threads as f64 / rate], share: processor::share(&used) }
    }

    /// A quantile of the time of single calls in `threads`, in nanoseconds, for as long as `sample`.
    pub(crate) fn latency(&self, keys: &[K], threads: usize, quantile: f64, sample: Duration) -> Sample<1> {
        let barrier = Barrier::new(threads);
        let timed = |_| {
            let mut calls = histogram();
            barrier.wait();
            let watch = Stopwatch::start();
            while watch.wall() < sample {
                self.time_each(keys, &mut calls);
            }
            (calls, watch.used())
        };
        let (calls, used): (Vec<_>, Vec<_>) = in_threads(threads, timed).into_iter().unzip();
        let mut all = histogram();
        calls.iter().for_each(|calls| all.add(calls).unwrap());
        Sample { values: [all.value_at_quantile(quantile) as f64], share: processor::share(&used) }
    }

    /// The time of every single call.
    pub(crate) fn time_each(&self, keys: &[K], calls: &mut Histogram<u64>) {
        let clock = quanta::Clock::new();
        for key in keys.chunks(1) {
            let start = clock.raw();
            self.sweep(key);
            calls.record(clock.delta_as_nanos(start, clock.raw())).unwrap();
        }
    }
}

/// Nanoseconds per decision of all `contenders`, with as many threads for each as is said.
pub(crate) fn compare<K: Sync>(
    effort: &Effort,
    keys: &[K],
    contenders: &[(&Contender<K>, usize)],
) -> Vec<Samples> {
    let names: Vec<_> = contenders.iter().map(|(contender, _)| contender.name.clone()).collect();
    let mut figures = effort.interleave(&names, |contender, round| {
        let (contender, threads) = contenders[contender];
        effort.undisturbed(|| contender.sample(keys, threads, round, effort.sample()))
    });
    figures.remove(0)
}

/// The same with one number of threads for all.
pub(crate) fn compare_all<K: Sync>(
    effort: &Effort,
    keys: &[K],
    contenders: &[Contender<K>],
    threads: usize,
) -> Vec<Samples> {
    compare(effort, keys, &contenders.iter().map(|contender| (contender, threads)).collect::<Vec<_>>())
}

/// Of any size, to three digits.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new(3).unwrap()
}

fn in_threads<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
