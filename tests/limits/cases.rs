//! What other limiters got wrong, and what an outcome says.

use std::time::Duration;

use tollgate::{BuildError, Limits, Quota, Rule};

use super::oracle::ALL;
use super::{MS, Request, S, builder, by_user, left, limits, user};

/// A rule by user that can have any algorithm.
fn rule(name: &str, quota: Quota, algorithm: &str) -> Rule<Request> {
    Rule::exact(name, quota, by_user).algorithm(algorithm)
}

#[test]
fn what_the_second_refuses_is_not_charged_to_the_minute() {
    for algorithm in ALL {
        let limits = limits([
            rule("second", Quota::per_second(1), algorithm),
            rule("minute", Quota::per_minute(10), "fixed_window"),
        ]);
        let admitted = (0..20).filter(|_| limits.check_at(&user(1), 0).is_allowed()).count();
        assert_eq!((admitted, left(&limits, "minute", &user(1), 0)), (1, 9), "{algorithm}");
        // A counter of windows still sees a part of the second before.
        let later = if algorithm == "sliding_window_counter" { 2 * S } else { 1_100 * MS };
        assert!(limits.check_at(&user(1), later).is_allowed(), "{algorithm}");
        assert_eq!(left(&limits, "minute", &user(1), later), 8, "{algorithm}");
    }
}

#[test]
fn what_the_user_is_refused_is_not_charged_to_all() {
    for algorithm in ALL {
        // In either order.
        for user_first in [true, false] {
            let mut rules = vec![
                rule("user", Quota::per_minute(1), algorithm),
                Rule::global("global", Quota::per_minute(10)).algorithm(algorithm),
            ];
            if !user_first {
                rules.reverse();
            }
            let limits = limits(rules);
            let admitted = (0..20).filter(|_| limits.check_at(&user(1), 0).is_allowed()).count();
            assert_eq!((admitted, left(&limits, "global", &user(1), 0)), (1, 9), "{algorithm}");
        }
    }
}

#[test]
fn a_refused_cost_leaves_room_for_a_smaller_one() {
    let limits =
        limits([Rule::new("user", Quota::per_minute(10), by_user).cost(|request: &Request| request.cost)]);
    let costing = |cost| Request { cost, ..user(1) };
    assert!(limits.check_at(&costing(8), 0).is_allowed());
    assert!(limits.check_at(&costing(5), 0).is_denied());
    let last = limits.check_at(&costing(1), 0);
    assert_eq!((last.is_allowed(), last.remaining()), (true, 1));
}

#[test]
fn two_tuples_are_never_one_key() {
    type Names = (&'static str, &'static str);
    let rules = [
        Rule::new("table", Quota::per_minute(1), |names: &Names| Some(*names)),
        Rule::exact("map", Quota::per_minute(1), |names: &Names| Some(*names)),
    ];
    for rule in rules {
        let limits = Limits::builder().rule(rule).build().unwrap();
        assert!(limits.check_at(&("a", "b:c"), 0).is_allowed());
        assert!(limits.check_at(&("a:b", "c"), 0).is_allowed());
        assert!(limits.check_at(&("a", "b:c"), 0).is_denied());
    }
}

#[test]
fn ten_thousand_made_up_addresses_reset_nobody() {
    let limits = limits([Rule::new("user", Quota::per_minute(1), by_user).capacity(1_000)]);
    assert!(limits.check_at(&user(0), 0).is_allowed());
    for id in 1..10_000 {
        let _ = limits.check_at(&user(id), 0);
    }
    assert!(limits.check_at(&user(0), 0).is_denied());
}

#[test]
fn the_longest_wait_and_the_least_left_answer() {
    let limits = limits([
        Rule::new("second", Quota::per_second(2), by_user),
        Rule::new("minute", Quota::per_minute(3), by_user),
        Rule::new("hour", Quota::per_hour(100), by_user),
    ]);
    let first = limits.check_at(&user(1), 0);
    assert_eq!((first.rule(), first.remaining()), (Some("second"), 1));
    let second = limits.check_at(&user(1), 0);
    assert_eq!((second.rule(), second.remaining()), (Some("second"), 0));
    // Nothing is left of either; the second's unit comes back earlier.
    assert_eq!(limits.check_at(&user(1), S).rule(), Some("minute"));
    let denied = limits.check_at(&user(1), S);
    assert_eq!((denied.rule(), denied.decision().limit()), (Some("minute"), 3));
    assert_eq!(denied.retry_after(), Duration::from_secs(19));
    assert!(limits.peek_at(&user(1), 20 * S - 1).is_denied());
    assert!(limits.check_at(&user(1), 20 * S).is_allowed());
}

