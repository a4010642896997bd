//! Another file in the place of the one in force.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use tollgate::config::{Config, LiveLimits};
use tollgate::{Limits, ManualClock};

use super::Call;

const MS: u64 = 1_000_000;

fn config(rules: &[(&str, &str)]) -> Config {
    let rule = |(name, quota): &(&str, &str)| {
        format!("[[rules]]\nname = '{name}'\nkey = 'user'\nquota = '{quota}'\n")
    };
    Config::from_toml(&rules.iter().map(rule).collect::<String>()).unwrap()
}

fn live(config: Config) -> LiveLimits<Call, ManualClock> {
    LiveLimits::build(config, Limits::builder().clock(ManualClock::new(0))).unwrap()
}

fn allowed(live: &LiveLimits<Call, ManualClock>, user: &'static str, calls: usize, now_ns: u64) -> usize {
    let limits = live.load();
    (0..calls).filter(|_| limits.check_at(&Call::by(user), now_ns).is_allowed()).count()
}

#[test]
fn keys_keep_what_they_have_used_where_a_rule_stays() {
    let live = live(config(&[("a", "10/20s"), ("b", "100/s")]));
    assert_eq!(allowed(&live, "alice", 20, 0), 10);
    let changes = live.replace(config(&[("b", "100/s"), ("a", "10/20s"), ("c", "1000/s")])).unwrap();
    assert_eq!(changes.kept, ["b", "a"]);
    assert_eq!((&*changes.started, &*changes.removed), (&["c".to_owned()][..], &[][..]));
    assert_eq!(allowed(&live, "alice", 20, 0), 0, "the same quota again changes nothing");
    let changes = live.replace(config(&[("a", "1000/20s")])).unwrap();
    assert_eq!(
        (&*changes.requoted, &*changes.removed),
        (&["a".to_owned()][..], &["b".to_owned(), "c".to_owned()][..])
    );
    assert_eq!(allowed(&live, "alice", 20, 0), 0, "no fresh burst");
    assert_eq!(allowed(&live, "alice", 20, 20 * MS), 1, "and the new rate from now on");
}

#[test]
fn a_rule_that_counts_otherwise_starts_anew() {
    let live = live(config(&[("a", "3/min")]));
    assert_eq!(allowed(&live, "alice", 5, 0), 3);
    let other = "[[rules]]\nname = 'a'\nkey = ['user', 'path']\nquota = '3/min'";
    let changes = live.replace(Config::from_toml(other).unwrap()).unwrap();
    assert_eq!(changes.started, ["a"]);
    assert_eq!(allowed(&live, "alice", 5, 0), 3);
}

#[test]
fn a_window_of_another_length_starts_anew_and_is_said_to() {
    let windows = |quota: &str| {
        let rule =
            format!("[[rules]]\nname = 'a'\nkey = 'user'\nalgorithm = 'fixed_window'\nquota = '{quota}'");
        Config::from_toml(&rule).unwrap()
    };
    let live = live(windows("3/min"));
    assert_eq!(allowed(&live, "alice", 5, 0), 3);
    assert_eq!(live.replace(windows("5/min")).unwrap().requoted, ["a"]);
    assert_eq!(allowed(&live, "alice", 5, 0), 2);
    assert_eq!(live.replace(windows("5/h")).unwrap().started, ["a"]);
    assert_eq!(allowed(&live, "alice", 9, 0), 5);
}

#[test]
fn lists_and_the_default_are_those_of_the_new_file() {
    let rules = |more: &str| {
        Config::from_toml(&format!(
            "{more}\n[[rules]]\nname = 'a'\nkey = 'client'\npath = '/'\nquota = '1/min'"
        ))
        .unwrap()
    };
    let live = live(rules(""));
    let calls = |client: &str| {
        let limits = live.load();
        (0..3).filter(|_| limits.check_at(&Call::from(client), 0).is_allowed()).count()
    };
    assert_eq!(calls("10.0.0.1"), 1);
    assert_eq!(live.replace(rules("allow = '10.0.0.0/8'\ndeny = '192.0.2.1'")).unwrap().kept, ["a"]);
    assert_eq!((calls("10.0.0.1"), calls("192.0.2.1"), calls("192.0.2.2")), (3, 0, 1));
    live.replace(rules("")).unwrap();
    assert_eq!((calls("10.0.0.1"), calls("192.0.2.1"), calls("192.0.2.2")), (0, 1, 0));
}

