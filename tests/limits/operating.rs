//! What an operator does: shadows, penalties, bans, counts, and changes while running.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tollgate::{Bans, BuildError, Limits, LimitsBuilder, ManualClock, Overflow, Quota, Rule, TopDenied};

use super::oracle::{ALL, ARRIVAL};
use super::{MS, Request, S, builder, by_user, left, limits, user};

fn counted(rules: impl IntoIterator<Item = Rule<Request>>) -> Limits<Request, ManualClock> {
    rules.into_iter().fold(builder().counters(), LimitsBuilder::rule).build().unwrap()
}

/// Allowed, denied and denied by a shadow.
fn counts(limits: &Limits<Request, ManualClock>, rule: &str) -> [u64; 3] {
    let counts = limits.rule(rule).unwrap().counts().unwrap();
    [counts.allowed, counts.denied, counts.shadow_denied]
}

#[test]
fn a_shadow_counts_what_it_would_have_denied_and_denies_nothing() {
    let limits = counted([
        Rule::new("new", Quota::per_minute(2), by_user).shadow(),
        Rule::new("user", Quota::per_minute(5), by_user),
    ]);
    let admitted = (0..8).filter(|_| limits.check_at(&user(1), 0).is_allowed()).count();
    assert_eq!(admitted, 5);
    // It is charged with what was admitted and it had room for, and asked about nothing that was refused.
    assert_eq!(counts(&limits, "new"), [2, 0, 3]);
    assert_eq!(counts(&limits, "user"), [5, 3, 0]);
    assert_eq!(left(&limits, "new", &user(1), 0), 0);
    assert_eq!(limits.check_at(&user(2), 0).rule(), Some("user"));
}

#[test]
fn a_shadow_can_begin_to_refuse_and_stop_again() {
    let limits = counted([Rule::new("new", Quota::per_minute(2), by_user).shadow()]);
    let rule = limits.rule("new").unwrap();
    let ask = |times| (0..times).filter(|_| limits.check_at(&user(1), 0).is_allowed()).count();
    assert_eq!((rule.is_shadow(), ask(5)), (true, 5));
    rule.set_shadow(false);
    assert_eq!((rule.is_shadow(), ask(5)), (false, 0));
    rule.set_shadow(false);
    rule.set_quota_at(Quota::per_minute(4), 0).unwrap();
    assert_eq!((rule.is_shadow(), ask(5)), (false, 0), "the fraction that is used stays");
    rule.set_shadow(true);
    assert_eq!(ask(5), 5);
    assert_eq!(counts(&limits, "new"), [2, 10, 8]);
}

#[test]
fn only_shadows_refuse_nothing() {
    let limits = counted([Rule::global("all", Quota::blocked()).shadow()]);
    assert!(limits.check_at(&user(1), 0).is_allowed());
    assert_eq!(counts(&limits, "all"), [0, 0, 1]);
}

#[test]
fn counts_are_by_rule_and_a_peek_is_none() {
    let limits = counted([
        Rule::new("user", Quota::per_minute(1), by_user),
        Rule::global("all", Quota::per_minute(2)),
    ]);
    for id in [1, 1, 2, 2, 3] {
        let _ = limits.peek_at(&user(id), 0);
        let _ = limits.check_at(&user(id), 0);
    }
    let _ = limits.check_at(&Request { user: None, ..user(0) }, 0);
    // User 1 is refused once, and user 2 once by both; then all are refused by one.
    assert_eq!(counts(&limits, "user"), [2, 2, 0]);
    assert_eq!(counts(&limits, "all"), [2, 3, 0]);
    assert_eq!(limits.rule("user").unwrap().len_at(0), 2);
    assert!(self::limits([]).rules().next().is_none());
    assert!(self::limits([Rule::global("all", Quota::blocked())]).rule("all").unwrap().counts().is_none());
}

#[test]
fn keys_without_room_are_counted() {
    let rule = Rule::new("user", Quota::per_minute(1), by_user).capacity(16).overflow(Overflow::Allow);
    let limits = limits([rule]);
    let admitted = (0..500).filter(|&id| limits.check_at(&user(id), 0).is_allowed()).count();
    let rule = limits.rule("user").unwrap();
    assert_eq!(admitted, 500);
    assert_eq!(rule.overflowed() + rule.len_at(0) as u64, 500);
}

