//! What an operator is told of changes.

mod lines;

use std::time::Duration;

use lines::Lines;
use tollgate::config::{Config, LiveLimits, Request};
use tollgate::{Bans, Limits, Quota, Rule};

fn told(change: impl FnOnce()) -> Vec<String> {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), change);
    lines.told()
}

#[test]
fn a_quota_is_told_once_and_only_if_it_changes() {
    let limits = Limits::builder().rule(Rule::<()>::global("all", Quota::per_minute(60))).build().unwrap();
    let rule = limits.rule("all").unwrap();
    let lines = told(|| {
        rule.set_quota(Quota::per_minute(600)).unwrap();
        rule.set_quota(Quota::per_minute(600)).unwrap();
        assert!(rule.set_quota(Quota::per_minute(0)).is_err());
    });
    assert_eq!(lines, ["INFO message=quota changed rule=\"all\" old=60/min new=600/min"]);
}

#[test]
fn rules_that_are_put_together_are_told() {
    let lines = told(|| {
        let rule = |name| Rule::<()>::global(name, Quota::per_minute(60));
        let limits = Limits::builder().rule(rule("a")).rule(rule("b")).build().unwrap();
        drop(limits.rebuild().keep(limits.rule("b").unwrap()).build().unwrap());
    });
    assert_eq!(
        lines,
        ["INFO message=limits built rules=[\"a\", \"b\"]", "INFO message=limits built rules=[\"b\"]"]
    );
}

#[test]
fn bans_are_told() {
    let lines = told(|| {
        let bans = Bans::<u64>::new(1).unwrap();
        assert!(bans.ban_at(&7, Duration::from_secs(60), 0));
        assert!(bans.unban_at(&7, 0));
        assert!(!bans.unban_at(&7, 0));
    });
    assert_eq!(lines, ["INFO message=key banned duration=60s", "INFO message=ban lifted"]);
}

struct Call;

impl Request for Call {
    fn path(&self) -> &str {
        "/"
    }

    fn method(&self) -> &str {
        "GET"
    }
}

#[test]
fn a_file_that_takes_the_place_of_another_is_told() {
    let file =
        |quota| Config::from_yaml(&format!("rules: [{{name: site, key: all, quota: {quota}}}]")).unwrap();
    let live = LiveLimits::<Call>::new(file("1/s")).unwrap();
    let lines = told(|| drop(live.replace(file("2/s")).unwrap()));
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("INFO message=rules replaced") && last.contains("requoted: [\"site\"]"),
        "{lines:?}"
    );
}
