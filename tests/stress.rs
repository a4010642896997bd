//! Random rounds with real threads, for as long as one likes:
//!
//! ```sh
//! TOLLGATE_STRESS_SECONDS=600 cargo test --release --test stress -- --ignored --nocapture
//! ```
//!
//! `TOLLGATE_SEED` repeats the choices of a run; how its threads interleave is the machine's. Time is a counter that the
//! threads move on with each call, so a round is as long as its work: `TOLLGATE_STRESS_CALLS`.
//!
//! Of a call are known the counter before and after it. What surely lies in one window is at most the algorithm's worst
//! case; a refusal needs as many units as may lie in the window behind it; and when all is over every key is full again.

mod oracle;

use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tollgate::store::{Lookup, Store};
use tollgate::{Decision, DirectLimiter, Limiter, ManualClock, Overflow, Quota};

use oracle::{ALL, ARRIVAL, Dice, direct, on_manual_clock, per, worst_case};

const LOG: &str = "sliding_window_log";
const S: u64 = 1_000_000_000;

/// A limiter, with or without keys.
trait Face: Sync {
    fn check(&self, key: u64, cost: u64, now_ns: u64) -> Decision;
    fn peek(&self, key: u64, cost: u64, now_ns: u64) -> Decision;
    fn refund(&self, key: u64, units: u64, now_ns: u64);
    fn reset(&self, key: u64, now_ns: u64);
    /// Takes units, and settles at the time that it is told then.
    fn hold(&self, key: u64, units: u64, actual: u64, now_ns: u64, then: &dyn Fn() -> u64) -> bool;
}

macro_rules! face {
    ($key:ident, [$($arg:expr)?]) => {
        fn check(&self, $key: u64, cost: u64, now_ns: u64) -> Decision {
            self.check_n_at($($arg,)? cost, now_ns)
        }
        fn peek(&self, $key: u64, cost: u64, now_ns: u64) -> Decision {
            self.peek_n_at($($arg,)? cost, now_ns)
        }
        fn refund(&self, $key: u64, units: u64, now_ns: u64) {
            self.refund_at($($arg,)? units, now_ns);
        }
        fn reset(&self, $key: u64, now_ns: u64) {
            self.reset_at($($arg,)? now_ns);
        }
        fn hold(&self, $key: u64, units: u64, actual: u64, now_ns: u64, then: &dyn Fn() -> u64) -> bool {
            let held = self.reserve_at($($arg,)? units, now_ns);
            held.map(|held| held.commit_at(actual, then())).is_ok()
        }
    };
}

impl<St: Store + Lookup<u64> + Sync> Face for Limiter<u64, ManualClock, St> {
    face!(key, [&key]);
}

impl Face for DirectLimiter<ManualClock> {
    face!(_key, []);
}

/// Units, and the times between which something happened to them.
type Events = Vec<(u64, u64, u64)>;

/// What happened to one key.
#[derive(Clone, Default)]
struct Account {
    /// Taken and kept.
    kept: Events,
    /// Taken, for however long.
    taken: Events,
    /// Given back, or forgotten by a reset: at most so many.
    given: Events,
    /// Asked for and refused.
    refused: Events,
}

impl Account {
    fn extend(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.taken.extend(other.taken);
        self.given.extend(other.given);
        self.refused.extend(other.refused);
    }

    /// In no window more than `most`, and what was given back in it.
    fn is_within(&mut self, most: u128, period_ns: u64) {
        self.kept.sort_unstable();
        let given = Sums::new(&self.given);
        for (start, &(start_ns, ..)) in self.kept.iter().enumerate() {
            let end_ns = start_ns + period_ns;
            let window = self.kept[start..].iter().take_while(|&&(first_ns, ..)| first_ns < end_ns);
            let surely =
                window.filter(|&&(_, last_ns, _)| last_ns < end_ns).map(|&(.., units)| units).sum::<u64>();
            let may_be = most + u128::from(given.between(start_ns, end_ns));
            assert!(u128::from(surely) <= may_be, "{surely} admitted from {start_ns} on instead of {may_be}");
        }
    }

    /// Whoever was refused met as many units as it takes. A call that is late finds a bucket as it was: what came back since,
    /// one in `interval_ns`, is not there yet.
    fn has_cause(&self, full: u64, memory_ns: u64, interval_ns: Option<u64>) {
        let taken = Sums::new(&self.taken);
        for &(first_ns, last_ns, cost) in &self.refused {
            let missing = interval_ns.map_or(0, |interval_ns| (last_ns - first_ns).div_ceil(interval_ns));
            let may_be = taken.between(first_ns.saturating_sub(memory_ns), last_ns) + missing;
            assert!(may_be + cost > full, "{cost} refused at {first_ns}, and {may_be} of {full} were taken");
        }
    }
}