#[test]
fn a_penalty_goes_into_debt_up_to_its_cap() {
    for algorithm in ARRIVAL {
        let rule = Rule::new("login", Quota::per_minute(6), by_user).algorithm(algorithm);
        let limits = limits([rule.max_debt(Duration::from_secs(30))]);
        let login = limits.rule("login").unwrap();
        assert!(login.penalize_at(&user(1), 2, 0).unwrap().is_allowed(), "{algorithm}");
        assert_eq!(left(&limits, "login", &user(1), 0), 4);
        // Four are left; the fifth and two more are owed. The next unit comes ten seconds after those.
        let denied = login.penalize_at(&user(1), 7, 0).unwrap();
        assert_eq!(denied.retry_after(), Duration::from_secs(40), "{algorithm}");
        // No more than that, however much is asked for.
        let denied = login.penalize_at(&user(1), 1_000, 0).unwrap();
        assert_eq!(denied.retry_after(), Duration::from_secs(40), "{algorithm}");
        assert!(limits.peek_at(&user(1), 40 * S - 1).is_denied());
        assert!(limits.check_at(&user(1), 40 * S).is_allowed());
        assert!(limits.check_at(&user(2), 0).is_allowed());
        assert!(login.penalize_at(&Request { user: None, ..user(0) }, 1, 0).is_none());
    }
}

#[test]
fn the_cap_of_a_penalty_is_a_period_of_the_quota_of_now() {
    for (first, next) in
        [(Quota::per_second(10), Quota::per_day(5)), (Quota::per_day(5), Quota::per_second(10))]
    {
        let changed = limits([Rule::new("user", first, by_user)]);
        changed.rule("user").unwrap().set_quota_at(next, 0).unwrap();
        let built = limits([Rule::new("user", next, by_user)]);
        let [changed, built] = [changed, built].map(|limits| {
            let penalized = limits.rule("user").unwrap().penalize_at(&user(1), 1_000, 0).unwrap();
            penalized.retry_after().as_millis()
        });
        // The scale of a quota that was changed may be coarser, so that its last unit is a hair beyond the cap.
        assert!(changed.abs_diff(built) <= built / 5, "{next}: {changed} and {built}");
    }
}

#[test]
fn a_penalty_in_a_window_ends_with_it() {
    for algorithm in ["fixed_window", "sliding_window_log"] {
        let limits = limits([Rule::exact("user", Quota::per_second(3), by_user).algorithm(algorithm)]);
        let denied = limits.rule("user").unwrap().penalize_at(&user(1), 100, 0).unwrap();
        assert_eq!(denied.retry_after(), Duration::from_secs(1), "{algorithm}");
        assert!(limits.check_at(&user(1), S).is_allowed(), "{algorithm}");
    }
}

fn banning(capacity: usize) -> (Arc<Bans<u64>>, Limits<Request, ManualClock>) {
    let bans = Arc::new(Bans::new(capacity).unwrap());
    let limits =
        limits([Rule::global("all", Quota::per_minute(10)), Rule::banned("banned", bans.clone(), by_user)]);
    (bans, limits)
}

#[test]
fn a_ban_refuses_until_it_ends_and_charges_nothing() {
    let (bans, limits) = banning(100);
    assert!(bans.ban_at(&1, Duration::from_secs(3), S));
    let denied = limits.check_at(&user(1), 2 * S);
    assert_eq!((denied.rule(), denied.retry_after()), (Some("banned"), Duration::from_secs(2)));
    assert_eq!(left(&limits, "all", &user(1), 2 * S), 10);
    assert!(limits.check_at(&user(2), 2 * S).is_allowed());
    assert!(limits.check_at(&user(1), 4 * S - 1).is_denied());
    assert!(limits.check_at(&user(1), 4 * S).is_allowed());
    assert_eq!(limits.check_at(&user(1), 4 * S).rule(), Some("all"));
}

