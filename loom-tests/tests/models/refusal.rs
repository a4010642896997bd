//! A refusal that is kept: two that are written one after the other, beside readers.

use std::sync::Arc;

use loom_tests::{Bounds, explore_orders, run_threads};
use tollgate::model::Refusal;

/// At higher bounds, or none, it is as well, in minutes.
const ALL: Bounds = Bounds { counted: Some(2), free: Some(2), strong: Some(3) };

const FIRST: [u64; 4] = [1, 10, 100, 1_000];
const SECOND: [u64; 4] = [2, 20, 200, 2_000];

/// Readers find one of them or none, never parts of two, and none that is older than what they found before.
#[test]
fn two_refusals_beside_a_reader() {
    explore_orders("two_refusals_beside_a_reader", 2, ALL.now(), |order| {
        let shared = Arc::new(Refusal::new());
        let found = run_threads(order, &shared, |refusal, thread| {
            if thread == 0 {
                refusal.set(FIRST);
                refusal.set(SECOND);
                return vec![refusal.get()];
            }
            vec![refusal.get(), refusal.get()]
        });
        assert_eq!(found[0], [Some(SECOND)]);
        let costs: Vec<_> = found[1].iter().flatten().map(|refused| refused[0]).collect();
        assert!(found[1].iter().flatten().all(|&refused| [FIRST, SECOND].contains(&refused)), "{found:?}");
        assert!(costs.is_sorted(), "{found:?}");
    });
}
