//! The two reports, to the letter.

use unicode_width::UnicodeWidthStr;

use crate::support::{example_log, replay, stdout_of, tollgate};

/// The report on the example, as it was checked by hand and against another implementation of the algorithms.
const EXAMPLE: &str = include_str!("example_report.txt");

fn example_args() -> Vec<String> {
    let mut args: Vec<String> = [
        "replay",
        "--limit",
        "20/min",
        "--limit",
        "5/10s",
        "--algorithm",
        "gcra",
        "--algorithm",
        "fixed_window",
    ]
    .map(String::from)
    .to_vec();
    args.push(example_log().to_str().expect("a UTF-8 path").to_owned());
    args
}

#[test]
fn the_text_report_on_the_example() {
    let args = example_args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(stdout_of(&args, b""), EXAMPLE);
}

#[test]
fn the_json_report_to_the_letter() {
    let log = "0,b\n0,b\n1,a\n1,a\n1.5,a\n59,c\nx\n";
    let args = ["replay", "-l", "2/min burst 1", "-l", "unlimited", "-o", "json", "-"];
    assert_eq!(
        stdout_of(&args, log.as_bytes()),
        concat!(
            r#"{"requests":6,"keys":3,"unparsed":1,"results":["#,
            r#"{"limit":"2/min burst 1","algorithm":"gcra","allowed":3,"denied":3,"denied_keys":2,"#,
            r#""top":[{"key":"a","denied":2},{"key":"b","denied":1}],"#,
            r#""peak":{"per":"60s","p50":2,"p99":3,"max":3},"#,
            r#""timeline":{"start":"1970-01-01T00:00:00Z","step":"1s","#,
            r#""allowed":[1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"#,
            r#""denied":[1,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}},"#,
            r#"{"limit":"unlimited","algorithm":"gcra","allowed":6,"denied":0,"denied_keys":0,"top":[],"peak":null,"#,
            r#""timeline":{"start":"1970-01-01T00:00:00Z","step":"1s","#,
            r#""allowed":[2,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"#,
            r#""denied":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}]}"#,
            "\n"
        )
    );
}

#[test]
fn both_reports_say_the_same() {
    let path = example_log();
    let path = path.to_str().expect("a UTF-8 path");
    let text = stdout_of(&["replay", "-l", "20/min burst 5", path], b"");
    let json: serde_json::Value =
        serde_json::from_str(&stdout_of(&["replay", "-l", "20/min burst 5", "-o", "json", path], b""))
            .expect("JSON");
    let result = &json["results"][0];
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let has = |words: &[&serde_json::Value]| {
        let words: Vec<String> =
            words.iter().map(|word| word.to_string().trim_matches('"').to_owned()).collect();
        rows.iter().any(|row| words.iter().all(|word| row.iter().any(|cell| cell.trim_matches(',') == word)))
    };
    assert!(has(&[&json["requests"], &json["keys"], &json["unparsed"]]), "{text}");
    assert!(has(&[&result["allowed"], &result["denied"], &result["denied_keys"]]), "{text}");
    assert!(
        has(&[
            &result["peak"]["per"],
            &result["peak"]["p50"],
            &result["peak"]["p99"],
            &result["peak"]["max"]
        ]),
        "{text}"
    );
    let top = result["top"].as_array().expect("a list");
    assert!(!top.is_empty());
    for entry in top {
        assert!(has(&[&entry["key"], &entry["denied"]]), "{entry} in {text}");
    }
    for (name, column) in [("allowed", "allowed"), ("denied", "denied")] {
        let columns = result["timeline"][name].as_array().expect("a list");
        let sum: u64 = columns.iter().filter_map(serde_json::Value::as_u64).sum();
        assert_eq!(Some(sum), result[column].as_u64());
    }
}

#[test]
fn no_line_is_wider_than_80() {
    let long = "k".repeat(300);
    let log = format!("0,{long}\n0,{long}\n0,日本語{long}\n0,日本語{long}\n1,b\n1,b\n9999999,b\n");
    let args = ["replay", "-l", "1/min", "-l", "1/s", "-a", "gcra", "-a", "sliding_window_counter", "-"];
    for (args, log) in [
        (&args[..], log.as_str()),
        (
            &[
                "replay",
                "-l",
                "1000000000/day burst 1000000",
                "-l",
                "123456789012/365day burst 123456789012",
                "-a",
                "gcra",
                "-a",
                "token_bucket",
                "-",
            ],
            &log,
        ),
    ] {
        let report = stdout_of(args, log.as_bytes());
        for line in report.lines() {
            assert!(line.width() <= 80, "{} wide: {line}", line.width());
            assert_eq!(line, line.trim_end(), "blanks at the end");
        }
    }
}

