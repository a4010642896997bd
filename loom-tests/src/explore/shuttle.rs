//! Many interleavings at random, of models of any size.

use std::sync::Arc;
use std::time::Instant;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
pub(super) use shuttle::thread::spawn;
use shuttle::{Config, Runner};

/// Preemptions that the second scheduler places.
const DEPTH: usize = 4;

/// How this process searches.
pub(super) const fn way() -> &'static str {
    "shuttle"
}

fn number(variable: &str, default: u64) -> u64 {
    let value = std::env::var(variable).ok();
    value.map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("a number in {variable}")))
}

/// Runs `body` under `TOLLGATE_ITERATIONS` (20 000) schedules from `TOLLGATE_SEED` (1): half of them switch threads anywhere,
/// half at a few places only. Bounds are loom's.
pub fn explore(name: &str, _: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let (seed, half) = (number("TOLLGATE_SEED", 1), number("TOLLGATE_ITERATIONS", 20_000) as usize / 2);
    let body = Arc::new(body);
    println!("{name:<32} STARTED");
    let start = Instant::now();
    let run = |scheduler: Box<dyn Scheduler + Send>| {
        let mut config = Config::new();
        config.silence_warnings = true;
        let body = Arc::clone(&body);
        Runner::new(scheduler, config).run(move || body())
    };
    let random = run(Box::new(RandomScheduler::new_from_seed(seed, half)));
    let few = run(Box::new(PctScheduler::new_from_seed(seed, DEPTH, half)));
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:<32} shuttle  seed {seed:<5} {:>9} iterations {seconds:>7.1} s COMPLETED", random + few);
}
