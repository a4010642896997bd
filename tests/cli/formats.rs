//! The same log in every format and wrapping gives the same report.

use std::io::Write;

use serde_json::Value;

use crate::support::{counts, example_log, refusal_of, replay, stdout_of, tollgate};

const COMBINED: &str = "\
10.0.0.1 - joe [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 10 \"-\" \"Mozilla/5.0 \\\"x\\\"\"
host.example - - [17/May/2015:12:05:04 +0200] \"GET /b?q HTTP/1.1\" 304 - \"http://a/\" \"-\"
10.0.0.1 - joe [17/May/2015:10:05:05 +0000] \"PUT /\\\"\\\\ HTTP/1.1\" 200 30 \"-\" \"-\"
";
const JSON: &str = r#"{"time":"2015-05-17T10:05:03Z","ip":"10.0.0.1","user":"joe","method":"GET","path":"/a","bytes":10}
{"ts":1431857104,"client_ip":"host.example","remote_user":null,"request":"GET /b?q HTTP/1.1","size":"-","more":{"ip":[1]}}
{"@timestamp":1431857105000.0,"remote_addr":"10.0.0.1","user":"joe","method":"PUT","uri":"/\\\"\\\\","body_bytes_sent":"30"}
"#;
const CSV: &str = "1431857103,10.0.0.1,10\n2015-05-17T10:05:04Z,host.example,-\n1431857105000,10.0.0.1,30\n";

fn common() -> String {
    COMBINED.lines().map(|line| line.split(" \"").take(2).collect::<Vec<_>>().join(" \"") + "\n").collect()
}

/// What is denied of the small log, by whom and when: 2 requests with this limit, and all of joe's bytes.
fn expected(args: &[&str]) -> Value {
    replay(args, COMBINED)
}

const SETTINGS: [&[&str]; 3] =
    [&["-l", "1/min"], &["-l", "blocked"], &["-l", "20/min", "--cost", "bytes", "-a", "fixed_window"]];

