//! Contract 6: a reservation is committed at its actual cost or cancelled, exactly.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::store::{Lookup, Single, Store};
use tollgate::{Limiter, ManualClock, Quota, Reservation, Verdict};

use super::oracle::{
    ALL, ARRIVAL, Answer, Bucket, Counter, Fixed, Log, Model, direct, in_a_table, on_manual_clock, per,
};
use super::{Rate, build, exact_rate};

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Sixteenths of a burst.
    Check(u64),
    Reserve(u64),
    /// The oldest or the newest reservation, at an actual cost in sixteenths of a burst.
    Commit(bool, u64),
    Cancel(bool),
    Refund(u64),
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..=16_u64).prop_map(Op::Check),
        4 => (1..=17_u64).prop_map(Op::Reserve),
        2 => (any::<bool>(), 0..=20_u64).prop_map(|(oldest, part)| Op::Commit(oldest, part)),
        2 => any::<bool>().prop_map(Op::Cancel),
        1 => (0..=16_u64).prop_map(Op::Refund),
    ]
}

/// Rates of which sixty full bursts on top of each other fit a word.
fn rate_with_room_for_debts() -> impl Strategy<Value = Rate> {
    exact_rate().prop_filter("a period too long for sixty of it", |rate| rate.period_ns < 1 << 52).prop_map(
        |rate| {
            let most = (1 << 51) / rate.period_ns.div_ceil(rate.limit);
            Rate { burst: rate.burst.min(most).max(1), ..rate }
        },
    )
}

/// Something that can hold units, and its model's way to account for them.
trait Book: Model {
    type Stamp: Copy + std::fmt::Debug;
    fn reserve(&mut self, units: u64, now_ns: u64) -> Result<(u128, Self::Stamp), Answer>;
    fn give_back(&mut self, units: u64, stamp: Self::Stamp, now_ns: u64);
    fn charge(&mut self, units: u64, now_ns: u64);
}

impl Book for Bucket {
    type Stamp = super::oracle::Stamp;
    fn reserve(&mut self, units: u64, now_ns: u64) -> Result<(u128, Self::Stamp), Answer> {
        match self.peek(units, now_ns) {
            refusal if refusal.verdict == Verdict::NeverFits => Err(refusal),
            _ => Ok(self.take_in_advance(units, now_ns)),
        }
    }
    fn give_back(&mut self, units: u64, stamp: Self::Stamp, now_ns: u64) {
        self.give_back(units, stamp, now_ns);
    }
    fn charge(&mut self, units: u64, now_ns: u64) {
        let _ = self.take_in_advance(units, now_ns);
    }
}

/// A window holds nothing in advance; its stamp is the time.
macro_rules! window_book {
    ($model:ty) => {
        impl Book for $model {
            type Stamp = u64;
            fn reserve(&mut self, units: u64, now_ns: u64) -> Result<(u128, u64), Answer> {
                let answer = self.check(units, now_ns);
                if answer.verdict == Verdict::Allowed { Ok((0, now_ns)) } else { Err(answer) }
            }
            fn give_back(&mut self, units: u64, stamp: u64, now_ns: u64) {
                self.give_back(units, stamp, now_ns);
            }
            fn charge(&mut self, units: u64, now_ns: u64) {
                self.charge(units, now_ns);
            }
        }
    };
}
window_book!(Fixed);
window_book!(Counter);

/// The stamp is the time at which the units count.
impl Book for Log {
    type Stamp = u64;
    fn reserve(&mut self, units: u64, now_ns: u64) -> Result<(u128, u64), Answer> {
        let answer = self.check(units, now_ns);
        if answer.verdict == Verdict::Allowed { Ok((0, self.read(now_ns))) } else { Err(answer) }
    }
    fn give_back(&mut self, units: u64, stamp: u64, now_ns: u64) {
        let _ = self.give_back(units, Some(stamp), now_ns);
    }
    fn charge(&mut self, units: u64, now_ns: u64) {
        self.charge(units, now_ns);
    }
}

