//! The exact log: whatever is done to it, in whatever order, at whatever time and under whatever plan, against its model.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tollgate::store::Single;
use tollgate::{ManualClock, Reservation, Verdict};

use super::oracle::{Answer, Log, Model, direct, on_manual_clock, per, told_apart};
use super::{MAX_PERIOD_NS, any_origin, magnitude, most_logged};

pub(super) const LOG: &str = "sliding_window_log";

/// A window, and limits of it. The longer a window, the fewer units are in a word: calls that take many take many words.
fn any_log() -> impl Strategy<Value = (u64, [u64; 3])> {
    let limit = || magnitude(1, 1_000_000);
    (magnitude(1, MAX_PERIOD_NS), [limit(), limit(), limit()]).prop_map(|(window_ns, limits)| {
        (window_ns, limits.map(|limit| limit.min(window_ns).min(most_logged(window_ns))))
    })
}

/// What the clock does before a call.
#[derive(Clone, Copy, Debug)]
enum Move {
    Stall,
    /// By so many thousandths of a window, forward or back.
    Part(i64),
    Far(u64),
    To(u64),
    /// To the first time at which all fits that was refused last, or a nanosecond before.
    Ready(u64),
}

fn any_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        4 => Just(Move::Stall),
        4 => (0..600_i64).prop_map(Move::Part),
        2 => (-2_000..2_500_i64).prop_map(Move::Part),
        1 => magnitude(1, 1 << 60).prop_map(Move::Far),
        1 => any_origin().prop_map(Move::To),
        3 => (0..2_u64).prop_map(Move::Ready),
    ]
}

#[derive(Clone, Debug)]
enum Op {
    /// Sixteenths of a limit; 17 are one unit too many.
    Check(u64),
    Refund(u64),
    Reset,
    Reserve(u64),
    /// One of the reservations, at so many sixteenths of a limit.
    Commit(Index, u64),
    Cancel(Index),
    /// Work that cost more than anybody has.
    CommitAll(Index),
    Evict,
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..=17_u64).prop_map(Op::Check),
        2 => (0..=20_u64).prop_map(Op::Refund),
        1 => Just(Op::Reset),
        4 => (0..=17_u64).prop_map(Op::Reserve),
        2 => (any::<Index>(), 0..=20_u64).prop_map(|(which, part)| Op::Commit(which, part)),
        2 => any::<Index>().prop_map(Op::Cancel),
        1 => any::<Index>().prop_map(Op::CommitAll),
        2 => Just(Op::Evict),
    ]
}

fn units(sixteenths: u64, limit: u64) -> u64 {
    if sixteenths == 17 { limit + 1 } else { (limit * sixteenths).div_ceil(16) }
}

/// A clock that follows the script.
struct Script {
    window_ns: u64,
    now_ns: u64,
    ready_ns: u64,
}

impl Script {
    fn step(&mut self, to: Move) -> u64 {
        self.now_ns = match to {
            Move::Stall => self.now_ns,
            Move::Part(thousandths) => {
                let by_ns = i128::from(self.window_ns) * i128::from(thousandths) / 1_000;
                (i128::from(self.now_ns) + by_ns).clamp(0, u64::MAX.into()) as u64
            }
            Move::Far(ns) => self.now_ns.saturating_add(ns),
            Move::To(ns) => ns,
            Move::Ready(before) => self.ready_ns.saturating_sub(before),
        };
        self.now_ns
    }

    /// A call that was read at `read_ns` was answered so.
    fn answered(&mut self, read_ns: u64, answer: Answer) {
        if answer.verdict == Verdict::Denied {
            self.ready_ns = (u128::from(read_ns) + answer.retry_after_ns) as u64;
        }
    }
}

/// A model, and what a reservation must know of what happened while it was held.
pub(super) struct Ledger {
    pub(super) log: Log,
    refunded: u64,
    resets: u64,
}

/// What the model remembers of a reservation.
#[derive(Clone, Copy)]
pub(super) struct Held {
    stamp_ns: u64,
    refunded: u64,
    resets: u64,
}

