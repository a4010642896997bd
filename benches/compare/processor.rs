//! How much of the processors a measurement was given, on a machine that others use too.

use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// What is lost to others when nobody else computes: interrupts and the odd daemon.
pub(crate) const UNDISTURBED: f64 = 0.95;

/// Measures one thread: the one that starts it must read it.
pub(crate) struct Stopwatch {
    wall: Instant,
    processor: Duration,
}

/// What a thread used.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    pub(crate) wall: Duration,
    processor: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), processor: processor_time() }
    }

    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    pub(crate) fn used(&self) -> Used {
        Used { wall: self.wall(), processor: processor_time() - self.processor }
    }
}

/// Of all that so many threads could have used at once, the share that they were given. `None` when there
/// are more of them than processors: then they take time from each other.
pub(crate) fn share(threads: &[Used]) -> Option<f64> {
    if threads.len() > thread::available_parallelism().map_or(1, usize::from) {
        return None;
    }
    let wall: Duration = threads.iter().map(|used| used.wall).sum();
    let processor: Duration = threads.iter().map(|used| used.processor).sum();
    Some(processor.as_secs_f64() / wall.as_secs_f64())
}

fn processor_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}
