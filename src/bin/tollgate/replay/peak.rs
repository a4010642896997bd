//! How much single keys ask for at their busiest: a hint for choosing a limit.

use std::cmp::min;

use rayon::prelude::*;

use super::Event;

/// The most that one key asks for in any window of `period_ns`, over all keys.
///
/// As in the limiter, a request at `t` counts in `(t - period, t]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peak {
    pub(crate) period_ns: u64,
    /// Half of the keys never ask for more.
    pub(crate) p50: u64,
    /// 99 of 100 keys never ask for more.
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

/// The peak of every key, summed up; there is at least one key.
pub(super) fn over_keys(events: &[Vec<Event>], period_ns: u64) -> Peak {
    let mut peaks: Vec<u64> = events.par_iter().map(|events| of_key(events, period_ns)).collect();
    peaks.par_sort_unstable();
    let percentile = |percent: usize| peaks[(peaks.len() * percent).div_ceil(100) - 1];
    Peak { period_ns, p50: percentile(50), p99: percentile(99), max: percentile(100) }
}

fn of_key(events: &[Event], period_ns: u64) -> u64 {
    if events.is_sorted_by_key(|event| event.time_ns) {
        return of_sorted(events, period_ns);
    }
    let mut sorted = events.to_vec();
    sorted.sort_unstable_by_key(|event| event.time_ns);
    of_sorted(&sorted, period_ns)
}

fn of_sorted(events: &[Event], period_ns: u64) -> u64 {
    let (mut first, mut sum, mut most) = (0, 0_u128, 0_u128);
    for event in events {
        sum += u128::from(event.cost);
        while event.time_ns - events[first].time_ns >= period_ns {
            sum -= u128::from(events[first].cost);
            first += 1;
        }
        most = most.max(sum);
    }
    min(most, u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(events: &[(u64, u64)]) -> Vec<Event> {
        events.iter().map(|&(time_ns, cost)| Event { time_ns, cost }).collect()
    }

    #[test]
    fn a_window_holds_what_is_younger_than_the_period() {
        assert_eq!(of_key(&at(&[(0, 1), (9, 1)]), 10), 2);
        assert_eq!(of_key(&at(&[(0, 1), (10, 1)]), 10), 1);
        assert_eq!(of_key(&at(&[(5, 1), (5, 1), (5, 1)]), 1), 3);
        assert_eq!(of_key(&at(&[(0, 7), (3, 0), (100, 5)]), 10), 7);
        assert_eq!(of_key(&at(&[(1, u64::MAX), (1, u64::MAX)]), 10), u64::MAX);
        assert_eq!(of_key(&at(&[(9, 1), (0, 1), (8, 1)]), 5), 2, "in any order");
    }

    #[test]
    fn percentiles_are_values_that_keys_reach() {
        let keys: Vec<_> = (1..=200).map(|cost| at(&[(0, cost)])).collect();
        assert_eq!(over_keys(&keys, 10), Peak { period_ns: 10, p50: 100, p99: 198, max: 200 });
        assert_eq!(over_keys(&keys[..1], 10), Peak { period_ns: 10, p50: 1, p99: 1, max: 1 });
        assert_eq!(over_keys(&keys[..3], 10), Peak { period_ns: 10, p50: 2, p99: 3, max: 3 });
    }

    proptest! {
        #[test]
        fn the_peak_is_that_of_every_window_tried(events in prop::collection::vec((0_u64..50, 0_u64..5), 1..40), period in 1_u64..20) {
            let slow = events
                .iter()
                .map(|&(end, _)| events.iter().filter(|e| e.0 <= end && e.0 + period > end).map(|e| e.1).sum::<u64>())
                .max();
            prop_assert_eq!(Some(of_key(&at(&events), period)), slow);
        }
    }
}