impl Ledger {
    pub(super) fn new(log: Log) -> Self {
        Self { log, refunded: 0, resets: 0 }
    }

    pub(super) fn hold(&self, now_ns: u64) -> Held {
        Held { stamp_ns: self.log.read(now_ns), refunded: self.refunded, resets: self.resets }
    }

    pub(super) fn refund(&mut self, units: u64, now_ns: u64) {
        self.refunded += self.log.give_back(units, None, now_ns);
    }

    fn reset(&mut self, now_ns: u64) {
        self.resets += u64::from(self.log.count(now_ns) > 0);
        self.log.reset(now_ns);
    }

    /// What was refunded while it was held may have been these units: they are not given back again.
    pub(super) fn settle(&mut self, held: Held, reserved: u64, actual: u64, now_ns: u64) {
        if actual > reserved {
            self.log.charge(actual - reserved, now_ns);
        } else if held.resets == self.resets {
            let back = (reserved - actual).saturating_sub(self.refunded - held.refunded);
            let _ = self.log.give_back(back, Some(held.stamp_ns), now_ns);
        }
    }
}

/// A reservation, what the model remembers of it, and the limit of its plan.
pub(super) type Holding<'a> = (Reservation<'a, ManualClock, Single>, Held, u64);

/// One of those that are held, if any are, with its limit, and at what it is committed.
fn settled<'a>(held: &mut Vec<Holding<'a>>, op: &Op) -> Option<(Holding<'a>, u64)> {
    let (Op::Commit(which, _) | Op::Cancel(which) | Op::CommitAll(which)) = op else { return None };
    if held.is_empty() {
        return None;
    }
    let holding = held.remove(which.index(held.len()));
    let actual = match op {
        Op::Commit(_, part) => units(*part, holding.2),
        Op::CommitAll(_) => u64::MAX,
        _ => 0,
    };
    Some((holding, actual))
}