/// How many units have begun by a time, and how many have ended.
struct Sums {
    begun: Vec<(u64, u64)>,
    ended: Vec<(u64, u64)>,
}

impl Sums {
    fn new(events: &Events) -> Self {
        let sums = |mut events: Vec<(u64, u64)>| {
            events.sort_unstable();
            let mut sum = 0;
            events.iter_mut().for_each(|(_, units)| {
                sum += *units;
                *units = sum;
            });
            events
        };
        let begun = events.iter().map(|&(first_ns, _, units)| (first_ns, units)).collect();
        let ended = events.iter().map(|&(_, last_ns, units)| (last_ns, units)).collect();
        Self { begun: sums(begun), ended: sums(ended) }
    }

    /// All that may have happened between two times.
    fn between(&self, first_ns: u64, last_ns: u64) -> u64 {
        let by = |sums: &[(u64, u64)], before: usize| before.checked_sub(1).map_or(0, |index| sums[index].1);
        let begun = self.begun.partition_point(|&(at_ns, _)| at_ns <= last_ns);
        let ended = self.ended.partition_point(|&(at_ns, _)| at_ns < first_ns);
        by(&self.begun, begun) - by(&self.ended, ended)
    }
}

/// One round: its numbers are rolled, and the same for the same seed.
#[derive(Clone, Debug)]
struct Round {
    seed: u64,
    algorithm: &'static str,
    limit: u64,
    period_ns: u64,
    burst: u64,
    keys: u64,
    threads: u64,
    /// Of all threads together.
    calls: u64,
    /// Of the clock, per call, at most.
    step_ns: u64,
    cost_max: u64,
    gives_back: bool,
    resets: bool,
}

impl Round {
    fn new(seed: u64, algorithm: &'static str, keys_max: u64, limit_max: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut one_to = |max: u64| 1 + dice.up_to(max - 1);
        let (limit, keys) = (one_to(limit_max), one_to(keys_max));
        // A whole number of nanoseconds between units, and long enough for two counts of them to fit a word.
        let period_ns = limit * (4_096 + one_to(1 << 20));
        let burst = if ARRIVAL.contains(&algorithm) { one_to(limit_max) } else { limit };
        // From a few calls for each unit that there is, to a few units for each call.
        let step_ns = 1 + 4 * period_ns / (limit * keys * one_to(32)).max(1);
        let (threads, cost_max) = (2 + one_to(14) / 2, one_to(burst));
        let (gives_back, resets) = (dice.below(2) == 0, dice.below(4) == 0);
        let calls = number("TOLLGATE_STRESS_CALLS").unwrap_or(16_000);
        Self {
            calls,
            seed,
            algorithm,
            limit,
            period_ns,
            burst,
            keys,
            threads,
            step_ns,
            cost_max,
            gives_back,
            resets,
        }
    }

    fn quota(&self) -> Quota {
        let quota = per(self.limit, self.period_ns);
        if self.is_bucket() { quota.burst(self.burst) } else { quota }
    }

    fn is_bucket(&self) -> bool {
        ARRIVAL.contains(&self.algorithm)
    }

    /// In which a unit comes back, if they come back evenly.
    fn interval_ns(&self) -> Option<u64> {
        self.is_bucket().then_some(self.period_ns / self.limit)
    }

    /// For how long a unit can make others wait.
    fn memory_ns(&self) -> u64 {
        match self.algorithm {
            "sliding_window_counter" => 2 * self.period_ns,
            _ => self.interval_ns().map_or(self.period_ns, |interval_ns| self.burst * interval_ns),
        }
    }

    /// The work of one thread.
    fn work(&self, face: &dyn Face, clock: &AtomicU64, id: u64) -> Vec<Account> {
        let mut dice = Dice::new(self.seed ^ (id + 1));
        let mut accounts = vec![Account::default(); self.keys as usize];
        let read = || clock.load(Ordering::SeqCst);
        for _ in 0..self.calls / self.threads {
            // Now and then all that was taken is over.
            let step_ns = if dice.below(500) == 0 { self.memory_ns() } else { dice.below(self.step_ns) };
            let now_ns = clock.fetch_add(step_ns, Ordering::SeqCst);
            let (key, cost) = (dice.below(self.keys), 1 + dice.below(self.cost_max));
            let account = &mut accounts[key as usize];
            match dice.below(16) {
                0 if self.gives_back => {
                    face.refund(key, cost, now_ns);
                    account.given.push((now_ns, read(), cost));
                }
                1 if self.resets => {
                    face.reset(key, now_ns);
                    account.given.push((now_ns, read(), self.burst));
                }
                // Of a bucket units can be taken before they are there, and then no refusal tells how many were.
                2..6 if !self.is_bucket() => {
                    // Nothing, a part, or more than was held.
                    let actual = dice.below(cost + 2);
                    let settled = || clock.fetch_add(dice.clone().below(self.step_ns), Ordering::SeqCst);
                    if face.hold(key, cost, actual, now_ns, &settled) {
                        let last_ns = read();
                        account.kept.push((now_ns, last_ns, actual.min(cost)));
                        account.taken.push((now_ns, last_ns, cost.max(actual)));
                    } else {
                        account.refused.push((now_ns, read(), cost));
                    }
                }
                _ => {
                    let decision = face.check(key, cost, now_ns);
                    let event = (now_ns, read(), cost);
                    if decision.is_allowed() {
                        account.kept.push(event);
                        account.taken.push(event);
                    } else {
                        account.refused.push(event);
                    }
                }
            }
        }
        accounts
    }

