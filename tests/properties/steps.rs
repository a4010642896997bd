//! Contract 1 to 5 and 11, step by step: every answer is the model's, on a clock that does what it likes.

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::{DirectLimiter, MAX_NOW_NS, ManualClock, Verdict};

use super::oracle::{ALL, Admitted, Answer, Model, direct, in_a_table, model, on_manual_clock, worst_case};
use super::{Rate, any_origin, exact_rate, magnitude};

/// What the clock does before a call.
#[derive(Clone, Copy, Debug)]
enum Move {
    Stall,
    Ahead(u64),
    Back(u64),
    /// By so many thousandths of the period.
    Part(u64),
    /// To the time that the last refusal named.
    Wait,
    /// A nanosecond before that.
    AlmostWait,
    To(u64),
}

#[derive(Clone, Copy, Debug)]
enum Cost {
    Exactly(u64),
    /// So many sixteenths of a burst.
    Part(u64),
    Burst,
    AboveBurst,
}

fn any_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        3 => Just(Move::Stall),
        2 => magnitude(1, 1 << 60).prop_map(Move::Ahead),
        2 => magnitude(1, 1 << 60).prop_map(Move::Back),
        4 => (0..3_000_u64).prop_map(Move::Part),
        4 => Just(Move::Wait),
        2 => Just(Move::AlmostWait),
        1 => any_origin().prop_map(Move::To),
    ]
}

fn any_cost() -> impl Strategy<Value = Cost> {
    prop_oneof![
        1 => Just(Cost::Exactly(0)),
        4 => Just(Cost::Exactly(1)),
        1 => magnitude(1, u64::MAX).prop_map(Cost::Exactly),
        4 => (1..16_u64).prop_map(Cost::Part),
        2 => Just(Cost::Burst),
        1 => Just(Cost::AboveBurst),
        1 => Just(Cost::Exactly(u64::MAX)),
    ]
}

/// A clock and costs that follow the script.
struct Script {
    rate: Rate,
    now_ns: u64,
    /// The time that the last refusal named.
    ready_ns: u64,
}

impl Script {
    fn step(&mut self, to: Move) -> u64 {
        let part_ns = |part| (u128::from(self.rate.period_ns) * u128::from(part) / 1_000) as u64;
        self.now_ns = match to {
            Move::Stall => self.now_ns,
            Move::Ahead(ns) => self.now_ns.saturating_add(ns),
            Move::Back(ns) => self.now_ns.saturating_sub(ns),
            Move::Part(part) => self.now_ns.saturating_add(part_ns(part)),
            Move::Wait => self.ready_ns,
            Move::AlmostWait => self.ready_ns.saturating_sub(1),
            Move::To(ns) => ns,
        };
        self.now_ns
    }

    fn cost(&self, cost: Cost) -> u64 {
        match cost {
            Cost::Exactly(units) => units,
            Cost::Part(part) => (self.rate.burst / 16 * part).max(1),
            Cost::Burst => self.rate.burst,
            Cost::AboveBurst => self.rate.burst + 1,
        }
    }
}

