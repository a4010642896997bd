//! Contract 6: a refund is exact, and a reset makes new, on any clock.

use proptest::collection::vec;
use proptest::prelude::*;

use super::oracle::{ALL, Answer, direct, model};
use super::{Rate, any_origin, exact_rate, magnitude};

#[derive(Clone, Copy, Debug)]
enum Op {
    /// So many sixteenths of a burst.
    Check(u64),
    Refund(u64),
    /// More than was ever taken.
    RefundAll,
    Reset,
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..=16_u64).prop_map(Op::Check),
        4 => (0..=16_u64).prop_map(Op::Refund),
        1 => Just(Op::RefundAll),
        1 => Just(Op::Reset),
    ]
}

/// Thousandths of a period, forward or back.
fn any_step() -> impl Strategy<Value = i64> {
    prop_oneof![3 => Just(0), 4 => 0..1_500_i64, 1 => -1_500..0_i64]
}

fn moved(now_ns: u64, thousandths: i64, rate: Rate) -> u64 {
    let by_ns = i128::from(rate.period_ns) * i128::from(thousandths) / 1_000;
    (i128::from(now_ns) + by_ns).clamp(0, u64::MAX.into()) as u64
}

proptest! {
    #[test]
    fn refunds_and_resets_are_the_models(
        rate in exact_rate(),
        origin_ns in any_origin(),
        script in vec((any_step(), any_op()), 1..60),
    ) {
        for algorithm in ALL {
            let mut rate = rate;
            let Some(quota) = rate.quota(algorithm) else { continue };
            let limiter = direct(algorithm, quota);
            let mut model = model(algorithm, rate.limit, rate.period_ns, rate.burst);
            let units = |sixteenths: u64| (rate.burst / 16 * sixteenths).max(sixteenths.min(rate.burst));
            let mut now_ns = origin_ns;
            for &(step, op) in &script {
                now_ns = moved(now_ns, step, rate);
                match op {
                    Op::Check(part) => {
                        let answer = Answer::from(limiter.check_n_at(units(part), now_ns));
                        prop_assert_eq!(answer, model.check(units(part), now_ns), "{} {:?}", algorithm, rate);
                    }
                    Op::Refund(part) => {
                        limiter.refund_at(units(part), now_ns);
                        model.refund(units(part), now_ns);
                    }
                    Op::RefundAll => {
                        limiter.refund_at(u64::MAX, now_ns);
                        model.refund(u64::MAX, now_ns);
                    }
                    Op::Reset => {
                        limiter.reset_at(now_ns);
                        model.reset(now_ns);
                    }
                }
                let here = Answer::from(limiter.peek_n_at(0, now_ns));
                prop_assert_eq!(here, model.peek(0, now_ns), "{} {:?} {:?} at {}", algorithm, rate, op, now_ns);
                prop_assert!(here.remaining <= rate.burst);
            }
        }
    }

    /// At the time of a charge its refund undoes it: the future is that of a limiter that was never charged.
    #[test]
    fn a_refund_at_once_undoes(
        rate in exact_rate(),
        before in vec((0..1_500_i64, 0..=16_u64), 0..10),
        after in vec((0..1_500_i64, 0..=16_u64), 1..10),
        units in magnitude(1, u64::from(u32::MAX)),
    ) {
        for algorithm in ALL {
            let mut rate = rate;
            let Some(quota) = rate.quota(algorithm) else { continue };
            let (limiter, twin) = (direct(algorithm, quota), direct(algorithm, quota));
            let part = |sixteenths| rate.burst / 16 * sixteenths;
            let mut now_ns = 1 << 60;
            for &(step, sixteenths) in &before {
                now_ns = moved(now_ns, step, rate);
                prop_assert_eq!(limiter.check_n_at(part(sixteenths), now_ns), twin.check_n_at(part(sixteenths), now_ns));
            }
            // A refusal takes 0, and giving 0 back changes nothing.
            let taken = limiter.check_n_at(units, now_ns).taken();
            limiter.refund_at(taken, now_ns);
            for &(step, sixteenths) in &after {
                prop_assert_eq!(limiter.peek_n_at(0, now_ns), twin.peek_n_at(0, now_ns), "{} {:?}", algorithm, rate);
                now_ns = moved(now_ns, step, rate);
                prop_assert_eq!(limiter.check_n_at(part(sixteenths), now_ns), twin.check_n_at(part(sixteenths), now_ns));
            }
        }
    }
}