#[test]
fn a_label_too_long_for_its_column_has_its_own_line() {
    let limit = "123456789012/365day burst 123456789012";
    let report = stdout_of(&["replay", "-l", limit, "-l", "1/min", "-a", "token_bucket", "-"], b"0,a\n0,a\n");
    let table: Vec<&str> = report.lines().skip(3).take(4).map(str::trim).collect();
    assert_eq!(table[1], format!("{limit}, token_bucket"));
    assert_eq!(table[2].split_whitespace().collect::<Vec<_>>(), ["2", "0", "0.0", "%", "0"]);
    assert!(table[3].starts_with("1/min, token_bucket  ") && table[3].ends_with("1"), "{}", table[3]);
}

#[test]
fn a_log_of_one_moment_is_drawn() {
    let report = stdout_of(&["replay", "-l", "1/min", "-"], b"1431857103,a\n1431857103,a\n1431857103,b\n");
    let chart = report.split("Timeline: ").nth(1).expect("a timeline");
    assert_eq!(
        chart,
        "a column is 1ms, the highest is 2 requests
            ████
            ████
            ████
            ████
    allowed ████
            ▄▄▄▄
            ████
    denied  ████
            2015-05-17 10:05:03.000    2015-05-17 10:05:03.001
"
    );
}

#[test]
fn what_is_rare_is_still_seen() {
    // One denial among a thousand requests of one second, and one request alone in another.
    let mut log: String = (0..1000).map(|key| format!("0,k{key}\n")).collect();
    log.push_str("0,k0\n50,k0\n");
    let report = stdout_of(&["replay", "-l", "1/10s", "-"], log.as_bytes());
    let chart = report.split("Timeline: ").nth(1).expect("a timeline");
    let row = |label: &str| {
        let line = chart.lines().find(|line| line.trim_start().starts_with(label)).expect("a chart");
        line.trim_start().trim_start_matches(label).trim().to_owned()
    };
    assert!(row("allowed").starts_with('█') && row("allowed").ends_with('▁'), "{report}");
    assert_eq!(row("denied"), "▁", "{report}");
}

#[test]
fn colours_only_where_they_are_wanted() {
    let log = "0,a\n0,a\n";
    let run = |variables: &[(&str, &str)]| {
        let mut command = tollgate();
        command.args(["replay", "-l", "1/min", "-"]).write_stdin(log).envs(variables.iter().copied());
        String::from_utf8(command.assert().success().get_output().stdout.clone()).expect("output is UTF-8")
    };
    let plain = run(&[]);
    assert!(!plain.contains('\x1b'), "a pipe is no terminal");
    let coloured = run(&[("CLICOLOR_FORCE", "1")]);
    assert!(coloured.contains("\x1b[31m") && coloured.contains("\x1b[32m"), "{coloured:?}");
    assert_eq!(run(&[("NO_COLOR", "1")]), plain);
}

#[test]
fn a_log_cannot_write_to_the_terminal() {
    let log = "{\"ts\":0,\"key\":\"a\\u001b[2J\\u0007\\u202eb\"}\n{\"ts\":0,\"ke\x1b]0;x\x07\"}\n";
    let done = tollgate()
        .env("CLICOLOR_FORCE", "1")
        .args(["replay", "-l", "blocked", "-"])
        .write_stdin(log)
        .assert()
        .success();
    let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(text.contains("a\\u{1b}[2J\\u{7}\\u{202e}b"), "{text:?}");
    for output in [&done.get_output().stdout, &done.get_output().stderr] {
        let output = String::from_utf8_lossy(output);
        assert!(
            !output.contains("\x1b[2J") && !output.contains('\x07') && !output.contains("\x1b]"),
            "{output:?}"
        );
    }
    assert!(String::from_utf8_lossy(&done.get_output().stderr).contains("\\u{1b}]0;x\\u{7}"));
    // Programs get the key as it is.
    let report = replay(&["-l", "blocked"], log);
    assert_eq!(report["results"][0]["top"][0]["key"], "a\u{1b}[2J\u{7}\u{202e}b");
}

#[test]
fn the_hint_is_given_once_for_each_period() {
    let log = b"0,a,60\n59,a,30\n60,a,5\n61,b,1\n";
    let hint = |args: &[&str]| {
        let report = stdout_of(&[&["replay"], args, &["-"]].concat(), log);
        report.split("\n\n").nth(2).expect("the part after the comparison").to_owned()
    };
    let limits = ["-l", "100/min", "-l", "5/s", "-l", "unlimited", "-l", "7/min"];
    assert_eq!(
        hint(&limits),
        "\
Requests of a key in its busiest  p50  p99  max
1s                                  1    1    1
60s                                 1    2    2"
    );
    assert_eq!(
        hint(&[&limits[..], &["--cost", "bytes"]].concat()),
        "\
Bytes of a key in its busiest  p50  p99  max
1s                               1   60   60
60s                              1   90   90"
    );
    let without = hint(&["-l", "unlimited"]);
    assert!(without.starts_with("unlimited, gcra\n"), "no period, no hint: {without}");
}
