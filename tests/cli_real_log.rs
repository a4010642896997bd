//! Real traffic, with figures from an independent model.
//!
//! The log of 10 000 requests is not part of the project. It is looked for where the variable `TOLLGATE_REAL_LOG`
//! says, and beside the project; without it, only the example that comes with the project is checked.

use std::io::Write;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// Limit, algorithm, further arguments; allowed, denied, keys denied, and the key denied most with its denials.
type Row = (&'static str, &'static str, &'static [&'static str], [u64; 3], (&'static str, u64));

const REAL: [Row; 8] = [
    ("10/min", "token_bucket", &[], [8987, 1013, 54], ("10.67.37.52", 221)),
    ("10/min", "gcra", &[], [8987, 1013, 54], ("10.67.37.52", 221)),
    ("10/min", "leaky_bucket", &[], [8987, 1013, 54], ("10.67.37.52", 221)),
    ("10/min", "fixed_window", &[], [8271, 1729, 79], ("10.67.37.52", 284)),
    ("3/10s", "sliding_window_counter", &[], [8164, 1836, 227], ("10.67.37.52", 263)),
    ("10/min", "sliding_window_log", &[], [8271, 1729, 79], ("10.67.37.52", 284)),
    ("10/min burst 3", "gcra", &[], [8337, 1663, 118], ("10.67.37.52", 270)),
    ("1000000/min burst 2000000", "gcra", &["--cost", "bytes"], [9817, 183, 64], ("10.67.37.52", 45)),
];

const EXAMPLE: [Row; 8] = [
    ("20/min", "token_bucket", &[], [685, 15, 1], ("10.0.0.1", 15)),
    ("20/min", "gcra", &[], [685, 15, 1], ("10.0.0.1", 15)),
    ("20/min", "leaky_bucket", &[], [685, 15, 1], ("10.0.0.1", 15)),
    ("20/min", "fixed_window", &[], [654, 46, 3], ("10.0.0.1", 35)),
    ("20/min", "sliding_window_counter", &[], [634, 66, 4], ("10.0.0.1", 46)),
    ("20/min", "sliding_window_log", &[], [641, 59, 4], ("10.0.0.1", 44)),
    ("20/min burst 5", "gcra", &[], [639, 61, 6], ("10.0.0.1", 38)),
    ("1000000/min burst 500000", "gcra", &["--cost", "bytes"], [685, 15, 2], ("10.0.0.1", 13)),
];

fn check(log: &Path, requests: u64, keys: u64, rows: &[Row]) {
    for &(limit, algorithm, more, counts, top) in rows {
        let done = Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(["replay", "--limit", limit, "--algorithm", algorithm, "--output", "json"])
            .args(more)
            .arg(log)
            .assert()
            .success()
            .stderr("");
        let report: Value = serde_json::from_slice(&done.get_output().stdout).expect("the report is JSON");
        let number = |value: &Value| value.as_u64().expect("a count");
        assert_eq!(
            [&report["requests"], &report["keys"], &report["unparsed"]].map(number),
            [requests, keys, 0]
        );
        let result = &report["results"][0];
        assert_eq!(
            [&result["allowed"], &result["denied"], &result["denied_keys"]].map(number),
            counts,
            "{limit} {algorithm} {more:?}"
        );
        let first = &result["top"][0];
        assert_eq!(
            (first["key"].as_str(), number(&first["denied"])),
            (Some(top.0), top.1),
            "{limit} {algorithm}"
        );
    }
}

/// The rows of one limit by one algorithm, as rules of one file. Shadows, so that each is charged with every request.
fn by_rules(log: &Path) {
    let rows = REAL.iter().filter(|(_, _, more, ..)| more.is_empty());
    let rule = |(limit, algorithm, ..): &Row| {
        format!(
            "[[rules]]\nname = '{limit} {algorithm}'\nkey = 'client'\nquota = '{limit}'\nalgorithm = '{algorithm}'\nshadow = true\n"
        )
    };
    let mut file = tempfile::NamedTempFile::new().expect("a place for a file");
    file.write_all(rows.clone().map(rule).collect::<String>().as_bytes()).expect("a file can be written");
    let done = Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .args(["replay", "--output", "json", "--rules"])
        .args([file.path(), log])
        .assert()
        .success();
    let report: Value = serde_json::from_slice(&done.get_output().stdout).expect("the report is JSON");
    for ((limit, algorithm, _, [allowed, denied, _], _), rule) in
        rows.zip(report["rules"].as_array().unwrap())
    {
        let counts = [&rule["allowed"], &rule["shadow_denied"]].map(|count| count.as_u64().unwrap());
        assert_eq!(counts, [*allowed, *denied], "{limit} {algorithm}");
    }
}

/// Unlike `eprintln!`, is shown for a test that passes too.
fn say(what: &str) {
    writeln!(std::io::stderr(), "cli_real_log: {what}").expect("standard error can be written");
}

#[test]
fn the_example_log() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/access.log"), 700, 60, &EXAMPLE);
}

#[test]
fn ten_thousand_real_requests() {
    let given = std::env::var_os("TOLLGATE_REAL_LOG").map(PathBuf::from);
    let log = match &given {
        Some(path) => path.clone(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/web_combined.log"),
    };
    if given.is_none() && !log.exists() {
        say(&format!("NOT RUN: no real log at {}, so none of its figures was checked", log.display()));
        return;
    }
    check(&log, 10_000, 1_753, &REAL);
    by_rules(&log);
    say(&format!("{} rows of figures checked on {}", REAL.len(), log.display()));
}
