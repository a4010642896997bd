//! A call that is charged by one rule and then refused by the next, because another call came in between. Nothing here is
//! left to the scheduler: the other call is made from within the first one.

use std::cell::Cell;
use std::sync::Arc;

use tollgate::algorithm::{self, Algorithm, Reserved, Settings, Step};
use tollgate::{BuildError, Clock, Decision, DirectLimiter, Limits, ManualClock, Now, Quota, Rate, Rule};

use super::oracle::{ALL, ARRIVAL, TABLE_ALGORITHMS};
use super::{MS, Request, S, by_user, left, limits, user};

thread_local! {
    /// What comes in between.
    static MEDDLING: Cell<Option<fn()>> = const { Cell::new(None) };
    /// How often the gatekeeper was asked for units.
    static ASKED: Cell<u32> = const { Cell::new(0) };
    static LIMITS: Cell<Option<&'static Limits<Request, ManualClock>>> = const { Cell::new(None) };
}

fn the_limits() -> &'static Limits<Request, ManualClock> {
    LIMITS.get().unwrap()
}

/// An algorithm that has something done, once, when it is asked for the second time: a look has passed by then, and
/// the rules before it have been charged. Then it refuses.
#[derive(Debug)]
struct Gatekeeper(Arc<dyn Algorithm>);

impl Algorithm for Gatekeeper {
    fn fresh(&self, now: Now) -> u64 {
        self.0.fresh(now)
    }
    fn lead(&self) -> u64 {
        self.0.lead()
    }
    fn opening_ns(&self, word: u64) -> u64 {
        self.0.opening_ns(word)
    }
    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        if cost == 0 {
            return self.0.decide(word, now, cost);
        }
        ASKED.set(ASKED.get() + 1);
        if ASKED.get() == 2
            && let Some(meddle) = MEDDLING.take()
        {
            meddle();
            return Step { word, decision: Decision::denied(1, 0, 7 * MS, 7 * MS) };
        }
        self.0.decide(word, now, cost)
    }
    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        self.0.refund(word, now, units, stamp)
    }
    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved {
        self.0.charge(word, now, units)
    }
    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        Ok(Arc::new(Self(self.0.with_rate(rate)?)))
    }
}

fn gatekeeper() -> Rule<Request> {
    // Registered by whichever test comes first.
    let _ = algorithm::register("gatekeeper", |rate: Rate, settings: &Settings| {
        let gcra = algorithm::build("gcra", &Quota::new(rate.limit(), rate.period()), settings)?;
        Ok(Arc::new(Gatekeeper(gcra)) as Arc<dyn Algorithm>)
    });
    Rule::global("gatekeeper", Quota::per_second(1_000)).algorithm("gatekeeper")
}

/// Limits in front of the gatekeeper, and one call that it refuses after `meddle`.
fn refused_late(
    rules: impl IntoIterator<Item = Rule<Request>>,
    now_ns: u64,
    meddle: fn(),
) -> &'static Limits<Request, ManualClock> {
    let limits: &'static _ = Box::leak(Box::new(limits(rules.into_iter().chain([gatekeeper()]))));
    LIMITS.set(Some(limits));
    ASKED.set(0);
    MEDDLING.set(Some(meddle));
    let refused = limits.check_at(&user(1), now_ns);
    assert_eq!((refused.rule(), refused.is_denied()), (Some("gatekeeper"), true));
    assert_eq!(refused.retry_after().as_nanos(), u128::from(7 * MS));
    assert!(MEDDLING.take().is_none(), "it was refused by a look");
    limits
}

#[test]
fn all_that_was_taken_comes_back() {
    for algorithm in ALL {
        let rules = ["first", "second", "third"]
            .map(|name| Rule::exact(name, Quota::per_minute(3), by_user).algorithm(algorithm));
        let limits = refused_late(rules, 50 * S, || {
            for name in ["first", "second", "third"] {
                assert_eq!(left(the_limits(), name, &user(1), 50 * S), 2, "not charged yet");
            }
        });
        for name in ["first", "second", "third"] {
            let [charged, fresh] = [1, 2].map(|id| limits.rule(name).unwrap().peek_at(&user(id), 50 * S));
            assert_eq!(charged, fresh, "{algorithm}, {name}");
        }
    }
}

/// What others have taken meanwhile stays theirs.
#[test]
fn no_more_than_was_taken_comes_back() {
    for algorithm in TABLE_ALGORITHMS {
        let user_rule = Rule::new("user", Quota::per_minute(3), by_user).algorithm(algorithm);
        let limits = refused_late([user_rule], 50 * S, || {
            ASKED.set(100);
            assert!(the_limits().check_at(&user(1), 50 * S).is_allowed());
        });
        assert_eq!(left(limits, "user", &user(1), 50 * S), 2, "{algorithm}");
    }
}