#[test]
fn a_cost_that_never_fits_outweighs_any_wait() {
    let limits = limits([
        Rule::new("long", Quota::per_day(10), by_user).cost(|request: &Request| request.cost),
        Rule::new("small", Quota::per_second(5), by_user).cost(|request: &Request| request.cost),
    ]);
    assert!(limits.check_at(&Request { cost: 5, ..user(1) }, 0).is_allowed());
    let denied = limits.check_at(&Request { cost: 6, ..user(1) }, 0);
    assert_eq!(denied.rule(), Some("small"));
    assert!(denied.is_denied() && !denied.decision().fits_later());
}

#[test]
fn rules_that_do_not_apply_are_not_there() {
    let limits = limits([
        Rule::new("user", Quota::per_minute(1), by_user),
        Rule::new("upload", Quota::per_minute(1), |request: &Request| {
            (request.endpoint == "/upload").then_some(())
        }),
    ]);
    let anonymous = Request { user: None, ..user(0) };
    let outcome = limits.check_at(&anonymous, 0);
    assert_eq!((outcome.rule(), outcome.is_allowed(), outcome.remaining()), (None, true, u64::MAX));
    let upload = Request { endpoint: "/upload", ..anonymous };
    assert!(limits.check_at(&upload, 0).is_allowed());
    assert_eq!(limits.check_at(&Request { endpoint: "/upload", ..user(1) }, 0).rule(), Some("upload"));
    assert!(limits.check_at(&user(1), 0).is_allowed());
    assert!(limits.rule("upload").unwrap().peek_at(&user(1), 0).is_none());
    assert!(Limits::<Request>::builder().build().unwrap().check(&user(1)).is_allowed());
}

#[test]
fn the_first_refusal_answers_when_that_is_asked_for() {
    let rules =
        || [Rule::new("user", Quota::per_second(1), by_user), Rule::global("global", Quota::per_minute(1))];
    let tiers = rules().into_iter().fold(builder().first_refusal_answers(), |all, rule| all.rule(rule));
    let tiers = tiers.build().unwrap();
    let all = limits(rules());
    for limits in [&tiers, &all] {
        assert!(limits.check_at(&user(1), 0).is_allowed());
    }
    assert_eq!(tiers.check_at(&user(1), 0).rule(), Some("user"));
    assert_eq!(all.check_at(&user(1), 0).rule(), Some("global"));
    assert_eq!(tiers.check_at(&user(2), 0).rule(), Some("global"));
    assert_eq!(left(&tiers, "user", &user(2), 0), 1);
}

#[test]
fn a_peek_charges_nothing() {
    let limits =
        limits([Rule::new("user", Quota::per_minute(2), by_user), Rule::global("all", Quota::per_minute(9))]);
    for _ in 0..5 {
        assert_eq!(limits.peek_at(&user(1), 0).remaining(), 1);
    }
    assert_eq!(limits.check_at(&user(1), 0), limits.peek_at(&user(2), 0));
    assert_eq!(limits.rule("user").unwrap().len_at(0), 1);
}

#[test]
fn what_is_free_is_allowed_and_not_charged() {
    let rules =
        || [Rule::new("user", Quota::per_minute(1), by_user), Rule::global("all", Quota::per_minute(5))];
    let limits = limits(rules().map(|rule| rule.cost(|request: &Request| request.cost)));
    assert!(limits.check_at(&user(1), 0).is_allowed());
    let free = limits.check_at(&Request { cost: 0, ..user(1) }, 0);
    assert_eq!((free.is_allowed(), free.rule(), free.remaining()), (true, Some("user"), 0));
    assert_eq!(left(&limits, "all", &user(1), 0), 4);
}

#[test]
fn bad_rules_are_named() {
    let build =
        |rules: [Rule<Request>; 2]| rules.into_iter().fold(builder(), |all, rule| all.rule(rule)).build();
    let good = || Rule::new("good", Quota::per_second(1), by_user);
    let error = build([good(), Rule::global("bad", Quota::per_second(0))]).unwrap_err();
    assert_eq!(error, BuildError::Rule { name: "bad".to_owned(), error: Box::new(BuildError::LimitZero) });
    assert!(error.to_string().starts_with("rule \"bad\": limit 0 is ambiguous"), "{error}");
    let error = build([good(), good()]).unwrap_err();
    assert_eq!(error.to_string(), "two rules are named \"good\": give each a name of its own");
    let error =
        build([good(), Rule::new("log", Quota::per_second(1), by_user).algorithm("sliding_window_log")]);
    assert!(error.unwrap_err().to_string().contains("rule \"log\""));
}