#[test]
fn a_ban_is_lifted_or_made_longer_and_never_shorter() {
    let (bans, limits) = banning(100);
    assert!(!bans.unban_at(&1, 0));
    assert!(bans.ban_at(&1, Duration::MAX, 0));
    assert!(bans.ban_at(&1, Duration::from_secs(1), 0));
    assert!(limits.check_at(&user(1), 1_000_000 * S).is_denied());
    assert_eq!(limits.rule("banned").unwrap().len_at(S), 1);
    assert!(bans.unban_at(&1, 5 * S));
    assert!(limits.check_at(&user(1), 5 * S).is_allowed());
    assert_eq!(bans.left_at(&1, 5 * S), Duration::ZERO);
    assert!(!bans.unban_at(&1, 5 * S));
    let error = limits.rule("banned").unwrap().set_quota(Quota::per_second(1)).unwrap_err();
    assert!(error.to_string().contains("Bans::unban_at"), "{error}");
}

/// By a time that is behind that of another who made room.
#[test]
fn a_ban_by_an_earlier_time_is_one() {
    let bans = Bans::<u64>::new(1).unwrap();
    (0..100).for_each(|key| _ = bans.ban_at(&key, Duration::from_secs(1), 0));
    assert!(bans.ban_at(&100, Duration::from_secs(1), 10 * S));
    assert!(bans.ban_at(&101, Duration::from_secs(1), 5 * S));
    assert!(bans.left_at(&101, 5 * S) >= Duration::from_secs(1));
    assert_eq!(bans.left_at(&101, 10 * S), Duration::ZERO);
    // For no time at all it is none, new or not.
    assert!(bans.ban_at(&102, Duration::ZERO, 5 * S));
    assert_eq!(bans.left_at(&102, 5 * S), Duration::ZERO);
}

#[test]
fn bans_have_room_for_their_capacity_and_no_more() {
    let (bans, _) = banning(50);
    let banned = (0..1_000).filter(|id| bans.ban_at(id, Duration::from_secs(60), 0)).count();
    assert!((50..1_000).contains(&banned), "{banned}");
    assert_eq!(bans.len_at(0), banned);
    // Those that are over make room.
    assert_eq!(bans.len_at(60 * S), 0);
    assert!(bans.ban_at(&5_000, Duration::from_secs(60), 61 * S));
    assert_eq!(Bans::<str>::new(0).unwrap_err(), BuildError::CapacityZero);
}

fn per_20_s(limit: u64) -> Quota {
    Quota::new(limit, Duration::from_secs(20))
}

#[test]
fn who_was_out_of_units_comes_back_at_the_new_rate() {
    for algorithm in ARRIVAL {
        let limits = limits([Rule::new("user", per_20_s(10), by_user).algorithm(algorithm)]);
        (0..10).for_each(|_| assert!(limits.check_at(&user(1), S).is_allowed()));
        limits.rule("user").unwrap().set_quota(per_20_s(1_000)).unwrap();
        let denied = limits.check_at(&user(1), S);
        assert_eq!(denied.retry_after(), Duration::from_millis(20), "{algorithm}");
        assert!(limits.check_at(&user(1), S + 20 * MS).is_allowed(), "{algorithm}");
        // Back again: what is used stays the same fraction.
        limits.rule("user").unwrap().set_quota(per_20_s(10)).unwrap();
        assert_eq!(left(&limits, "user", &user(1), 11 * S + 20 * MS), 5, "{algorithm}");
        assert_eq!(left(&limits, "user", &user(2), 11 * S + 20 * MS), 10, "{algorithm}");
    }
}

#[test]
fn the_same_quota_again_changes_nothing() {
    for algorithm in ALL {
        let limits = limits([Rule::exact("user", per_20_s(10), by_user).algorithm(algorithm)]);
        (0..7).for_each(|_| assert!(limits.check_at(&user(1), S).is_allowed()));
        let rule = limits.rule("user").unwrap();
        let before = rule.peek_at(&user(1), 2 * S);
        rule.set_quota(per_20_s(10)).unwrap();
        assert_eq!(rule.peek_at(&user(1), 2 * S), before, "{algorithm}");
    }
}

#[test]
fn windows_keep_what_they_have_counted() {
    for algorithm in ["fixed_window", "sliding_window_counter", "sliding_window_log"] {
        let limits = limits([Rule::exact("user", per_20_s(10), by_user).algorithm(algorithm)]);
        (0..10).for_each(|_| assert!(limits.check_at(&user(1), S).is_allowed()));
        let rule = limits.rule("user").unwrap();
        rule.set_quota(per_20_s(12)).unwrap();
        assert_eq!((left(&limits, "user", &user(1), S), rule.quota()), (2, per_20_s(12)), "{algorithm}");
        rule.set_quota(per_20_s(5)).unwrap();
        assert!(limits.check_at(&user(1), S).is_denied(), "{algorithm}");
    }
}

