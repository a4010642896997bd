//! An algorithm of one's own, under a name, everywhere a built-in works.

mod oracle;

use std::sync::{Arc, Once};
use std::time::Duration;

use tollgate::algorithm::{self, Algorithm, Reserved, Step};
use tollgate::{BuildError, Decision, DirectLimiter, Limiter, ManualClock, Now, Quota, Rate, Verdict};

const S: u64 = 1_000_000_000;

/// One call per period, whatever it costs; at most `most` units in it.
///
/// The word is the time at which the next call may come, above an origin that keeps words of no key below all others.
#[derive(Debug)]
struct Cooldown {
    period_ns: u64,
    most: u64,
}

const ORIGIN: u64 = 2;

impl Cooldown {
    /// The time of a call: `now`, or the earliest at which this word can have been left.
    fn start(&self, word: u64, now: Now) -> u64 {
        if word <= now.debt() {
            // Charged beyond its period on purpose.
            return self.fresh(now);
        }
        self.fresh(now).max(word.saturating_sub(self.period_ns.max(now.span_ns())))
    }
}

impl Algorithm for Cooldown {
    fn fresh(&self, now: Now) -> u64 {
        ORIGIN + now.ns()
    }

    fn lead(&self) -> u64 {
        0
    }

    fn opening_ns(&self, word: u64) -> u64 {
        word - ORIGIN
    }

    fn span_ns(&self) -> u64 {
        self.period_ns
    }

    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        let start = self.start(word, now);
        let left_ns = word.saturating_sub(start);
        let room = if left_ns == 0 { self.most } else { 0 };
        let decision = if cost > self.most {
            Decision::never_fits(self.most, room, left_ns)
        } else if cost == 0 {
            Decision::allowed(0, self.most, room, left_ns)
        } else if left_ns > 0 {
            Decision::denied(self.most, 0, left_ns, left_ns)
        } else {
            let decision = Decision::allowed(cost, self.most, 0, self.period_ns);
            return Step { word: start + self.period_ns, decision };
        };
        Step { word, decision }
    }

    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        if units > 0 && stamp == word { word.min(self.fresh(now)) } else { word }
    }

    fn charge(&self, word: u64, now: Now, _units: u64) -> Reserved {
        let start = self.start(word, now);
        let word = word.max(start) + self.period_ns;
        Reserved { word, wait_ns: word - self.period_ns - start }
    }

    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        Ok(Arc::new(Self { period_ns: rate.period_ns(), most: rate.capacity() }))
    }
}

/// Names last as long as the process, and tests share one.
fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        algorithm::register("cooldown", |rate, _| {
            if rate.limit() != 1 {
                let limit = rate.limit();
                return Err(BuildError::Other(format!(
                    "a cooldown has one call per period: write 1 for {limit}"
                )));
            }
            Ok(Arc::new(Cooldown { period_ns: rate.period_ns(), most: rate.capacity() }))
        })
        .unwrap();
    });
}

fn quota() -> Quota {
    Quota::per_second(1).burst(50)
}

fn direct() -> DirectLimiter<ManualClock> {
    register();
    oracle::direct("cooldown", quota())
}

#[test]
fn a_limiter_without_keys() {
    let limiter = direct();
    assert_eq!(limiter.check_n_at(30, S).remaining(), 0);
    let denied = limiter.check_at(S + S / 4);
    assert_eq!(denied.retry_after(), Duration::from_millis(750));
    assert!(limiter.check_at(2 * S - 1).is_denied());
    assert!(limiter.check_n_at(50, 2 * S).is_allowed());
    assert_eq!(limiter.check_n_at(51, 9 * S).verdict(), Verdict::NeverFits);
    // An hour back, and the wait is no longer than a period.
    assert_eq!(limiter.check_at(0).retry_after(), Duration::from_secs(1));
}

#[test]
fn a_table_and_a_map_agree_with_it() {
    register();
    let table = oracle::on_manual_clock::<u64>("cooldown", quota()).capacity(30).build().unwrap();
    let map = oracle::on_manual_clock::<u64>("cooldown", quota()).build_map().unwrap();
    let lone: Vec<_> = (0..60).map(|_| direct()).collect();
    let mut dice = oracle::Dice::new(1);
    let (mut now_ns, mut evicted) = (0, 0);
    for _ in 0..30_000 {
        // About 25 keys are live at a time, and the table forgets and reuses.
        now_ns += dice.below(80_000_000);
        let (key, cost) = (dice.below(60), dice.below(52));
        let expected = lone[key as usize].check_n_at(cost, now_ns);
        assert_eq!(table.check_n_at(&key, cost, now_ns), expected);
        assert_eq!(map.check_n_at(&key, cost, now_ns), expected);
        if dice.below(100) == 0 {
            map.clock().set(now_ns);
            evicted += map.evict_idle();
        }
    }
    assert_eq!(table.overflowed(), 0);
    assert!(evicted > 0);
}

