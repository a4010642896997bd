//! Whoever leaves a line gives back exactly what was held, in whatever order they leave: a limiter beside a plain queue of integers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::store::Single;
use tollgate::{DirectLimiter, Limiter, ManualClock, Queue, Quota, Reservation, Table};

const UNIT_NS: u64 = 1_000;
const ENDLESS: Queue = Queue::up_to(Duration::MAX);

type Turn<'a, S> = Reservation<'a, ManualClock, S>;

fn quota(burst: u64) -> Quota {
    Quota::new(1, Duration::from_nanos(UNIT_NS)).burst(burst)
}

fn direct(burst: u64) -> DirectLimiter<ManualClock> {
    DirectLimiter::builder(quota(burst)).clock(ManualClock::new(0)).build().unwrap()
}

/// What each charge still has to wait for, from the front on.
#[derive(Clone, Debug, Default)]
struct Plain {
    now_ns: u64,
    left_ns: Vec<u64>,
}

impl Plain {
    fn at(&mut self, now_ns: u64) -> &mut Self {
        let mut passed_ns = now_ns - self.now_ns;
        for left_ns in &mut self.left_ns {
            let served_ns = passed_ns.min(*left_ns);
            passed_ns -= served_ns;
            *left_ns -= served_ns;
        }
        self.now_ns = now_ns;
        self
    }

    fn sum_ns(&self) -> u64 {
        self.left_ns.iter().sum()
    }

    /// Its place.
    fn take(&mut self, units: u64) -> usize {
        self.left_ns.push(units * UNIT_NS);
        self.left_ns.len() - 1
    }

    fn give_back(&mut self, place: usize, units: u64) {
        self.left_ns[place] = self.left_ns[place].saturating_sub(units * UNIT_NS);
    }