/// Checks go on while files come and go: what is admitted of the rule that stays is what its quota allows.
#[test]
fn checks_go_on_while_files_come_and_go() {
    let files = [
        config(&[("a", "1000/day"), ("b", "100000/day")]),
        config(&[("b", "100000/day"), ("a", "1000/day"), ("c", "100000/day")]),
    ];
    let live = live(files[0].clone());
    let (admitted, done) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..200 {
                live.replace(files[(turn + 1) % 2].clone()).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut calls = 0;
                while !done.load(Ordering::Acquire) || calls < 1_500 {
                    calls += 1;
                    if live.load().check(&Call::by("alice")).is_allowed() {
                        admitted.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(admitted.into_inner(), 1_000);
}

/// Each call takes its part of the quota that it met, whichever of the two that was, and the parts add up to a whole.
#[test]
fn quotas_that_change_under_load_give_no_fresh_burst() {
    let files = [config(&[("a", "1000/day")]), config(&[("a", "2000/day")])];
    let live = live(files[0].clone());
    let (taken, done) = (AtomicU64::new(0), AtomicBool::new(false));
    // In 2000ths of the quota.
    let ask = || {
        let limits = live.load();
        let outcome = limits.check_at(&Call::by("alice"), 0);
        if outcome.is_allowed() {
            taken.fetch_add(2_000 / outcome.decision().limit(), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    ask();
                }
            });
        }
        for turn in 1..=200 {
            let changes = live.replace(files[turn % 2].clone()).unwrap();
            assert_eq!(changes.requoted, ["a"]);
        }
        done.store(true, Ordering::Release);
    });
    live.replace(files[1].clone()).unwrap();
    (0..2_001).for_each(|_| ask());
    assert_eq!(taken.into_inner(), 2_000);
}

#[test]
fn a_rule_with_another_name_or_algorithm_starts_anew_and_is_said_to() {
    let live = live(config(&[("a", "3/min")]));
    assert_eq!(allowed(&live, "alice", 5, 0), 3);
    let changes = live.replace(config(&[("b", "3/min")])).unwrap();
    assert_eq!((&*changes.started, &*changes.removed), (&["b".to_owned()][..], &["a".to_owned()][..]));
    assert_eq!(allowed(&live, "alice", 5, 0), 3);
    let window = "[[rules]]\nname = 'b'\nkey = 'user'\nquota = '3/min'\nalgorithm = 'fixed_window'";
    let changes = live.replace(Config::from_toml(window).unwrap()).unwrap();
    assert_eq!((&*changes.started, &*changes.removed), (&["b".to_owned()][..], &[][..]));
    assert_eq!(allowed(&live, "alice", 5, 0), 3);
}

#[test]
fn a_file_that_cannot_be_kept_changes_nothing() {
    let live = live(config(&[("a", "3/min"), ("b", "3/min")]));
    assert_eq!(allowed(&live, "alice", 2, 0), 2);
    let huge = "[[rules]]\nname = 'a'\nkey = 'user'\nquota = '300/min'\n\
                [[rules]]\nname = 'c'\nkey = 'user'\nquota = '1/min'\ncapacity = 9223372036854775807";
    let error = live.replace(Config::from_toml(huge).unwrap()).unwrap_err().to_string();
    assert!(error.contains("no memory for a capacity"), "{error}");
    assert_eq!(live.load().rule("a").unwrap().quota().to_string(), "3/min");
    assert_eq!(allowed(&live, "alice", 5, 0), 1);
}

