//! Contract 1: the worst case of each algorithm is reached by an adversary, and never passed.

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::DirectLimiter;

use super::oracle::{ARRIVAL, Admitted, NS_PER_S, direct, per, worst_case};
use super::{any_rate, build};

/// Asks for single units whenever the limiter says so, from `from_ns` on and before `until_ns`.
fn take_all<C>(limiter: &DirectLimiter<C>, from_ns: u64, until_ns: u64, admitted: &mut Admitted) {
    let mut now_ns = from_ns;
    while now_ns < until_ns {
        let decision = limiter.check_at(now_ns);
        admitted.push(now_ns, decision.taken());
        now_ns += decision.retry_after().as_nanos() as u64;
    }
}

#[test]
fn a_bucket_is_emptied_as_it_fills() {
    let quotas = [
        (10, NS_PER_S, 10),
        (10, NS_PER_S, 3),
        (3, 7 * NS_PER_S, 5),
        (7, NS_PER_S, 1),
        (29, 60 * NS_PER_S, 29),
        (93, NS_PER_S, 200),
        (3, 7, 2),
        (7, 9, 2),
        (1, 1, 1),
        (1_000, 1_001, 4),
        (1, 10 * 365 * 86_400 * NS_PER_S, 2),
    ];
    for algorithm in ARRIVAL {
        for (limit, period_ns, burst) in quotas {
            for start_ns in [0, 1, 1_234_567_890_123, 1_000_000_000_000_000_000] {
                let limiter = direct(algorithm, per(limit, period_ns).burst(burst));
                let mut admitted = Admitted::default();
                take_all(&limiter, start_ns, start_ns + 3 * period_ns, &mut admitted);
                let most = admitted.most_in(period_ns);
                assert_eq!(
                    most,
                    worst_case(algorithm, limit, burst),
                    "{limit} per {period_ns}, burst {burst}"
                );
            }
        }
    }
}

#[test]
fn a_window_is_filled_on_both_sides_of_its_boundary() {
    for (limit, period_ns) in [(10, NS_PER_S), (1, 60 * NS_PER_S), (3, 7), (1, 2)] {
        let limiter = direct("fixed_window", per(limit, period_ns));
        let mut admitted = Admitted::default();
        let boundary_ns = 1_000 * period_ns;
        take_all(&limiter, boundary_ns - 1, boundary_ns + period_ns, &mut admitted);
        assert_eq!(admitted.most_in(period_ns), worst_case("fixed_window", limit, limit));
    }
}

/// All of a window at its last instant, and in the next one, when almost nothing of it counts any more, all but one.
#[test]
fn a_counter_is_fooled_by_a_late_burst() {
    for (limit, period_ns) in [(10, NS_PER_S), (1, 60 * NS_PER_S), (60, 60 * NS_PER_S), (3, 97)] {
        let limiter = direct("sliding_window_counter", per(limit, period_ns));
        let mut admitted = Admitted::default();
        let boundary_ns = 1_000 * period_ns;
        take_all(&limiter, boundary_ns - 1, boundary_ns, &mut admitted);
        take_all(&limiter, boundary_ns, boundary_ns + 2 * period_ns, &mut admitted);
        assert_eq!(admitted.most_in(period_ns), worst_case("sliding_window_counter", limit, limit));
    }
}

/// Units as soon as there is one, and all that there is, now and then: the limit in the worst window, and no more.
#[test]
fn a_log_is_filled_in_every_window() {
    for (limit, period_ns) in [(10, NS_PER_S), (1, 60 * NS_PER_S), (3, 7), (700, 1_001)] {
        for start_ns in [0, 1_234_567_890_123] {
            let limiter = direct("sliding_window_log", per(limit, period_ns));
            let mut admitted = Admitted::default();
            for part in 0..12 {
                let from_ns = start_ns + part * period_ns / 3;
                // What is left of the third before, and then this one's as it comes.
                let all = limiter.peek_at(from_ns).remaining() / 2;
                admitted.push(from_ns, limiter.check_n_at(all, from_ns).taken());
                take_all(&limiter, from_ns + period_ns / 9, from_ns + period_ns / 3, &mut admitted);
            }
            let worst = worst_case("sliding_window_log", limit, limit);
            assert_eq!(admitted.most_in(period_ns), worst, "{limit} per {period_ns}");
        }
    }
}

/// A limit of one in a window of one period: the two neighbours are a nanosecond apart.
#[test]
fn an_offset_moves_the_boundary() {
    for algorithm in ["fixed_window", "sliding_window_counter"] {
        let limiter = DirectLimiter::builder(per(4, NS_PER_S))
            .algorithm(algorithm)
            .window_offset(std::time::Duration::from_millis(300))
            .build()
            .unwrap();
        assert_eq!(limiter.check_n_at(4, 5_299_999_999).remaining(), 0, "{algorithm}");
        let wait_ns = limiter.check_at(5_299_999_999).retry_after().as_nanos();
        let expected_ns = if algorithm == "fixed_window" { 1 } else { 1 + 250_000_000 };
        assert_eq!(wait_ns, expected_ns, "{algorithm}");
    }
}

/// How a clock moves that wants more than there is: around the ends of a window, forward and back.
fn around(period_ns: i64) -> impl Strategy<Value = i64> {
    let ends = [0, 1, period_ns / 2, period_ns - 1, period_ns, period_ns + 1];
    prop_oneof![prop::sample::select(ends.to_vec()), -2 * period_ns..period_ns]
}

proptest! {
    /// A log takes all that it says is left, at any time that anybody claims, and counts it no earlier than what it took
    /// before: never more than the limit in any window.
    #[test]
    fn no_clock_gets_more_out_of_a_log(
        limit in 1..40_u64,
        script in vec((around(1_000), 1..40_u64), 1..200),
    ) {
        let period_ns = 1_000;
        let limiter = direct("sliding_window_log", per(limit, period_ns));
        let (mut admitted, mut newest_ns, mut now_ns) = (Admitted::default(), 0, 5_000_i64);
        for (step_ns, cost) in script {
            now_ns = (now_ns + step_ns).max(0);
            for cost in [Some(cost), None] {
                let left = limiter.peek_at(now_ns as u64).remaining();
                let taken = limiter.check_n_at(cost.unwrap_or(left), now_ns as u64).taken();
                if taken > 0 {
                    newest_ns = newest_ns.max(now_ns as u64);
                    admitted.push(newest_ns, taken);
                }
            }
        }
        // All was taken at one time, at least.
        prop_assert_eq!(admitted.most_in(period_ns), worst_case("sliding_window_log", limit, limit));
    }

    /// All at once, and then a whole limit more a nanosecond before the first units stop counting: refused on any scale,
    /// for any phase of its ticks.
    #[test]
    fn a_full_burst_leaves_no_room_for_the_limit(rate in any_rate(), start_ns in 0..1_u64 << 60) {
        let burst = rate.burst.max(rate.limit);
        let Ok(limiter) = build("gcra", per(rate.limit, rate.period_ns).burst(burst)) else {
            return Err(TestCaseError::reject("the burst does not fit"));
        };
        prop_assert!(limiter.check_n_at(burst, start_ns).is_allowed());
        let last_ns = start_ns + rate.period_ns - 1;
        prop_assert!(limiter.peek_n_at(rate.limit, last_ns).is_denied());
        prop_assert!(limiter.peek_n_at(0, last_ns).remaining() < rate.limit);
    }
}