    /// Accounts for a charge as a reservation does.
    fn settle(&mut self, place: usize, units: u64, actual: u64) {
        self.give_back(place, units.saturating_sub(actual));
        if actual > units {
            self.take(actual - units);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Check,
    Enter,
    /// One of those in line, with what the work did cost; `None` is all given back.
    Leave(prop::sample::Index, Option<u64>),
}

fn any_op() -> impl Strategy<Value = Op> {
    let cost = prop::option::weighted(0.4, 0..6_u64);
    prop_oneof![
        2 => Just(Op::Check),
        4 => Just(Op::Enter),
        4 => (any::<prop::sample::Index>(), cost).prop_map(|(which, actual)| Op::Leave(which, actual)),
    ]
}

/// Steps in time, what is done, for how many units, and by which key.
fn any_script() -> impl Strategy<Value = Vec<(u64, Op, u64, u64)>> {
    vec((prop_oneof![2 => Just(0), 1 => 0..3 * UNIT_NS], any_op(), 1..6_u64, 0..200_u64), 1..150)
}

proptest! {
    #[test]
    fn without_a_key(burst in 5..9_u64, script in any_script()) {
        let limiter = direct(burst);
        let (mut plain, mut line): (Plain, Vec<(Turn<'_, Single>, usize)>) = Default::default();
        let mut now_ns = 0;
        for (step_ns, op, units, _) in script {
            now_ns += step_ns;
            let plain = plain.at(now_ns);
            let free_ns = (burst * UNIT_NS).saturating_sub(plain.sum_ns());
            match op {
                Op::Check => {
                    let fits = units * UNIT_NS <= free_ns;
                    prop_assert_eq!(limiter.check_n_at(units, now_ns).is_allowed(), fits);
                    if fits { plain.take(units); }
                }
                Op::Enter => {
                    let turn = limiter.enqueue_at(units, &ENDLESS, now_ns).unwrap();
                    let place = plain.take(units);
                    let wait_ns = plain.sum_ns().saturating_sub(burst * UNIT_NS);
                    prop_assert_eq!(turn.wait().as_nanos(), u128::from(wait_ns));
                    line.push((turn, place));
                }
                Op::Leave(..) if line.is_empty() => {}
                Op::Leave(which, actual) => {
                    let (turn, place) = line.remove(which.index(line.len()));
                    let (units, actual) = (turn.units(), actual.unwrap_or(0));
                    turn.commit_at(actual, now_ns);
                    plain.settle(place, units, actual);
                }
            }
            let found_ns = limiter.peek_at(now_ns).reset_after().as_nanos();
            prop_assert_eq!(found_ns, u128::from(plain.sum_ns()));
        }
    }

    /// So many keys that some have their returns remembered together.
    #[test]
    fn by_key(script in any_script()) {
        let limiter = Limiter::<u64>::builder(quota(5)).clock(ManualClock::new(0)).build().unwrap();
        let mut plain = vec![Plain::default(); 200];
        let mut line: Vec<(Turn<'_, Table>, u64, usize)> = Vec::new();
        let mut now_ns = 0;
        for (step_ns, op, units, key) in script {
            now_ns += step_ns;
            match op {
                Op::Check => {}
                Op::Enter => {
                    // A few have long lines.
                    let key = if key % 2 == 0 { key % 5 } else { key };
                    let turn = limiter.enqueue_at(&key, units, &ENDLESS, now_ns).unwrap();
                    line.push((turn, key, plain[key as usize].at(now_ns).take(units)));
                }
                Op::Leave(..) if line.is_empty() => {}
                Op::Leave(which, actual) => {
                    let (turn, key, place) = line.remove(which.index(line.len()));
                    let (units, actual) = (turn.units(), actual.unwrap_or(0));
                    turn.commit_at(actual, now_ns);
                    plain[key as usize].at(now_ns).settle(place, units, actual);
                    let found_ns = limiter.peek_at(&key, now_ns).reset_after().as_nanos();
                    prop_assert_eq!(found_ns, u128::from(plain[key as usize].sum_ns()));
                }
            }
        }
    }
}

proptest! {
    /// Units of calls that are refunded at once may be in front of those in line or behind them, which nothing remembers: never more.
    #[test]
    fn among_refunds_no_more(burst in 5..9_u64, script in any_script()) {
        let limiter = direct(burst);
        let (mut plain, mut line, mut checked): (Plain, Vec<(Turn<'_, Single>, usize)>, Vec<_>) = Default::default();
        let mut now_ns = 0;
        for (step_ns, op, units, what) in script {
            now_ns += step_ns;
            let plain = plain.at(now_ns);
            if step_ns > 0 {
                checked.clear();
            }
            match op {
                Op::Check if what % 2 == 0 => {
                    if limiter.check_n_at(units, now_ns).is_allowed() {
                        prop_assert!(plain.sum_ns() + units * UNIT_NS <= burst * UNIT_NS);
                        checked.push((plain.take(units), units));
                    }
                }
                Op::Check => {
                    let Some((place, units)) = checked.pop() else { continue };
                    limiter.refund_at(units, now_ns);
                    plain.give_back(place, units);
                }
                Op::Enter => {
                    line.push((limiter.enqueue_at(units, &ENDLESS, now_ns).unwrap(), plain.take(units)));
                }
                Op::Leave(..) if line.is_empty() => {}
                Op::Leave(which, actual) => {
                    let (turn, place) = line.remove(which.index(line.len()));
                    let (units, actual) = (turn.units(), actual.unwrap_or(0));
                    turn.commit_at(actual, now_ns);
                    plain.settle(place, units, actual);
                }
            }
            let found_ns = limiter.peek_at(now_ns).reset_after().as_nanos();
            prop_assert!(found_ns >= u128::from(plain.sum_ns()), "{found_ns} of {plain:?}");
        }
    }
}

/// The same order in every run, and no order that a line has.
fn shuffled<T>(mut all: Vec<T>) -> Vec<T> {
    let mut seed = 1_u64;
    for last in (1..all.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(last, (seed >> 33) as usize % (last + 1));
    }
    all
}

#[test]
fn a_thousand_leave_in_any_order_and_all_comes_back() {
    let limiter = direct(1);
    let line: Vec<_> = (0..1_000).map(|_| limiter.enqueue_at(1, &ENDLESS, 0).unwrap()).collect();
    let now_ns = 10 * UNIT_NS;
    shuffled(line).into_iter().for_each(|turn| turn.cancel_at(now_ns));
    assert!(limiter.peek_at(now_ns).reset_after().is_zero());
}

/// Some keys have their returns remembered together.
#[test]
fn who_leaves_the_line_of_another_key_moves_nobody() {
    let limiter = Limiter::<u64>::builder(quota(1)).clock(ManualClock::new(0)).build().unwrap();
    let enter = |key: u64| [(); 3].map(|()| limiter.enqueue_at(&key, 1, &ENDLESS, 0).unwrap());
    let lines: Vec<_> = (0..300).map(enter).collect();
    let now_ns = UNIT_NS * 3 / 2;
    let mut last = Vec::new();
    for [served, middle, behind] in lines {
        served.commit_at(1, now_ns);
        middle.cancel_at(now_ns);
        last.push(behind);
    }
    last.into_iter().for_each(|turn| turn.cancel_at(now_ns));
    assert_eq!(limiter.len_at(now_ns), 0);
}

/// Those that came after the refund are behind, whatever their words say.
#[test]
fn who_leaves_after_a_refund_moves_those_behind() {
    let limiter = direct(9);
    let enter = |units| limiter.enqueue_at(units, &ENDLESS, 0).unwrap();
    assert!(limiter.check_n_at(4, 0).is_allowed());
    let first = enter(2);
    limiter.refund_at(4, 0);
    let (second, third) = (enter(1), enter(1));
    first.cancel_at(0);
    // Half of the second is served, and the third has all to come.
    let now_ns = UNIT_NS / 2;
    second.cancel_at(now_ns);
    assert!(limiter.peek_at(now_ns).reset_after() >= Duration::from_nanos(UNIT_NS));
    third.commit_at(1, now_ns);
}

/// More leave than a limiter remembers: those in front gave back less than they held, and nobody more.
#[test]
fn what_is_no_longer_remembered_is_strict() {
    let limiter = direct(1);
    let line: Vec<_> = (0..5_000).map(|_| limiter.enqueue_at(1, &ENDLESS, 0).unwrap()).collect();
    let now_ns = 10 * UNIT_NS;
    let mut left_ns = 5_000 * UNIT_NS - now_ns;
    for turn in shuffled(line) {
        turn.cancel_at(now_ns);
        let found_ns = limiter.peek_at(now_ns).reset_after().as_nanos() as u64;
        assert!(found_ns <= left_ns && found_ns + UNIT_NS >= left_ns);
        left_ns = found_ns;
    }
    assert!(left_ns > 0, "all was remembered");
}

/// Some leave from the middle, in no order and from several threads, while others come: who stays has a place, and no place is lost.
#[test]
fn a_race_to_leave_gives_back_exactly_what_was_held() {
    const LINE: u64 = 600;
    const COMING: u64 = 100;
    let limiter = direct(1);
    let line = shuffled((0..LINE).map(|place| (place, limiter.enqueue(1, &ENDLESS).unwrap())).collect());
    // The first ten have been served.
    limiter.clock().set(10 * UNIT_NS);
    let stayed = AtomicU64::new(0);
    let mut parts: Vec<Vec<_>> = (0..4).map(|_| Vec::new()).collect();
    line.into_iter().enumerate().for_each(|(index, turn)| parts[index % 4].push(turn));
    thread::scope(|scope| {
        for part in parts {
            let (limiter, stayed) = (&limiter, &stayed);
            scope.spawn(move || {
                for (index, (place, turn)) in part.into_iter().enumerate() {
                    if index % 3 == 0 {
                        turn.commit(1);
                        stayed.fetch_add(u64::from(place >= 10), Ordering::Relaxed);
                    } else {
                        turn.cancel();
                    }
                    if index < COMING as usize {
                        limiter.enqueue(1, &ENDLESS).unwrap().commit(1);
                    }
                }
            });
        }
    });
    let left_ns = (stayed.into_inner() + 4 * COMING) * UNIT_NS;
    assert_eq!(limiter.peek().reset_after(), Duration::from_nanos(left_ns));
}
