//! The one place that runs loom, or shuttle.

use std::sync::Arc;

#[cfg(not(feature = "shuttle"))]
#[path = "explore/loom.rs"]
mod engine;
#[cfg(feature = "shuttle")]
#[path = "explore/shuttle.rs"]
mod engine;

/// How many preemptions each way of searching allows; `None` is any number.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// With every access counted, which makes all of them dependent.
    pub counted: Option<usize>,
    /// Without: loom prunes, and its hole is open.
    pub free: Option<usize>,
    /// Where loads read the newest value only.
    pub strong: Option<usize>,
}

impl Bounds {
    /// What most models of so many threads reach.
    pub const fn of(threads: usize) -> Self {
        if threads <= 2 {
            Self { counted: Some(2), free: Some(3), strong: Some(3) }
        } else {
            Self { counted: Some(0), free: Some(0), strong: Some(3) }
        }
    }

    /// The bound of this run: the model's, or the value of `TOLLGATE_BOUND` where that is lower.
    pub fn now(self) -> Option<usize> {
        let own = match way() {
            "counted" => self.counted,
            "free" => self.free,
            _ => self.strong,
        };
        let most = std::env::var("TOLLGATE_BOUND").ok();
        let most = most.map(|bound| bound.parse().expect("a number in TOLLGATE_BOUND"));
        own.into_iter().chain(most).min()
    }
}

pub use engine::explore;
use engine::{spawn, way};

/// Explores `body` for each order in which `count` threads are started: loom runs the first one first, and its hole depends
/// on that.
pub fn explore_orders(
    name: &str,
    count: usize,
    bound: Option<usize>,
    body: impl Fn(&[usize]) + Send + Sync + 'static,
) {
    let body = Arc::new(body);
    let starts = if way() == "free" { count } else { 1 };
    for start in 0..starts {
        let order: Vec<usize> = (0..count).map(|i| (start + i) % count).collect();
        let body = Arc::clone(&body);
        explore(&format!("{name} {order:?}"), bound, move || body(&order));
    }
}

/// Runs `work` once per thread of `order`, the first on this thread, and returns what they returned by thread number.
pub fn run_threads<S, T>(order: &[usize], shared: &Arc<S>, work: fn(&S, usize) -> T) -> Vec<T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let (&first, others) = order.split_first().expect("a model has threads");
    let spawned: Vec<_> = others
        .iter()
        .map(|&number| {
            let shared = Arc::clone(shared);
            (number, spawn(move || work(&shared, number)))
        })
        .collect();
    let mut results = vec![(first, work(shared, first))];
    results.extend(
        spawned.into_iter().map(|(number, handle)| (number, handle.join().expect("a thread of the model"))),
    );
    results.sort_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}
