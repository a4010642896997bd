//! Plans, debts, and reservations that overlap: each answer is true of the limiter that gave it.

use tollgate::store::Single;
use tollgate::{DirectLimiter, MAX_NOW_NS, ManualClock, Plan, Quota, Reservation, Verdict};

use crate::oracle::{Answer, direct};
use crate::script::{AnyRate, Clock, Op, Rate, Step, Units};

type Direct = DirectLimiter<ManualClock>;
type Held<'a> = Reservation<'a, ManualClock, Single>;

/// What was taken and kept, where units count for a time: at any time no more is left than these leave.
#[derive(Default)]
struct Kept {
    taken: Vec<(u64, u64)>,
    /// Given back by other ways, of which this knows nothing.
    is_void: bool,
}

impl Kept {
    fn live(&self, counts: impl Fn(u64) -> bool) -> u64 {
        self.taken.iter().filter(|&&(at_ns, _)| counts(at_ns)).map(|&(_, units)| units).sum()
    }
}

/// Under a plan, or the limiter's own quota.
fn peek(limiter: &Direct, plan: Option<&Plan>, cost: u64, now_ns: u64) -> Answer {
    match plan {
        Some(plan) => limiter.peek_n_with_at(cost, plan, now_ns),
        None => limiter.peek_n_at(cost, now_ns),
    }
    .into()
}

fn check(limiter: &Direct, plan: Option<&Plan>, cost: u64, now_ns: u64) -> Answer {
    match plan {
        Some(plan) => limiter.check_n_with_at(cost, plan, now_ns),
        None => limiter.check_n_at(cost, now_ns),
    }
    .into()
}

/// What a check of this cost would answer is what was meant; on a clock that goes forward, to the nanosecond.
fn is_true(limiter: &Direct, plan: Option<&Plan>, cost: u64, now_ns: u64, is_steady: bool) -> Answer {
    let answer = peek(limiter, plan, cost, now_ns);
    let verdict = |cost, now_ns| peek(limiter, plan, cost, now_ns).verdict;
    let here = peek(limiter, plan, 0, now_ns);
    assert_eq!(verdict(here.remaining, now_ns), Verdict::Allowed);
    if let Some(more) = here.remaining.checked_add(1) {
        assert_ne!(verdict(more, now_ns), Verdict::Allowed);
    }
    match answer.verdict {
        Verdict::Allowed => assert!(cost <= here.remaining && answer.remaining == here.remaining - cost),
        Verdict::NeverFits => assert!(cost > answer.limit && answer.retry_after_ns == 0),
        Verdict::Denied => {
            assert!(cost <= answer.limit && answer.retry_after_ns > 0);
            let ready_ns = u128::from(now_ns) + answer.retry_after_ns;
            if is_steady && ready_ns <= u128::from(MAX_NOW_NS) {
                assert_eq!(verdict(cost, ready_ns as u64), Verdict::Allowed);
                assert_eq!(verdict(cost, ready_ns as u64 - 1), Verdict::Denied);
            }
        }
    }
    answer
}

fn settle(held: Held<'_>, how: u8, actual: u64, now_ns: u64) -> u64 {
    let reserved = held.units();
    match how % 4 {
        0 => held.cancel_at(now_ns),
        1 => held.cancel(),
        _ => {
            held.commit_at(actual, now_ns);
            return actual.min(reserved);
        }
    }
    0
}

pub(crate) fn run(
    algorithm: &str,
    rate: Rate,
    quota: Quota,
    plans: [AnyRate; 2],
    mut clock: Clock,
    script: &[Step],
) {
    let limiter = direct(algorithm, quota);
    let plans: Vec<_> =
        plans.iter().filter_map(|plan| limiter.plan(plan.plan(algorithm, rate)).ok()).collect();
    let (mut kept, mut held) = (Kept::default(), Vec::<(Held<'_>, usize)>::new());
    for step in script {
        let now_ns = clock.step(step.to);
        let plan = match usize::from(step.key) % 3 {
            0 => None,
            index => plans.get(index - 1),
        };
        let burst = plan.and_then(|plan| plan.quota().rate()).map_or(rate.burst, |rate| rate.capacity());
        let units = |units: Units| units.of(burst);
        match step.op {
            Op::Check(cost) => {
                let expected = is_true(&limiter, plan, units(cost), now_ns, clock.is_steady());
                let answer = check(&limiter, plan, units(cost), now_ns);
                assert_eq!(answer.verdict, expected.verdict);
                assert_eq!(answer.remaining, expected.remaining);
                kept.taken.push((now_ns, answer.taken));
                clock.ready_ns = now_ns.saturating_add(answer.retry_after_ns.min(1 << 62) as u64);
            }
            Op::Peek(cost) => _ = is_true(&limiter, plan, units(cost), now_ns, clock.is_steady()),
            Op::Refund(of) => {
                match plan {
                    Some(plan) => limiter.refund_with_at(units(of), plan, now_ns),
                    None => limiter.refund_at(units(of), now_ns),
                }
                kept.is_void = true;
            }
            Op::Reset => {
                limiter.reset_at(now_ns);
                kept.is_void = true;
            }
            Op::Hold(of, _) => {
                let reserved = match plan {
                    Some(plan) => limiter.reserve_with_at(units(of), plan, now_ns),
                    None => limiter.reserve_at(units(of), now_ns),
                };
                if let Ok(reservation) = reserved {
                    held.push((reservation, kept.taken.len()));
                    kept.taken.push((now_ns, units(of)));
                }
            }
            Op::Settle(how, which, actual) if !held.is_empty() => {
                let (reservation, index) = held.remove(usize::from(which) % held.len());
                kept.taken[index].1 = settle(reservation, how, units(actual), now_ns);
            }
            Op::Settle(..) | Op::Forget => {}
        }
        let here = peek(&limiter, None, 0, now_ns);
        if !kept.is_void && clock.is_steady() && now_ns <= MAX_NOW_NS {
            let live = match algorithm {
                "sliding_window_log" => kept.live(|at_ns| now_ns - at_ns < rate.period_ns),
                "fixed_window" => kept.live(|at_ns| now_ns / rate.period_ns == at_ns / rate.period_ns),
                _ => 0,
            };
            assert!(here.remaining <= rate.limit.max(rate.burst).saturating_sub(live));
        }
    }
}
