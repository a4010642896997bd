//! The canary: the harness sees what loom alone does not.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use loom_tests::{explore, run_threads};
use tollgate::model::{Word, is_counted, is_strong};

/// What a reader sees of a word that another thread loads and then writes, which loom 0.7 gets wrong (its issues 166 and
/// 392): where the reader runs first, it never tries the write before the read.
fn seen(order: Vec<usize>) -> BTreeSet<u64> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let record = Arc::clone(&seen);
    explore(&format!("canary {order:?}"), None, move || {
        let word = Arc::new(Word::new(0));
        let results = run_threads(&order, &word, |word, thread| {
            let found = word.load();
            if thread == 1 {
                word.store(found + 1);
            }
            found
        });
        record.lock().expect("no panic inside").insert(results[0]);
    });
    let seen = seen.lock().expect("no panic inside");
    seen.clone()
}

const BOTH: [u64; 2] = [0, 1];

#[test]
fn the_counter_closes_the_hole_in_either_order() {
    let in_turn = [seen(vec![0, 1]), seen(vec![1, 0])];
    if is_counted() || is_strong() {
        assert!(in_turn.iter().all(|seen| seen.iter().eq(&BOTH)), "{in_turn:?}");
    } else {
        assert!(
            in_turn.iter().any(|seen| !seen.iter().eq(&BOTH)),
            "loom is mended, the counter can go: {in_turn:?}"
        );
    }
}

#[test]
fn the_rotations_together_see_both() {
    let in_turn: BTreeSet<u64> = [vec![0, 1], vec![1, 0]].into_iter().flat_map(seen).collect();
    assert!(in_turn.iter().eq(&BOTH), "{in_turn:?}");
}