/// The worst that an undo under way does to others: they are refused for the units that are on their way back, and for no more
/// than those; and are told the wait that these units would mean if they stayed.
#[test]
fn a_unit_on_its_way_back_refuses_another() {
    for algorithm in TABLE_ALGORITHMS {
        let user_rule = Rule::new("user", Quota::per_minute(2), by_user).algorithm(algorithm);
        let limits = refused_late([user_rule], 0, || {
            ASKED.set(100);
            assert!(the_limits().check_at(&user(1), 0).is_allowed());
            let refused = the_limits().check_at(&user(1), 0);
            assert_eq!((refused.rule(), refused.is_denied()), (Some("user"), true));
            assert!(refused.decision().fits_later());
        });
        assert!(limits.check_at(&user(1), 0).is_allowed(), "{algorithm}: as soon as it is back");
        assert!(limits.check_at(&user(1), 0).is_denied(), "{algorithm}");
    }
}

/// A call that is late in giving back, by a time of its own that is behind: its unit has come back by itself, and what another
/// has taken since is not given back in its place.
#[test]
fn what_came_back_meanwhile_is_not_given_back() {
    let rule = Rule::new("user", Quota::per_second(4), by_user);
    let limits = refused_late([rule], 0, || {
        ASKED.set(100);
        assert!(the_limits().check_at(&user(1), S / 4).is_allowed());
    });
    assert_eq!(left(limits, "user", &user(1), S / 4), 3);
}

/// The same where the other call was made by the clock.
#[test]
fn units_are_given_back_by_the_clock() {
    let rule = Rule::new("user", Quota::per_second(4), by_user);
    let limits = refused_late([rule], 0, || {
        ASKED.set(100);
        the_limits().clock().set(S / 4);
        assert!(the_limits().check(&user(1)).is_allowed());
    });
    assert_eq!(left(limits, "user", &user(1), S / 4), 3);
}

/// A clock that shows 0 to whoever starts, and a quarter of a second to others; but when another call comes in while it is
/// read, the time from before.
struct Interrupted;

thread_local! {
    static RESERVED: Cell<Option<&'static DirectLimiter<Interrupted>>> = const { Cell::new(None) };
    static START: Cell<bool> = const { Cell::new(false) };
}

impl Clock for Interrupted {
    fn now_ns(&self) -> u64 {
        if let Some(limiter) = RESERVED.take() {
            assert!(limiter.check_at(S / 4).is_allowed());
            return 0;
        }
        if START.take() { 0 } else { S / 4 }
    }
}

/// The time of a return is that at which its word was there: not one from before another call.
#[test]
fn the_time_is_read_when_the_word_was_found() {
    let limiter = DirectLimiter::builder(Quota::per_second(4)).clock(Interrupted).build().unwrap();
    let limiter: &'static _ = Box::leak(Box::new(limiter));
    START.set(true);
    let reservation = limiter.reserve(1).unwrap();
    RESERVED.set(Some(limiter));
    reservation.cancel();
    assert_eq!(limiter.peek_at(S / 4).remaining(), 3);
}

/// What was taken under one quota is not given back in units of another: it stays taken.
#[test]
fn a_change_in_between_gives_nothing_back() {
    for algorithm in ALL {
        let rule = Rule::exact("user", Quota::per_second(10), by_user).algorithm(algorithm);
        let limits = refused_late([rule], 0, || {
            let user = the_limits().rule("user").unwrap();
            user.set_quota_at(Quota::per_second(20), 0).unwrap();
        });
        let fraction = if ARRIVAL.contains(&algorithm) { 18 } else { 19 };
        assert_eq!(left(limits, "user", &user(1), 0), fraction, "{algorithm}");
    }
}

/// What is no change of the rule's own quota does not keep its units from coming back.
#[test]
fn the_same_quota_again_and_changes_of_other_rules_do_not_matter() {
    for algorithm in ALL {
        let rule = Rule::exact("user", Quota::per_second(10), by_user).algorithm(algorithm);
        let limits = refused_late([rule, Rule::global("other", Quota::per_second(10))], 0, || {
            let rule = |name| the_limits().rule(name).unwrap();
            rule("user").set_quota_at(Quota::per_second(10), 0).unwrap();
            rule("other").set_quota_at(Quota::per_second(20), 0).unwrap();
        });
        assert_eq!(left(limits, "user", &user(1), 0), 10, "{algorithm}");
        assert_eq!(left(limits, "other", &user(1), 0), 18);
    }
}

/// Limits that took the rule over have a quota of their own for the same keys.
#[test]
fn a_change_by_the_next_limits_gives_nothing_back() {
    for algorithm in ALL {
        let rule = Rule::exact("user", Quota::per_second(10), by_user).algorithm(algorithm);
        refused_late([rule], 0, || {
            let next = the_limits().rebuild().keep(the_limits().rule("user").unwrap()).build().unwrap();
            next.rule("user").unwrap().set_quota_at(Quota::per_second(20), 0).unwrap();
            LIMITS.set(Some(Box::leak(Box::new(next))));
        });
        let fraction = if ARRIVAL.contains(&algorithm) { 18 } else { 19 };
        assert_eq!(left(the_limits(), "user", &user(1), 0), fraction, "{algorithm}");
    }
}