/// One rule, with whatever else is said of it.
fn one(more: &str) -> Config {
    Config::from_toml(&format!("[[rules]]\nname = 'a'\nkey = 'user'\nquota = '10/min'\n{more}")).unwrap()
}

#[test]
fn a_rule_for_other_requests_goes_on_with_what_its_keys_have_used() {
    let live = live(one(""));
    assert_eq!(allowed(&live, "alice", 6, 0), 6);
    // It is for no request of this path now, and then for all again.
    let changes = live.replace(one("path = '/other'")).unwrap();
    assert_eq!((&*changes.altered, &*changes.started), (&["a".to_owned()][..], &[][..]));
    assert_eq!(allowed(&live, "alice", 20, 0), 20);
    assert_eq!(live.replace(one("method = ['GET', 'POST']")).unwrap().altered, ["a"]);
    assert_eq!(allowed(&live, "alice", 20, 0), 4, "no fresh burst");
    // By a list, and at another cost, and with another quota besides.
    assert_eq!(live.replace(one("allow = '192.0.2.0/24'")).unwrap().altered, ["a"]);
    assert_eq!(allowed(&live, "bob", 2, 0), 2);
    assert_eq!(live.replace(one("cost = 4")).unwrap().altered, ["a"]);
    assert_eq!(allowed(&live, "bob", 9, 0), 2, "two of eight, by four each");
    assert_eq!(live.replace(one("")).unwrap().altered, ["a"]);
    assert_eq!(live.replace(one("")).unwrap().kept, ["a"]);
    assert_eq!(allowed(&live, "bob", 9, 0), 0);
}

#[test]
fn a_shadow_that_begins_to_refuse_goes_on_with_what_its_keys_have_used() {
    let live = live(one("shadow = true"));
    assert_eq!(allowed(&live, "alice", 12, 0), 12);
    let counts = live.load().rule("a").unwrap().counts().unwrap();
    assert_eq!((counts.allowed, counts.shadow_denied), (10, 2));
    assert_eq!(live.replace(one("")).unwrap().altered, ["a"]);
    assert!(!live.load().rule("a").unwrap().is_shadow());
    assert_eq!(allowed(&live, "alice", 12, 0), 0, "no fresh burst");
    assert_eq!(allowed(&live, "bob", 12, 0), 10);
    assert_eq!(live.replace(one("shadow = true")).unwrap().altered, ["a"]);
    assert_eq!(allowed(&live, "alice", 12, 0), 12);
}

/// Whoever was given the former rules is limited by those, also where the next file gives the request to another rule.
#[test]
fn a_request_does_not_fall_between_two_files() {
    let rule = |name: &str, path: &str| {
        format!("[[rules]]\nname = '{name}'\npath = '{path}'\nkey = 'all'\nquota = '2/min'\n")
    };
    let default = "[default]\nkey = 'all'\nquota = '2/min'\n";
    for (former, next) in [
        (default.to_owned(), default.to_owned() + &rule("a", "/a")),
        (rule("a", "/a"), rule("a", "/b") + &rule("b", "/a")),
        (rule("a", "/a"), rule("a", "/a") + "allow = '192.0.2.1'"),
        (rule("a", "/a"), "allow = '192.0.2.1'\n".to_owned() + &rule("a", "/a")),
        ("deny = '192.0.2.1'\n".to_owned() + default, default.to_owned()),
    ] {
        let live = live(Config::from_toml(&former).unwrap());
        let call = Call { client: "192.0.2.1".parse().ok(), ..Call::to("/a") };
        let loaded = live.load();
        let most = if former.starts_with("deny") { 0 } else { 2 };
        live.replace(Config::from_toml(&next).unwrap()).unwrap();
        let allowed = (0..9).filter(|_| loaded.check_at(&call, 0).is_allowed()).count();
        assert_eq!(allowed, most, "{former}\nand then\n{next}");
    }
}
