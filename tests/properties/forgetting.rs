//! Contract 7: forgetting a key never changes a decision. Tables with room for the live keys only, and a map that is evicted
//! all the time, against a model of each key that forgets nothing.

use std::collections::HashMap;

use super::oracle::{
    ALL, Answer, Dice, Model, NS_PER_S, TABLE_ALGORITHMS, in_a_table, model, on_manual_clock, per,
};

/// Calls of 200 keys, of which some dozens are live at a time, as dense around the ends of windows as elsewhere.
fn trace(seed: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let mut dice = Dice::new(seed);
    let mut now_ns = 0;
    std::iter::repeat_with(move || {
        now_ns += match dice.below(40) {
            0 => NS_PER_S - now_ns % NS_PER_S,
            1 => (NS_PER_S - 1).saturating_sub(now_ns % NS_PER_S),
            2 => dice.below(2 * NS_PER_S),
            _ => dice.below(NS_PER_S / 20),
        };
        // Some keys often, most now and then.
        let key = if dice.below(3) == 0 { dice.below(5) } else { dice.below(200) };
        (key, 1 + dice.below(3), now_ns)
    })
}

#[test]
fn a_forgotten_key_answers_as_one_that_was_kept() {
    for algorithm in ALL {
        for seed in 0..4 {
            let quota = per(3, NS_PER_S);
            let table = in_a_table(algorithm, quota, 90);
            let map = on_manual_clock::<u64>(algorithm, quota).build_map().unwrap();
            let mut models: HashMap<u64, Box<dyn Model>> = HashMap::new();
            let mut evicted = 0;
            for (i, (key, cost, now_ns)) in trace(seed).take(4_000).enumerate() {
                let model = models.entry(key).or_insert_with(|| model(algorithm, 3, NS_PER_S, 3));
                let expected = model.check(cost, now_ns);
                let what = format!("{algorithm}, seed {seed}, call {i}");
                if let Some(table) = &table {
                    assert_eq!(Answer::from(table.check_n_at(&key, cost, now_ns)), expected, "table, {what}");
                }
                assert_eq!(Answer::from(map.check_n_at(&key, cost, now_ns)), expected, "map, {what}");
                if i % 5 == 0 {
                    map.clock().set(now_ns);
                    evicted += map.evict_idle();
                }
            }
            let overflowed = table.map_or(0, |table| table.overflowed());
            assert_eq!(overflowed, 0, "{algorithm}: the table was too small for its live keys");
            // More keys than slots have passed through, and most calls met a key that had been forgotten.
            assert!(models.len() > 190 && evicted > 500, "{algorithm}: {evicted} evicted");
        }
    }
}

/// Times of a charge, and its units.
const CHARGES: [(u64, u64); 3] = [(0, 3), (NS_PER_S - 1, 1), (NS_PER_S / 2, 3)];

/// At the last instant before it is idle a key is kept, whoever comes; at the first it may go, and nobody can tell.
#[test]
fn a_key_is_kept_until_it_is_idle() {
    for algorithm in TABLE_ALGORITHMS {
        let quota = per(3, NS_PER_S);
        for (taken_ns, cost) in CHARGES {
            let lone = model_after(algorithm, taken_ns, cost);
            let idle_ns = taken_ns + lone.peek(0, taken_ns).reset_after_ns as u64;
            for now_ns in [taken_ns, (taken_ns + idle_ns) / 2, idle_ns - 1, idle_ns, idle_ns + 1] {
                let table = in_a_table(algorithm, quota, 3).unwrap();
                assert!(table.check_n_at(&0, cost, taken_ns).is_allowed());
                // Enough to take every slot that can be taken.
                for other in 1..30 {
                    let _ = table.check_at(&other, now_ns);
                }
                let expected = lone.peek(3, now_ns);
                if now_ns < idle_ns {
                    assert_eq!(
                        Answer::from(table.check_n_at(&0, 3, now_ns)),
                        expected,
                        "{algorithm} at {now_ns}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_key_is_evicted_as_soon_as_it_is_idle() {
    for algorithm in ALL {
        for (taken_ns, cost) in CHARGES {
            let lone = model_after(algorithm, taken_ns, cost);
            let idle_ns = taken_ns + lone.peek(0, taken_ns).reset_after_ns as u64;
            let map = on_manual_clock::<u64>(algorithm, per(3, NS_PER_S)).build_map().unwrap();
            assert!(map.check_n_at(&0, cost, taken_ns).is_allowed());
            for now_ns in [taken_ns, (taken_ns + idle_ns) / 2, idle_ns - 1] {
                assert_eq!(
                    (map.evict_idle_at(now_ns), map.len_at(now_ns)),
                    (0, 1),
                    "{algorithm} at {now_ns}"
                );
            }
            assert_eq!((map.len_at(idle_ns), map.evict_idle_at(idle_ns)), (0, 1), "{algorithm}");
        }
    }
}

fn model_after(algorithm: &str, taken_ns: u64, cost: u64) -> Box<dyn Model> {
    let mut model = model(algorithm, 3, NS_PER_S, 3);
    assert_eq!(model.check(cost, taken_ns).taken, cost);
    model
}