#[test]
fn plans_refunds_and_reservations() {
    let limiter = direct();
    let slow = limiter.plan(Quota::new(1, Duration::from_secs(10)).burst(5)).unwrap();
    assert!(limiter.check_n_with_at(5, &slow, S).is_allowed());
    assert_eq!(limiter.check_at(S).retry_after(), Duration::from_secs(10));
    limiter.refund_at(5, 2 * S);
    assert!(limiter.check_at(2 * S).is_allowed());
    limiter.reset_at(2 * S);

    let held = limiter.reserve_at(7, 2 * S).unwrap();
    assert!(held.wait().is_zero());
    assert!(limiter.reserve_at(1, 2 * S).is_err(), "it does not take calls in advance");
    held.cancel_at(2 * S);
    let held = limiter.reserve_at(7, 2 * S).unwrap();
    held.commit_at(8, 2 * S);
    assert_eq!(limiter.check_at(2 * S).retry_after(), Duration::from_secs(2), "one more call was charged");
}

#[test]
fn threads_admit_one() {
    register();
    let limiter = oracle::on_manual_clock::<u64>("cooldown", quota()).capacity(8).build().unwrap();
    let taken: usize = std::thread::scope(|scope| {
        let ask = || (0..1_000).filter(|_| limiter.check_at(&1, S).is_allowed()).count();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
}

#[test]
fn a_name_is_taken_once() {
    register();
    let names = oracle::ALL.iter().chain(&["cooldown"]);
    for &name in names {
        let taken = algorithm::register(name, |_, _| Err(BuildError::Other("never called".into())));
        assert_eq!(taken, Err(BuildError::NameTaken { name: name.to_owned() }));
    }
    // What was there still is.
    assert!(direct().check_at(S).is_allowed());
}

#[test]
fn an_unknown_name_is_told_the_names() {
    register();
    let error = Limiter::<str>::builder(quota()).algorithm("cool-down").build().unwrap_err();
    let BuildError::UnknownAlgorithm { name, known } = &error else { panic!("{error}") };
    assert_eq!(name, "cool-down");
    assert_eq!(known, &algorithm::names());
    for name in oracle::ALL.iter().chain(&["cooldown"]) {
        assert!(known.iter().any(|known| known == name), "{name}");
        assert!(error.to_string().contains(name), "{error}");
    }
    // Also where nothing has to be computed: the quota may get a rate one day.
    for quota in [Quota::unlimited(), Quota::blocked()] {
        let builder = |name| Limiter::<str>::builder(quota).algorithm(name);
        assert!(matches!(builder("cool-down").build(), Err(BuildError::UnknownAlgorithm { .. })), "{quota}");
        assert!(builder("cooldown").build().is_ok(), "{quota}");
    }
}

#[test]
fn what_its_factory_refuses_is_refused() {
    register();
    let error = DirectLimiter::builder(Quota::per_second(2)).algorithm("cooldown").build().unwrap_err();
    assert_eq!(error.to_string(), "a cooldown has one call per period: write 1 for 2");
}

#[test]
fn its_arithmetic_alone() {
    register();
    let cooldown = algorithm::build("cooldown", &quota(), &algorithm::Settings::default()).unwrap();
    let step = cooldown.decide(0, Now::at(0), 1);
    assert!(step.decision.is_allowed());
    assert!(cooldown.decide(step.word, Now::at(0), 1).decision.is_denied());
}

/// The limit is the algorithm's, not the quota's: half of it.
#[test]
fn what_a_lease_has_in_hand_does_not_lift_the_algorithms_own_limit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let half = |rate: Rate, settings: &_| {
            algorithm::build("gcra", &Quota::new(rate.limit().div_ceil(2), rate.period()), settings)
        };
        algorithm::register("half", half).unwrap();
    });
    let builder = DirectLimiter::builder(Quota::per_second(10)).algorithm("half");
    let limiter = builder.clock(ManualClock::new(S)).build().unwrap();
    let mut lease = limiter.lease_n(2);
    assert!(lease.check().is_allowed());
    assert_eq!(lease.held(), 1);
    limiter.clock().advance(Duration::from_secs(1));
    let refused = lease.check_n(6);
    assert!(refused.is_denied() && !refused.fits_later());
}
