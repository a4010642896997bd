//! Files of rules: checked, and tried on logs.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{example_log, refusal_of, stdout_of, tollgate};

/// A file that is there for as long as the directory is.
fn file(dir: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn sample() -> String {
    format!("{}/examples/rules.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_sample_is_right_and_shown() {
    let shown = stdout_of(&["check-rules", &sample()], b"");
    let expected = "login: 5/60s by gcra\n\
        upload bytes: 10000000/60s burst 50000000 by gcra\n\
        client: 100/60s burst 20 by gcra\n\
        client, day: 1000/86400s by sliding_window_log, shadow\n";
    assert_eq!(shown.replace("/min", "/60s").replace("/day", "/86400s"), expected);
}

#[test]
fn all_mistakes_are_told_by_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let path =
        file(&dir, "bad.toml", "colour = 1\n[[rules]]\nname = 'a'\nkey = 'hat'\nquota = '1/fortnight'\n");
    let name = path.display().to_string();
    for args in [&["check-rules", &*name][..], &["replay", "--rules", &*name, "-"]] {
        let refusal = refusal_of(args, b"2015-05-17T10:05:03Z,a\n");
        for line in [1, 4, 5] {
            assert!(refusal.contains(&format!("{name}:{line}: ")), "{refusal}");
        }
        assert!(refusal.contains("is not in force"), "{refusal}");
    }
    assert!(refusal_of(&["check-rules", "no/such/file.toml"], b"").contains("no/such/file.toml"));
}

#[test]
fn yaml_and_json_are_told_by_their_endings() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.yaml", "rules:\n  - {name: site, key: all, quota: 1/s}\n"),
        ("a.json", "{\"rules\": [{\"name\": \"site\", \"key\": \"all\", \"quota\": \"1/s\"}]}"),
    ] {
        let path = file(&dir, name, text).display().to_string();
        assert_eq!(stdout_of(&["check-rules", &path], b""), "site: 1/s by gcra\n");
    }
}

#[test]
fn rules_and_limits_exclude_each_other() {
    let refusal = refusal_of(&["replay", "--rules", &sample(), "--limit", "1/s", "-"], b"");
    assert!(refusal.contains("--limit"), "{refusal}");
}

#[test]
fn a_log_is_told_rule_by_rule() {
    let dir = tempfile::tempdir().unwrap();
    let rules = r#"
        [[rules]]
        name = "site"
        key = "all"
        quota = "2/min"
        algorithm = "fixed_window"
        [[rules]]
        name = "soon"
        key = "client"
        quota = "1/min"
        algorithm = "fixed_window"
        shadow = true
        "#;
    let rules = file(&dir, "rules.toml", rules).display().to_string();
    // The order is that of time: the last line is the first request.
    let log = b"60,10.0.0.1\n61,10.0.0.1\n62,10.0.0.2\n63,10.0.0.3\nnonsense\n59,10.0.0.9\n";
    let text = stdout_of(&["replay", "--rules", &rules, "--output", "json", "-"], log);
    let report: Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!({
        "requests": 5, "unparsed": 1, "allowed": 3, "denied": 2,
        "rules": [
            {"name": "site", "quota": "2/min", "asked": 5, "allowed": 3, "denied": 2, "shadow_denied": 0, "denied_clients": 2},
            {"name": "soon", "quota": "1/min", "asked": 3, "allowed": 2, "denied": 0, "shadow_denied": 1, "denied_clients": 0},
        ]
    });
    assert_eq!(report, expected);
    let text = stdout_of(&["replay", "--rules", &rules, "-"], &log[..log.len() - 21]);
    assert!(text.starts_with("4 requests, 0 lines unparsed\n2 allowed, 2 denied\n"), "{text}");
}

#[test]
fn rules_that_no_request_met_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let rules = "rules = [{name = 'paid', key = 'all', plan = 'paid', quota = '1/s'},\n\
                 {name = 'site', key = 'all', quota = '9/s', deny = '192.0.2.1'}]";
    let rules = file(&dir, "rules.toml", rules).display().to_string();
    let done =
        tollgate().args(["replay", "--rules", &rules, "-"]).write_stdin("60,10.0.0.1\n").assert().success();
    let told = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(told.starts_with("no request of the log met `paid`\n"), "{told}");
}

#[test]
fn standard_input_is_one_of_two() {
    let refusal = refusal_of(&["replay", "--rules", "-", "-"], b"");
    assert!(refusal.contains("standard input is the rules or the log"), "{refusal}");
    let shown = stdout_of(&["check-rules", "-"], b"rules = [{name = 'a', key = 'all', quota = '1/s'}]");
    assert_eq!(shown, "a: 1/s by gcra\n");
}

#[test]
fn an_empty_log_and_an_empty_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(refusal_of(&["replay", "--rules", &sample(), "-"], b"").contains("no line of the log"));
    let empty = file(&dir, "empty.toml", "").display().to_string();
    assert!(refusal_of(&["check-rules", &empty], b"").contains("empty.toml:1: the file limits nothing"));
}

/// One rule of a file is one limit: what `--limit` answers.
#[test]
fn one_rule_is_one_limit() {
    let dir = tempfile::tempdir().unwrap();
    let log = example_log().display().to_string();
    for algorithm in tollgate::algorithm::names() {
        let rules =
            format!("rules = [{{name = 'a', key = 'client', quota = '20/min', algorithm = '{algorithm}'}}]");
        let rules = file(&dir, "rules.toml", &rules).display().to_string();
        let json = |args: &[&str]| -> Value { serde_json::from_str(&stdout_of(args, b"")).unwrap() };
        let by_rule = json(&["replay", "--rules", &rules, "--output", "json", &log]);
        let by_limit =
            json(&["replay", "--limit", "20/min", "--algorithm", &algorithm, "--output", "json", &log]);
        let result = &by_limit["results"][0];
        assert_eq!(
            [&by_rule["allowed"], &by_rule["denied"]],
            [&result["allowed"], &result["denied"]],
            "{algorithm}"
        );
        assert_eq!(by_rule["rules"][0]["denied_clients"], result["denied_keys"], "{algorithm}");
    }
}