proptest! {
    /// Three plans on one log, and reservations that overlap as they like.
    #[test]
    fn anything_is_the_models(
        (window_ns, limits) in any_log(),
        origin_ns in any_origin(),
        script in vec((any_move(), 0..3_usize, any_op()), 1..80),
    ) {
        let limiter = direct(LOG, per(limits[0], window_ns));
        let plans = limits.map(|limit| limiter.plan(per(limit, window_ns)).unwrap());
        let mut ledger = Ledger::new(Log::new(limits[0], window_ns));
        let mut clock = Script { window_ns, now_ns: origin_ns, ready_ns: origin_ns };
        let mut held: Vec<Holding<'_>> = Vec::new();
        for (to, which, op) in &script {
            let (now_ns, plan, limit) = (clock.step(*to), &plans[*which], limits[*which]);
            let read_ns = ledger.log.limited_to(limit).read(now_ns);
            match op {
                Op::Check(part) => {
                    let expected = ledger.log.check(units(*part, limit), now_ns);
                    let found = limiter.check_n_with_at(units(*part, limit), plan, now_ns);
                    prop_assert_eq!(Answer::from(found), expected, "at {}", now_ns);
                    clock.answered(read_ns, expected);
                }
                Op::Refund(part) => {
                    limiter.refund_with_at(units(*part, limit), plan, now_ns);
                    ledger.refund(units(*part, limit), now_ns);
                }
                Op::Reset => {
                    limiter.reset_at(now_ns);
                    ledger.reset(now_ns);
                }
                Op::Reserve(part) => {
                    let expected = ledger.log.check(units(*part, limit), now_ns);
                    match limiter.reserve_with_at(units(*part, limit), plan, now_ns) {
                        Ok(reservation) => {
                            prop_assert_eq!(expected.verdict, Verdict::Allowed);
                            prop_assert!(reservation.wait().is_zero());
                            held.push((reservation, ledger.hold(now_ns), limit));
                        }
                        Err(refusal) => prop_assert_eq!(Answer::from(refusal), expected),
                    }
                    clock.answered(read_ns, expected);
                }
                Op::Evict => {}
                Op::Commit(..) | Op::Cancel(_) | Op::CommitAll(_) => {
                    let Some(((reservation, taken, limit), actual)) = settled(&mut held, op) else { continue };
                    let reserved = reservation.units();
                    reservation.commit_at(actual, now_ns);
                    ledger.log.limited_to(limit);
                    ledger.settle(taken, reserved, actual, now_ns);
                }
            }
            for (plan, limit) in plans.iter().zip(limits) {
                let log = ledger.log.limited_to(limit);
                for cost in [0, 1, limit.div_ceil(2), limit] {
                    let found = Answer::from(limiter.peek_n_with_at(cost, plan, now_ns));
                    prop_assert_eq!(found, log.peek(cost, now_ns), "{} after {:?} at {}", cost, op, now_ns);
                }
            }
        }
        // Not by dropping: that would be settled at the time of its making.
        held.into_iter().for_each(|(reservation, ..)| reservation.cancel_at(clock.now_ns));
    }

    /// Keys that are forgotten whenever they are idle, on a clock that does what it likes. One that comes back starts no
    /// earlier than keys were forgotten, which is all that shows.
    #[test]
    fn a_forgotten_log_is_the_models(
        (window_ns, limits) in any_log(),
        origin_ns in any_origin(),
        script in vec((any_move(), 0..4_u64, any_op()), 1..80),
    ) {
        let limit = limits[0];
        let map = on_manual_clock::<u64>(LOG, per(limit, window_ns)).build_map().unwrap();
        let mut known: HashMap<u64, Log> = HashMap::new();
        let mut floor_ns = 0;
        let mut clock = Script { window_ns, now_ns: origin_ns, ready_ns: origin_ns };
        for (to, key, op) in &script {
            let now_ns = clock.step(*to);
            let log = known.remove(key);
            let mut log = log.unwrap_or_else(|| Log::new(limit, window_ns).starting_at(floor_ns));
            let read_ns = log.read(now_ns);
            match op {
                Op::Check(part) => {
                    let expected = log.check(units(*part, limit), now_ns);
                    let found = Answer::from(map.check_n_at(key, units(*part, limit), now_ns));
                    prop_assert_eq!(found, expected, "at {}", now_ns);
                    clock.answered(read_ns, expected);
                }
                Op::Refund(part) => {
                    map.refund_at(key, units(*part, limit), now_ns);
                    log.refund(units(*part, limit), now_ns);
                }
                Op::Reset => {
                    map.reset_at(key, now_ns);
                    log.reset(now_ns);
                }
                Op::Reserve(part) => {
                    // At once committed at another cost.
                    let (reserved, actual) = (units(*part, limit), units(17 - part, limit));
                    let expected = log.check(reserved, now_ns);
                    let Ok(reservation) = map.reserve_at(key, reserved, now_ns) else {
                        prop_assert!(expected.verdict != Verdict::Allowed);
                        known.extend(log.is_known().then_some((*key, log)));
                        continue;
                    };
                    reservation.commit_at(actual, now_ns);
                    let mut ledger = Ledger::new(log);
                    ledger.settle(ledger.hold(now_ns), reserved, actual, now_ns);
                    log = ledger.log;
                }
                _ => {}
            }
            prop_assert_eq!(Answer::from(map.peek_n_at(key, 1, now_ns)), log.peek(1, now_ns), "{:?}", op);
            known.extend(log.is_known().then_some((*key, log)));
            if matches!(op, Op::Evict) {
                let before = known.len();
                known.retain(|_, log| !log.is_idle(now_ns));
                let evicted = before - known.len();
                prop_assert_eq!(map.evict_idle_at(now_ns), evicted);
                if evicted > 0 {
                    floor_ns = floor_ns.max(told_apart(now_ns));
                }
            }
            let live = known.values().filter(|log| !log.is_idle(now_ns)).count();
            prop_assert_eq!(map.len_at(now_ns), live);
        }
    }
}