#[test]
fn the_small_log_is_what_it_seems() {
    assert_eq!(
        common().lines().next(),
        Some(r#"10.0.0.1 - joe [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 10"#)
    );
    let [one, blocked, bytes] = SETTINGS.map(expected);
    assert_eq!(
        (one["requests"].as_u64(), one["keys"].as_u64(), one["unparsed"].as_u64()),
        (Some(3), Some(2), Some(0))
    );
    assert_eq!((counts(&one), counts(&blocked), counts(&bytes)), ((2, 1), (0, 3), (2, 1)));
    assert_eq!(
        bytes["results"][0]["peak"],
        serde_json::json!({"per": "60s", "p50": 0, "p99": 40, "max": 40})
    );
    assert_eq!(one["results"][0]["timeline"]["start"], "2015-05-17T10:05:03Z");
}

#[test]
fn every_format_is_found_out_and_can_be_forced() {
    let header = format!("timestamp,key,cost\n{CSV}");
    let other_header = "key,size,note,time\n10.0.0.1,10,x,1431857103\nhost.example,-,\"a, b\",1431857104\n10.0.0.1,30,,1431857105\n";
    for (format, log) in [
        ("combined", COMBINED),
        ("common", &common()),
        ("common", COMBINED),
        ("combined", &common()),
        ("json", JSON),
        ("csv", CSV),
        ("csv", &header),
        ("csv", other_header),
    ] {
        for settings in SETTINGS {
            let expected = expected(settings);
            assert_eq!(replay(settings, log), expected, "{format} found out:\n{log}");
            assert_eq!(
                replay(&[settings, &["--format", format]].concat(), log),
                expected,
                "{format} forced:\n{log}"
            );
        }
    }
}

#[test]
fn a_wrong_format_forced_reads_nothing() {
    for (format, log) in [("json", COMBINED), ("csv", JSON), ("combined", CSV)] {
        let refusal = refusal_of(&["replay", "-l", "1/min", "--format", format, "-"], log.as_bytes());
        assert!(
            refusal.contains("no line of the log could be read") && refusal.contains("standard input:1: "),
            "{refusal}"
        );
    }
}

#[test]
fn line_breaks_marks_and_blank_lines_make_no_difference() {
    for log in [COMBINED, JSON, CSV] {
        let expected = replay(&["-l", "1/min"], log);
        let crlf = log.replace('\n', "\r\n");
        let sparse = format!("\u{feff}\n{}\n  \n", log.replace('\n', "\n\n"));
        let marked = format!("\u{feff}{}", log.trim_end());
        for variant in [crlf, sparse, marked] {
            assert_eq!(replay(&["-l", "1/min"], &variant), expected, "{variant:?}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_read_all_the_same() {
    let log =
        b"\xff\xfe - \x80 [17/May/2015:10:05:03 +0000] \"GET /\xc3\x28 HTTP/1.1\" 200 5 \"\xff\" \"\"\n";
    let report = replay(&["-l", "blocked", "--key", "ip,user,path"], log);
    assert_eq!(report["results"][0]["top"][0]["key"], "\u{fffd}\u{fffd},\u{fffd},/\u{fffd}(");
}

#[test]
fn a_very_long_line_is_read_and_a_longer_one_is_skipped() {
    let line = |path: usize| {
        format!("h - - [17/May/2015:10:05:03 +0000] \"GET /{} HTTP/1.1\" 200 5\n", "x".repeat(path))
    };
    let report = replay(&["-l", "1/min"], line(1_000_000) + &line(3_000_000) + &line(1));
    assert_eq!((report["requests"].as_u64(), report["unparsed"].as_u64()), (Some(2), Some(1)));
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 3).expect("memory does not fail")
}

#[test]
fn compression_is_told_by_the_contents() {
    let text = std::fs::read(example_log()).expect("the example is there");
    let (first, second) = text.split_at(text.len() / 3);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let args = ["replay", "-l", "20/min", "-o", "json"];
    let expected = stdout_of(&[&args[..], &[example_log().to_str().expect("a UTF-8 path")]].concat(), b"");
    for (name, bytes) in [
        ("plain.gz", text.clone()),
        ("gzip.log", gzip(&text)),
        ("gzip.zst", [gzip(first), gzip(second)].concat()),
        ("zstd", zstd(&text)),
        ("zstd.gz", [zstd(first), zstd(second)].concat()),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).expect("a file");
        assert_eq!(
            stdout_of(&[&args[..], &[path.to_str().expect("a UTF-8 path")]].concat(), b""),
            expected,
            "{name}"
        );
        assert_eq!(stdout_of(&[&args[..], &["-"]].concat(), &bytes), expected, "{name} by standard input");
    }
}

#[test]
fn several_files_are_one_log() {
    let text = std::fs::read_to_string(example_log()).expect("the example is there");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    // Without its last line break, a file still ends there. The later half comes first: the times put it right.
    std::fs::write(&a, gzip(second.concat().trim_end().as_bytes())).expect("a file");
    std::fs::write(&b, first.concat()).expect("a file");
    let (a, b) = (a.to_str().expect("a UTF-8 path"), b.to_str().expect("a UTF-8 path"));
    let args = ["replay", "-l", "20/min", "-l", "5/10s", "-o", "json"];
    let whole = stdout_of(&[&args[..], &["-"]].concat(), text.as_bytes());
    assert_eq!(stdout_of(&[&args[..], &[a, b]].concat(), b""), whole);
    assert_eq!(stdout_of(&[&args[..], &["-", b]].concat(), second.concat().as_bytes()), whole);
}

#[test]
fn each_file_has_its_own_format_and_line_numbers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a UTF-8 path").to_owned()
    };
    let files = [write("a.log", COMBINED), write("b.json", &format!("?\n{JSON}")), write("c.csv", CSV)];
    let done = tollgate().args(["replay", "-l", "1/min"]).args(&files).assert().success();
    let report = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(report.starts_with("9 requests by 2 keys, 1 line unparsed\n"), "{report}");
    let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(said.starts_with(&format!("tollgate: 1 line could not be read\n  {}:1: ", files[1])), "{said}");
}
