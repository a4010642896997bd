//! Every interleaving within a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub(super) use loom::thread::spawn;

/// How this process searches.
pub(super) fn way() -> &'static str {
    match (tollgate::model::is_counted(), tollgate::model::is_strong()) {
        (true, false) => "counted",
        (false, false) => "free",
        (false, true) => "strong",
        (true, true) => panic!("TOLLGATE_TICK and TOLLGATE_STRONG exclude each other"),
    }
}

/// Runs `body` under every interleaving within `bound`, and prints how many there were.
///
/// loom's own limits on time and number, which end a search as if it were complete, are switched off: this returns only
/// when the search is complete.
pub fn explore(name: &str, bound: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 50_000;
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.checkpoint_file = None;
    let iterations = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&iterations);
    println!("{name:<32} STARTED");
    let start = Instant::now();
    builder.check(move || {
        // Relaxed: read when the search is over. Not loom's: it is not part of the model.
        counter.fetch_add(1, Ordering::Relaxed);
        body();
    });
    let way = way();
    let bound = bound.map_or_else(|| "any".to_owned(), |bound| bound.to_string());
    let (iterations, seconds) = (iterations.load(Ordering::Relaxed), start.elapsed().as_secs_f64());
    println!("{name:<32} {way:<8} bound {bound:<4} {iterations:>9} iterations {seconds:>7.1} s COMPLETED");
}
