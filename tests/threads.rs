//! Threads: together they admit what one thread would, and no charge is lost or made twice, whatever races.
//!
//! Nothing here measures time. What is asserted holds for every interleaving; the seeds and the amount of work are fixed.

mod oracle;

#[path = "threads/churn.rs"]
mod churn;
#[path = "threads/logs.rs"]
mod logs;
#[path = "threads/rounds.rs"]
mod rounds;
#[path = "threads/totals.rs"]
mod totals;

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::thread;

use tollgate::{Limiter, ManualClock, Map};

/// Keys with a log each.
pub(crate) type LogMap = Limiter<u64, ManualClock, Map<u64, BuildHasherDefault<DefaultHasher>>>;

/// Runs `work` on so many threads at once, and returns what each made.
pub(crate) fn on_threads<T: Send>(threads: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|id| scope.spawn(move || work(id))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