    /// Runs it, `beside` the threads all the time something else, and looks at what happened. `has_room`: whether each key had
    /// a place of its own.
    fn run(&self, face: &dyn Face, beside: &(dyn Fn(u64) + Sync), has_room: &dyn Fn() -> bool) {
        let (clock, is_running) = (AtomicU64::new(S), AtomicBool::new(true));
        let accounts = thread::scope(|scope| {
            scope.spawn(|| {
                while is_running.load(Ordering::SeqCst) {
                    beside(clock.load(Ordering::SeqCst));
                    thread::yield_now();
                }
            });
            let accounts = on_threads(self.threads, |id| self.work(face, &clock, id));
            is_running.store(false, Ordering::SeqCst);
            accounts
        });
        let most = worst_case(self.algorithm, self.limit, self.burst);
        for key in 0..self.keys as usize {
            let mut account = Account::default();
            accounts.iter().for_each(|thread| account.extend(thread[key].clone()));
            account.is_within(most, self.period_ns);
            if has_room() {
                account.has_cause(self.burst, self.memory_ns(), self.interval_ns());
            }
        }
        // What was charged in excess may make others wait twice as long.
        self.ends_full(face, clock.into_inner() + 4 * self.memory_ns() + 4 * self.period_ns);
    }

    /// All is over: each key has its whole quota again, and not a unit more.
    fn ends_full(&self, face: &dyn Face, now_ns: u64) {
        for key in 0..self.keys {
            let here = face.peek(key, self.burst, now_ns);
            assert!(here.is_allowed() && here.remaining() == 0, "key {key} ends with {here:?}");
        }
        let taken = on_threads(self.threads, |_| {
            let taken = (0..=self.burst).map(|_| face.check(0, 1, now_ns).taken());
            taken.take_while(|&units| units > 0).sum::<u64>()
        });
        assert_eq!(taken.iter().sum::<u64>(), self.burst, "at one instant");
    }
}

fn on_threads<T: Send>(threads: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|id| scope.spawn(move || work(id))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn nothing(_: u64) {}

/// A table with fewer slots than keys, or hardly more.
fn table(round: &Round) {
    let slots = 1 + Dice::new(!round.seed).below(2 * round.keys) as usize;
    let builder = on_manual_clock::<u64>(round.algorithm, round.quota()).capacity(slots);
    let table = builder.overflow(Overflow::default()).build().unwrap();
    round.run(&table, &nothing, &|| table.overflowed() == 0);
}

/// A map of which all that is idle is taken out all the time.
fn map(round: &Round) {
    let map = on_manual_clock::<u64>(round.algorithm, round.quota()).build_map().unwrap();
    round.run(&map, &|now_ns| _ = map.evict_idle_at(now_ns), &|| true);
}

fn alone(round: &Round) {
    round.run(&direct(round.algorithm, round.quota()), &nothing, &|| true);
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text:?} is not a whole number")))
}

#[test]
#[ignore = "takes two minutes; scripts/sanitize and whoever changes lock-free code run it"]
fn random_rounds_keep_every_bound() {
    let seed = number("TOLLGATE_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| now.as_nanos() as u64)
    });
    let length = Duration::from_secs(number("TOLLGATE_STRESS_SECONDS").unwrap_or(120));
    println!("TOLLGATE_SEED={seed}, for {length:?}");
    let (mut dice, start, mut rounds) = (Dice::new(seed), Instant::now(), 0_u64);
    while rounds == 0 || start.elapsed() < length {
        for algorithm in ALL {
            let run = |what: &str, scenario: fn(&Round), round: Round| {
                let failed = std::panic::catch_unwind(|| scenario(&round)).is_err();
                assert!(!failed, "{what} failed, TOLLGATE_SEED={seed}, round {rounds}: {round:?}");
            };
            run("a limiter without keys", alone, Round::new(dice.roll(), algorithm, 1, 2_000));
            run("a map", map, Round::new(dice.roll(), algorithm, 64, 300));
            if algorithm != LOG {
                run("a table", table, Round::new(dice.roll(), algorithm, 64, 30));
            }
        }
        rounds += 1;
    }
    println!("{rounds} rounds of {} scenarios in {:?}", 3 * ALL.len() - 1, start.elapsed());
}