#[test]
fn blocked_and_back_again_keeps_the_level() {
    let limits = limits([Rule::new("user", per_20_s(10), by_user)]);
    (0..10).for_each(|_| assert!(limits.check_at(&user(1), 0).is_allowed()));
    let rule = limits.rule("user").unwrap();
    for quota in [Quota::blocked(), Quota::unlimited()] {
        rule.set_quota(quota).unwrap();
        assert_eq!(limits.check_at(&user(1), 0).is_allowed(), quota.is_unlimited());
    }
    rule.set_quota(per_20_s(10)).unwrap();
    assert!(limits.check_at(&user(1), 0).is_denied());
}

/// What is used is a fraction of the burst, whatever the burst, the rate and the time in which it comes back.
#[test]
fn the_fraction_is_kept_when_a_burst_takes_another_time() {
    for algorithm in ARRIVAL {
        let quotas = [
            "10/s",
            "10/min",
            "100/day burst 20",
            "1000/s burst 10",
            "7/3s burst 30",
            "10/s burst 40",
            "10/s",
        ];
        let [first, others @ ..] = quotas.map(|quota| quota.parse::<Quota>().unwrap());
        let limits = limits([Rule::new("user", first, by_user).algorithm(algorithm)]);
        // None, half and all of ten.
        for (id, used) in [(1, 5), (2, 10)] {
            (0..used).for_each(|_| assert!(limits.check_at(&user(id), S).is_allowed()));
        }
        let rule = limits.rule("user").unwrap();
        for quota in others {
            rule.set_quota_at(quota, S).unwrap();
            let burst = quota.rate().unwrap().capacity();
            let left = [0, 1, 2].map(|id| left(&limits, "user", &user(id), S));
            assert_eq!(left, [burst, burst / 2, 0], "{algorithm}, {quota}");
            // And the next unit is there after an interval of the new rate, give or take what rounding costs.
            let wait = limits.peek_at(&user(2), S).retry_after().as_nanos();
            let interval = u128::from(quota.rate().unwrap().period_ns() / quota.rate().unwrap().limit());
            assert!(wait.abs_diff(interval) <= interval / 1_000 + 1, "{quota}: {wait} of {interval}");
        }
        assert!(limits.check_at(&user(1), S).is_allowed());
        assert!(limits.check_at(&user(2), S).is_denied());
        assert!(limits.check_at(&user(2), S + 101 * MS).is_allowed());
    }
}

#[test]
fn what_came_back_between_two_changes_has_come_back() {
    let limits = limits([Rule::new("user", Quota::per_second(10), by_user)]);
    (0..10).for_each(|_| assert!(limits.check_at(&user(1), S).is_allowed()));
    let rule = limits.rule("user").unwrap();
    // Half of a minute's quota, and then a quarter of a second's.
    rule.set_quota_at(Quota::per_minute(60), S).unwrap();
    assert_eq!(left(&limits, "user", &user(1), 31 * S), 30);
    rule.set_quota_at(Quota::per_second(100), 31 * S).unwrap();
    assert_eq!(left(&limits, "user", &user(1), 31 * S + 251 * MS), 75);
    // By now all is back, and forgotten as soon as no change can tell.
    assert_eq!(left(&limits, "user", &user(1), 32 * S), 100);
    assert_eq!(rule.len_at(1_000 * S), 0);
}

#[test]
fn a_quota_that_cannot_share_words_is_refused_and_nothing_changes() {
    let windows = limits([Rule::new("user", per_20_s(10), by_user).algorithm("fixed_window")]);
    let rule = windows.rule("user").unwrap();
    assert!(matches!(rule.set_quota(Quota::per_second(10)), Err(BuildError::PlanPeriod { .. })));
    let arrival = limits([Rule::new("user", per_20_s(10), by_user)]);
    let rule = arrival.rule("user").unwrap();
    assert_eq!(rule.set_quota(Quota::per_second(0)), Err(BuildError::LimitZero));
    assert!(rule.set_quota(Quota::per_second(1).burst(u64::MAX)).is_err());
    assert_eq!(rule.quota(), per_20_s(10));
    let unlimited = limits([Rule::new("user", Quota::unlimited(), by_user)]);
    assert!(unlimited.rule("user").unwrap().set_quota(per_20_s(1)).is_err());
}