/// Runs a script on a limiter by key and on a book, and compares after every step. Reservations do not overlap here, nor
/// are units refunded while one is held: then less may be given back than the book does, see `overlapping`.
fn same<S>(
    limiter: &Limiter<u64, ManualClock, S>,
    mut book: impl Book,
    rate: Rate,
    script: &[(u64, Op)],
) -> Result<(), TestCaseError>
where
    S: Store + Lookup<u64>,
{
    let key = &5;
    let units = |part: u64| (rate.burst / 16 * part).max(part.min(rate.burst));
    let mut held: Vec<(Reservation<'_, ManualClock, S>, _)> = Vec::new();
    let mut now_ns = 1_234_567_890;
    for &(thousandths, op) in script {
        now_ns += (u128::from(rate.period_ns) * u128::from(thousandths) / 1_000) as u64;
        limiter.clock().set(now_ns);
        match op {
            Op::Check(part) => {
                let answer = Answer::from(limiter.check_n_at(key, units(part), now_ns));
                prop_assert_eq!(answer, book.check(units(part), now_ns));
            }
            Op::Reserve(_) | Op::Refund(_) if !held.is_empty() => continue,
            Op::Reserve(part) => {
                let units = if part == 17 { rate.burst + 1 } else { units(part) };
                match (limiter.reserve_at(key, units, now_ns), book.reserve(units, now_ns)) {
                    (Ok(reservation), Ok((wait_ns, stamp))) => {
                        prop_assert_eq!(reservation.wait().as_nanos(), wait_ns);
                        prop_assert_eq!(reservation.units(), units);
                        held.push((reservation, stamp));
                    }
                    (Err(refusal), Err(answer)) => prop_assert_eq!(Answer::from(refusal), answer),
                    (found, expected) => prop_assert!(false, "{found:?} instead of {expected:?}"),
                }
            }
            Op::Commit(oldest, _) | Op::Cancel(oldest) => {
                let which = if oldest { 0 } else { held.len().saturating_sub(1) };
                if held.is_empty() {
                    continue;
                }
                let (reservation, stamp) = held.remove(which);
                let reserved = reservation.units();
                match op {
                    Op::Commit(_, part) => {
                        let actual = units(part);
                        reservation.commit_at(actual, now_ns);
                        if actual > reserved {
                            book.charge(actual - reserved, now_ns);
                        } else {
                            book.give_back(reserved - actual, stamp, now_ns);
                        }
                    }
                    _ => {
                        reservation.cancel_at(now_ns);
                        book.give_back(reserved, stamp, now_ns);
                    }
                }
            }
            Op::Refund(part) => {
                limiter.refund_at(key, units(part), now_ns);
                book.refund(units(part), now_ns);
            }
        }
        prop_assert_eq!(
            Answer::from(limiter.peek_n_at(key, 1, now_ns)),
            book.peek(1, now_ns),
            "{:?} {:?}",
            rate,
            op
        );
    }
    Ok(())
}

/// On a map, and on a table if it can be.
fn same_everywhere(
    algorithm: &str,
    quota: Quota,
    book: impl Book + Clone,
    rate: Rate,
    script: &[(u64, Op)],
) -> Result<(), TestCaseError> {
    if let Some(table) = in_a_table(algorithm, quota, 3) {
        same(&table, book.clone(), rate, script)?;
    }
    same(&on_manual_clock(algorithm, quota).build_map().unwrap(), book, rate, script)
}

proptest! {
    #[test]
    fn reservations_are_the_models(
        rate in rate_with_room_for_debts(),
        script in vec((prop_oneof![Just(0), 0..400_u64, 0..2_500_u64], any_op()), 1..60),
    ) {
        for algorithm in ALL {
            let mut rate = rate;
            if super::oracle::WINDOWS.contains(&algorithm) {
                // What is committed in one window must be counted whole: beyond its word, a window saturates.
                rate.limit = rate.limit.min(1_000);
                if build(algorithm, per(rate.limit * 128, rate.period_ns)).is_err() || rate.period_ns < 1 << 20 {
                    continue;
                }
            }
            let Some(quota) = rate.quota(algorithm) else { continue };
            let Rate { limit, period_ns, burst } = rate;
            match algorithm {
                "fixed_window" => same_everywhere(algorithm, quota, Fixed::new(limit, period_ns, 0), rate, &script)?,
                "sliding_window_counter" => {
                    same_everywhere(algorithm, quota, Counter::new(limit, period_ns, 0), rate, &script)?;
                }
                "sliding_window_log" => same_everywhere(algorithm, quota, Log::new(limit, period_ns), rate, &script)?,
                _ => same_everywhere(algorithm, quota, Bucket::new(limit, period_ns, burst), rate, &script)?,
            }
        }
    }
}

/// At one instant a reservation committed at `n` is a check of `n`, and one cancelled is none.
#[test]
fn a_commit_at_once_is_a_check() {
    for algorithm in ALL {
        for actual in [0, 1, 5, 6, 9] {
            let quota = per(10, 1_000_000_000);
            let (limiter, twin) = (direct(algorithm, quota), direct(algorithm, quota));
            limiter.reserve_at(5, 0).unwrap().commit_at(actual, 0);
            let _ = twin.check_n_at(actual, 0);
            for now_ns in [0, 1, 500_000_000, 1_000_000_000, 2_000_000_000] {
                assert_eq!(limiter.peek_n_at(1, now_ns), twin.peek_n_at(1, now_ns), "{algorithm} {actual}");
            }
        }
    }
}

/// Nothing was held, and all of the actual cost is excess.
#[test]
fn a_commit_of_an_empty_reservation_is_charged() {
    for algorithm in ALL {
        let limiter = direct(algorithm, per(10, 1_000_000_000));
        limiter.reserve_at(0, 0).unwrap().commit_at(3, 0);
        assert_eq!(limiter.peek_n_at(0, 0).remaining(), 7, "{algorithm}");
    }
}

/// Work that turned out far too large blocks the key, and nothing else happens.
#[test]
fn a_commit_of_everything_saturates() {
    for algorithm in ALL {
        let limiter = direct(algorithm, per(10, 1_000_000_000));
        limiter.reserve_at(1, 0).unwrap().commit_at(u64::MAX, 0);
        let denied = limiter.check_at(0);
        assert!(denied.is_denied() && denied.remaining() == 0, "{algorithm}");
        assert!(denied.retry_after() > Duration::ZERO, "{algorithm}");
        assert!(limiter.check_at(999_999_999).is_denied(), "{algorithm}");
    }
}

/// Never looser than a limiter that was not asked for the units that came back.
#[test]
fn a_late_cancel_is_not_given_back_twice() {
    for algorithm in ARRIVAL {
        let limiter = direct(algorithm, per(10, 1_000_000_000));
        let all = limiter.reserve_at(10, 0).unwrap();
        // Half of it has come back by itself, and is taken again.
        assert!(limiter.check_n_at(5, 500_000_000).is_allowed());
        all.cancel_at(500_000_000);
        assert_eq!(limiter.peek_n_at(0, 500_000_000).remaining(), 5, "{algorithm}");
    }
}

/// Units that were refunded already are not given back a second time, least of all another window's.
#[test]
fn a_cancel_takes_nothing_from_the_window_before() {
    let limiter = direct("sliding_window_counter", per(10, 1_000_000_000));
    assert!(limiter.check_n_at(4, 999_999_999).is_allowed());
    let five = limiter.reserve_at(5, 1_000_000_000).unwrap();
    limiter.refund_at(5, 1_000_000_000);
    five.cancel_at(1_000_000_000);
    assert_eq!(limiter.peek_n_at(0, 1_000_000_000).remaining(), 6);
}

/// A burst of ten reserved at 0, and at half a second, when five of them have come back, one unit taken.
fn settled_at_half_a_second(settle: impl FnOnce(Reservation<'_, ManualClock, Single>)) -> u64 {
    let limiter = direct("gcra", per(10, 1_000_000_000));
    let ten = limiter.reserve_at(10, 0).unwrap();
    assert!(limiter.check_at(500_000_000).is_allowed());
    settle(ten);
    limiter.peek_n_at(0, 500_000_000).remaining()
}

/// What has come back by itself is gone: the five that are left are given back, and the one that was taken is not.
#[test]
fn a_cancel_gives_back_what_is_still_out() {
    assert_eq!(settled_at_half_a_second(|ten| ten.cancel_at(500_000_000)), 9);
}

/// A drop, or a cancel without a time, is no way around either.
#[test]
fn a_drop_gives_back_no_more() {
    let remaining = settled_at_half_a_second(|ten| ten.cancel());
    assert!(remaining <= 9, "{remaining}: eleven units at one instant, of a burst of ten");
}

/// What was taken and kept, in the order in which it was taken: the state is what these alone leave.
#[derive(Default)]
struct Kept(Vec<(u64, u64)>);

impl Kept {
    /// Units left of a burst at the end, one coming back each `interval_ns`.
    fn remaining(&self, burst: u64, interval_ns: u64, now_ns: u64) -> u64 {
        let full_ns =
            self.0.iter().fold(0, |full_ns: u64, &(at_ns, units)| full_ns.max(at_ns) + units * interval_ns);
        (burst * interval_ns).saturating_sub(full_ns.saturating_sub(now_ns)) / interval_ns
    }
}

proptest! {
    /// However reservations overlap and in whatever order they are settled, among refunds: never more than the truth.
    #[test]
    fn overlapping(
        burst in 1..40_u64,
        script in vec((0..4_000_u64, 0..6_u8, 0..50_u64, any::<prop::sample::Index>()), 1..80),
    ) {
        let interval_ns = 1_000;
        let limiter = direct("gcra", per(1_000_000, 1_000_000_000).burst(burst));
        let (mut kept, mut held) = (Kept::default(), Vec::new());
        let mut now_ns = 7;
        for (step_ns, op, part, which) in script {
            now_ns += step_ns;
            let units = part % burst + 1;
            match op {
                0 | 1 if limiter.check_n_at(units, now_ns).is_allowed() => kept.0.push((now_ns, units)),
                2 | 3 => {
                    held.push((limiter.reserve_at(units, now_ns).unwrap(), kept.0.len()));
                    kept.0.push((now_ns, units));
                }
                4 | 5 if !held.is_empty() => {
                    let (reservation, taken) = held.remove(which.index(held.len()));
                    let actual = if op == 4 { 0 } else { part };
                    let reserved = reservation.units();
                    reservation.commit_at(actual, now_ns);
                    kept.0[taken].1 = actual.min(reserved);
                    kept.0.push((now_ns, actual.saturating_sub(reserved)));
                }
                _ => {}
            }
            let truth = kept.remaining(burst, interval_ns, now_ns);
            let found = limiter.peek_n_at(0, now_ns).remaining();
            prop_assert!(found <= truth, "{found} left, and in truth {truth}");
        }
    }
}