/// Whatever the answer was, it says exactly what comes next.
fn the_answer_is_exact(
    limiter: &DirectLimiter<ManualClock>,
    model: &dyn Model,
    cost: u64,
    now_ns: u64,
    answer: Answer,
) -> Result<(), TestCaseError> {
    let peek = |cost, now_ns| limiter.peek_n_at(cost, now_ns);
    prop_assert!(peek(answer.remaining, now_ns).is_allowed());
    prop_assert!(peek(answer.remaining + 1, now_ns).is_denied());
    let read_ns = model.read(now_ns);
    match answer.verdict {
        Verdict::Denied => {
            prop_assert!(answer.retry_after_ns > 0);
            let ready_ns = u128::from(read_ns) + answer.retry_after_ns;
            if ready_ns <= u128::from(MAX_NOW_NS) {
                prop_assert!(peek(cost, ready_ns as u64).is_allowed());
                prop_assert!(peek(cost, ready_ns as u64 - 1).is_denied());
            }
        }
        Verdict::NeverFits => prop_assert!(cost > answer.limit && answer.retry_after_ns == 0),
        Verdict::Allowed => prop_assert!(answer.retry_after_ns == 0 && answer.taken == cost),
    }
    let fresh_ns = u128::from(read_ns) + answer.reset_after_ns;
    if fresh_ns <= u128::from(MAX_NOW_NS) {
        prop_assert_eq!(peek(0, fresh_ns as u64).remaining(), answer.limit);
        prop_assert!(peek(0, fresh_ns as u64).reset_after().is_zero());
        if answer.reset_after_ns > 0 {
            prop_assert!(!peek(0, fresh_ns as u64 - 1).reset_after().is_zero());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_answer_is_the_models(
        rate in exact_rate(),
        origin_ns in any_origin(),
        script in vec((any_move(), any_cost()), 1..60),
    ) {
        for algorithm in ALL {
            let mut rate = rate;
            let Some(quota) = rate.quota(algorithm) else { continue };
            let limiter = direct(algorithm, quota);
            let table = in_a_table(algorithm, quota, 1);
            let map = on_manual_clock::<u64>(algorithm, quota).build_map().unwrap();
            let mut model = model(algorithm, rate.limit, rate.period_ns, rate.burst);
            let mut admitted = Admitted::default();
            let mut clock = Script { rate, now_ns: origin_ns, ready_ns: origin_ns };
            for &(to, cost) in &script {
                let (now_ns, cost) = (clock.step(to), clock.cost(cost));
                let expected_before = model.peek(0, now_ns);
                prop_assert_eq!(Answer::from(limiter.peek_n_at(0, now_ns)), expected_before);
                prop_assert_eq!(Answer::from(limiter.peek_n_at(cost, now_ns)), model.peek(cost, now_ns));
                let read_ns = model.read(now_ns);
                let expected = model.check(cost, now_ns);
                let answer = Answer::from(limiter.check_n_at(cost, now_ns));
                prop_assert_eq!(answer, expected, "{} {:?} cost {} at {}", algorithm, rate, cost, now_ns);
                prop_assert_eq!(Answer::from(map.check_n_at(&7, cost, now_ns)), expected);
                if let Some(table) = &table {
                    prop_assert_eq!(Answer::from(table.check_n_at(&7, cost, now_ns)), expected);
                }
                the_answer_is_exact(&limiter, &*model, cost, now_ns, answer)?;
                if answer.taken > 0 {
                    admitted.push(read_ns, answer.taken);
                } else {
                    // Nothing was charged, and nobody waits longer.
                    prop_assert_eq!(Answer::from(limiter.peek_n_at(0, now_ns)), expected_before);
                }
                if answer.verdict == Verdict::Denied {
                    clock.ready_ns = (u128::from(read_ns) + answer.retry_after_ns) as u64;
                }
            }
            prop_assert!(
                admitted.most_in(rate.period_ns) <= worst_case(algorithm, rate.limit, rate.burst),
                "{} {:?}", algorithm, rate
            );
        }
    }

    /// Two limiters with one past: one is refused at will, and both have the same future.
    #[test]
    fn a_refusal_has_no_future(
        rate in exact_rate(),
        origin_ns in any_origin(),
        script in vec((any_move(), any_cost()), 1..40),
        refusals in vec((any_move(), any_cost()), 40),
    ) {
        for algorithm in ALL {
            let mut rate = rate;
            let Some(quota) = rate.quota(algorithm) else { continue };
            let (limiter, twin) = (direct(algorithm, quota), direct(algorithm, quota));
            let mut clock = Script { rate, now_ns: origin_ns, ready_ns: origin_ns };
            for (&(to, cost), &(aside, much)) in script.iter().zip(&refusals) {
                let (now_ns, cost) = (clock.step(to), clock.cost(cost));
                let mut elsewhere = Script { ..clock };
                let (aside_ns, much) = (elsewhere.step(aside), clock.cost(much));
                if limiter.peek_n_at(much, aside_ns).is_denied() {
                    prop_assert!(limiter.check_n_at(much, aside_ns).is_denied());
                }
                prop_assert_eq!(limiter.check_n_at(cost, now_ns), twin.check_n_at(cost, now_ns), "{}", algorithm);
            }
        }
    }

    /// A stale `now` is never looser than a fresh one.
    #[test]
    fn an_earlier_now_finds_no_more(
        rate in exact_rate(),
        script in vec((any_move(), any_cost()), 1..30),
        behind_ns in magnitude(1, 1 << 60),
    ) {
        for algorithm in ALL {
            let mut rate = rate;
            let Some(quota) = rate.quota(algorithm) else { continue };
            let limiter = direct(algorithm, quota);
            let mut clock = Script { rate, now_ns: 1 << 60, ready_ns: 1 << 60 };
            let mut latest_ns = 0;
            for &(to, cost) in &script {
                let now_ns = clock.step(to);
                if limiter.check_n_at(clock.cost(cost), now_ns).taken() > 0 {
                    latest_ns = now_ns.max(latest_ns);
                }
            }
            let fresh = limiter.peek_n_at(0, latest_ns);
            let stale = limiter.peek_n_at(0, latest_ns.saturating_sub(behind_ns));
            prop_assert!(stale.remaining() <= fresh.remaining(), "{} {:?}", algorithm, rate);
        }
    }
}