/// Checks go on while a quota goes up and down: nobody gets more than the larger one allows, and nothing is lost.
#[test]
fn a_change_while_others_check_loses_nothing() {
    let (small, large) = (per_20_s(100), per_20_s(200));
    let limits = limits([
        Rule::new("user", small, by_user).algorithm("fixed_window"),
        Rule::global("all", Quota::per_minute(1_000_000)),
    ]);
    let admitted: u64 = thread::scope(|scope| {
        let checking: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| (0..400).filter(|_| limits.check_at(&user(1), S).is_allowed()).count() as u64)
            })
            .collect();
        (0..200).for_each(|turn| limits.rule("user").unwrap().set_quota([large, small][turn % 2]).unwrap());
        limits.rule("user").unwrap().set_quota(large).unwrap();
        checking.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!((100..=200).contains(&admitted), "{admitted}");
    assert_eq!(left(&limits, "user", &user(1), S), 200 - admitted);
    assert_eq!(left(&limits, "all", &user(1), S), 1_000_000 - admitted);
}

/// The same where a burst takes another time to come back, so that words are carried over while others charge them.
#[test]
fn a_change_of_the_span_while_others_check_gives_no_fresh_burst() {
    let (small, large) = (Quota::per_second(100), Quota::per_minute(200));
    for algorithm in ARRIVAL {
        let limits = limits([Rule::new("user", small, by_user).algorithm(algorithm)]);
        let check = || limits.check_at(&user(1), S).is_allowed();
        let mut admitted: u64 = thread::scope(|scope| {
            let checking: Vec<_> =
                (0..3).map(|_| scope.spawn(|| (0..400).filter(|_| check()).count() as u64)).collect();
            let rule = limits.rule("user").unwrap();
            (0..200).for_each(|turn| rule.set_quota_at([large, small][turn % 2], S).unwrap());
            checking.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        while check() {
            admitted += 1;
        }
        // All of one quota, all of the other, or something between; rounding up may cost the last unit.
        assert!((99..=200).contains(&admitted), "{algorithm}: {admitted}");
    }
}

#[test]
fn a_rule_that_is_kept_keeps_its_keys_and_its_quota() {
    let first =
        counted([Rule::new("user", per_20_s(10), by_user), Rule::new("gone", Quota::per_minute(1), by_user)]);
    assert!(first.check_at(&user(1), S).is_allowed());
    assert_eq!(first.check_at(&user(1), S).rule(), Some("gone"));
    first.rule("user").unwrap().set_quota(per_20_s(20)).unwrap();
    let next = first.rebuild().keep(first.rule("user").unwrap()).counters().build().unwrap();
    assert_eq!(left(&next, "user", &user(1), S), 18);
    assert_eq!((counts(&next, "user"), next.rule("user").unwrap().quota()), ([0; 3], per_20_s(20)));
    // A call that began with the former rules charges the same keys.
    let _ = first.check_at(&user(2), S);
    assert_eq!(left(&next, "user", &user(2), S), 19);
    assert!(next.check_at(&user(1), S).is_allowed());
    assert_eq!(left(&first, "user", &user(1), S), 17);
}

#[test]
fn a_rule_of_another_clock_is_not_kept() {
    let (one, other) = (limits([Rule::global("all", Quota::per_second(1))]), limits([]));
    let error = other.rebuild().keep(one.rule("all").unwrap()).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "rule \"all\": it is of limits with another clock: start from `rebuild` of those"
    );
    let by_default =
        Limits::<Request>::builder().rule(Rule::global("all", Quota::per_second(1))).build().unwrap();
    let kept = by_default.rebuild().keep(by_default.rule("all").unwrap());
    assert!(kept.clock(ManualClock::new(0)).build().unwrap_err().to_string().contains("another clock"));
    let all = || one.rule("all").unwrap();
    let twice = one.rebuild().keep(all()).keep(all()).build().unwrap_err();
    assert_eq!(twice, BuildError::RuleNameTaken { name: "all".to_owned() });
}

#[test]
fn keys_denied_most_are_followed_where_it_is_asked_for() {
    let top = Arc::new(TopDenied::new(50).unwrap());
    let rule = Rule::new("user", Quota::per_minute(1), by_user);
    let limits = counted([
        rule.top_denied(top.clone(), by_user),
        Rule::new("soon", Quota::blocked(), by_user).shadow(),
    ]);
    for number in 0..20 {
        let request = user(number);
        for _ in 0..=number {
            _ = limits.check(&request);
        }
        // A look is no denial.
        _ = limits.peek(&request);
    }
    let worst: Vec<_> =
        top.top(3).into_iter().map(|denied| (denied.key, denied.denied, denied.at_most_over)).collect();
    assert_eq!(worst, [(19, 19, 0), (18, 18, 0), (17, 17, 0)]);
    assert_eq!(top.top(100).len(), 19, "who was never denied is not there");
}

#[test]
fn a_shadow_s_keys_are_followed_too() {
    let top = Arc::new(TopDenied::new(5).unwrap());
    let soon = Rule::new("soon", Quota::per_minute(2), by_user).shadow().top_denied(top.clone(), by_user);
    let limits = counted([soon]);
    for (number, times) in [(1, 2), (2, 6), (3, 3)] {
        for _ in 0..times {
            assert!(limits.check_at(&user(number), 0).is_allowed());
        }
    }
    let worst: Vec<_> = top.top(5).into_iter().map(|denied| (denied.key, denied.denied)).collect();
    assert_eq!(worst, [(2, 4), (3, 1)]);
}

/// A long list of rules, of which few apply, fits a small stack.
#[test]
fn rules_that_do_not_apply_take_no_stack() {
    let rules = (0..2_000).map(|number| {
        let applies = move |request: &Request| (number % 500 == 7).then_some(request.user);
        Rule::new(&format!("rule{number}"), Quota::per_minute(2), applies).capacity(10)
    });
    let limits = counted(rules);
    let small = thread::Builder::new().stack_size(64 << 10);
    let allowed = small.spawn(move || {
        let allowed = (0..3).map(|_| limits.check_at(&user(1), 0).is_allowed()).collect::<Vec<_>>();
        assert_eq!(counts(&limits, "rule1507"), [2, 1, 0]);
        assert_eq!(counts(&limits, "rule8"), [0, 0, 0]);
        allowed
    });
    assert_eq!(allowed.unwrap().join().unwrap(), [true, true, false]);
}

/// Numbers from 0, the lower the more often, as 1 / (n + 1); the same for each seed.
fn skewed(seed: u64, keys: u64, count: usize) -> Vec<u64> {
    let total: f64 = (1..=keys).map(|place| 1.0 / place as f64).sum();
    let mut state = seed;
    let mut next = || {
        // splitmix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let sums: Vec<f64> = (1..=keys)
        .scan(0.0, |sum, place| {
            *sum += 1.0 / place as f64;
            Some(*sum)
        })
        .collect();
    let draw =
        |random: u64| sums.partition_point(|&sum| sum < random as f64 / u64::MAX as f64 * total) as u64;
    (0..count).map(|_| draw(next()).min(keys - 1)).collect()
}

#[test]
fn of_a_long_skewed_stream_the_worst_are_found_within_the_bound() {
    let (keys, denials) = (20_000, 200_000);
    for (seed, followed) in [(1, 50), (2, 200)] {
        let top = Arc::new(TopDenied::new(followed).unwrap());
        let rule = Rule::exact("all", Quota::blocked(), by_user).top_denied(top.clone(), by_user);
        let limits = counted([rule]);
        let mut exact = std::collections::HashMap::new();
        for number in skewed(seed, keys, denials) {
            assert!(limits.check_at(&user(number), 0).is_denied());
            *exact.entry(number).or_insert(0_u64) += 1;
        }
        let found = top.top(followed);
        let bound = denials as u64 / followed as u64;
        for denied in &found {
            let is = exact[&denied.key];
            assert!(denied.denied >= is && denied.denied - denied.at_most_over <= is, "{denied:?} was {is}");
            assert!(denied.at_most_over <= bound);
        }
        for (key, _) in exact.iter().filter(|&(_, &times)| times > bound) {
            assert!(found.iter().any(|denied| denied.key == *key), "{key} is missing");
        }
        // The worst ten are told in their order.
        let worst: Vec<_> = found.iter().take(5).map(|denied| denied.key).collect();
        assert_eq!(worst, [0, 1, 2, 3, 4]);
    }
}
