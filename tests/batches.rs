//! Many keys in one call: as if they were asked one by one at one time.

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;
use tollgate::store::{Lookup, Store};
use tollgate::{Clock, Decision, Limiter, ManualClock, Overflow, Quota};

const S: u64 = 1_000_000_000;
const ALL: [&str; 6] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter", "sliding_window_log"];

fn builder(algorithm: &str) -> tollgate::LimiterBuilder<u64, ManualClock> {
    let quota = Quota::new(7, Duration::from_secs(1));
    Limiter::<u64>::builder(quota)
        .algorithm(algorithm)
        .capacity(64)
        .overflow(Overflow::Deny)
        .clock(ManualClock::new(S))
}

/// Asks two limiters that are alike, one of them in batches.
fn is_one_by_one<S: Store + Lookup<u64>>(
    limiters: [Limiter<u64, ManualClock, S>; 2],
    batches: &[Vec<(u64, u64)>],
) -> Result<(), TestCaseError> {
    let [single, many] = limiters;
    let mut decisions = Vec::new();
    for batch in batches {
        let expected: Vec<Decision> = batch.iter().map(|(key, cost)| single.check_n(key, *cost)).collect();
        decisions.clear();
        many.check_many_n(batch.iter().map(|(key, cost)| (key, *cost)), &mut decisions);
        prop_assert_eq!(&decisions, &expected);
        single.clock().advance(Duration::from_millis(40));
        many.clock().advance(Duration::from_millis(40));
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_batch_answers_what_single_checks_answer(
        batches in prop::collection::vec(prop::collection::vec((0..40_u64, 0..9_u64), 0..100), 1..8),
    ) {
        for algorithm in ALL {
            if algorithm != "sliding_window_log" {
                // More keys than the table has room for: both tables choose alike, as they hash alike.
                let hasher = tollgate::store::KeyHasher::default();
                let table = || builder(algorithm).hasher(hasher.clone()).build().unwrap();
                is_one_by_one([table(), table()], &batches)?;
            }
            let map = || builder(algorithm).build_map().unwrap();
            is_one_by_one([map(), map()], &batches)?;
        }
    }
}

#[test]
fn batches_of_every_length_are_decided_whole() {
    for length in (0..=70).chain([1_000]) {
        let limiter =
            Limiter::<u64>::builder(Quota::per_second(1)).clock(ManualClock::new(S)).build().unwrap();
        let keys: Vec<u64> = (0..length).collect();
        let mut decisions = vec![];
        limiter.check_many(&keys, &mut decisions);
        assert_eq!(decisions.len() as u64, length);
        assert!(decisions.iter().all(Decision::is_allowed));
        // They are appended.
        limiter.check_many(&keys, &mut decisions);
        assert_eq!(decisions.len() as u64, 2 * length);
        assert!(decisions[length as usize..].iter().all(Decision::is_denied));
    }
}

#[test]
fn the_clock_is_read_once() {
    #[derive(Default)]
    struct Counted(Cell<u64>);
    impl Clock for Counted {
        fn now_ns(&self) -> u64 {
            self.0.set(self.0.get() + 1);
            S
        }
    }
    let limiter = Limiter::<str>::builder(Quota::per_second(1)).clock(Counted::default()).build().unwrap();
    let keys: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    let mut decisions = Vec::with_capacity(100);
    let before = limiter.clock().0.get();
    limiter.check_many(keys.iter().map(String::as_str), &mut decisions);
    assert_eq!((decisions.len(), decisions.capacity(), limiter.clock().0.get() - before), (100, 100, 1));
}

#[test]
fn a_time_of_ones_own_is_kept() {
    let limiter = Limiter::<u64>::builder(Quota::per_second(1)).clock(ManualClock::new(0)).build().unwrap();
    let mut decisions = vec![];
    limiter.check_many_at(&[1, 2, 1], 5 * S, &mut decisions);
    limiter.check_many_n_at([(&1, 1), (&2, 2), (&3, 0)], 6 * S, &mut decisions);
    let allowed: Vec<bool> = decisions.iter().map(Decision::is_allowed).collect();
    assert_eq!(allowed, [true, true, false, true, false, true]);
}

/// As of a channel, that may have more later.
#[test]
fn a_batch_ends_where_its_iterator_says_so_first() {
    let limiter = Limiter::<u64>::builder(Quota::per_second(5)).clock(ManualClock::new(S)).build().unwrap();
    let mut turns = [Some(&1), None, Some(&2)].into_iter();
    let mut decisions = vec![];
    limiter.check_many(std::iter::from_fn(|| turns.next().flatten()), &mut decisions);
    assert_eq!(decisions.len(), 1);
}
