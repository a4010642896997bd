//! What cannot be done is said on standard error, with an exit code that tells whose fault it is.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::support::{example_log, refusal_of, stdout_of, tollgate};

const GOOD: &[u8] = b"2015-05-17T10:05:03Z,a\n";

#[test]
fn help_and_version_are_no_errors() {
    assert_eq!(stdout_of(&["--version"], b""), format!("tollgate {}\n", env!("CARGO_PKG_VERSION")));
    for args in
        [&["--help"][..], &["replay", "--help"], &["replay", "-h"], &["synth", "--help"], &["bench", "-h"]]
    {
        let help = stdout_of(args, b"");
        assert!(help.contains("Examples:\n  tollgate "), "{args:?}: {help}");
    }
    let help = stdout_of(&["replay", "--help"], b"");
    for word in
        ["@timestamp", "remote_addr", "body_bytes_sent", "request_uri", "timestamp,key[,cost]", "Exit codes"]
    {
        assert!(help.contains(word), "{word} is missing in {help}");
    }
}

#[test]
fn wrong_arguments_are_refused_by_name() {
    for (args, said) in [
        (&["--limit", "10/parsec", "-"][..], "10/parsec"),
        (&["--limit", "0/min", "-"], "0/min"),
        (&["-"], "--limit"),
        (&["--limit", "10/min"], "<FILE>"),
        (&["--limit", "10/min", "--key", "hat", "-"], "\"hat\""),
        (&["--limit", "10/min", "--key", "ip/129", "-"], "ip/129"),
        (&["--limit", "10/min", "--cost", "2", "-"], "bytes"),
        (&["--limit", "10/min", "--format", "xml", "-"], "combined"),
        (&["--limit", "10/min", "--output", "yaml", "-"], "json"),
        (&["--limit", "10/min", "--threads", "0", "-"], "--threads"),
        (&["--limit", "10/min", "-", "-"], "only once"),
    ] {
        let refusal = refusal_of(&[&["replay"], args].concat(), GOOD);
        assert!(refusal.contains(said), "{args:?}: {refusal}");
    }
    assert!(refusal_of(&[], b"").contains("Usage"));
    assert!(refusal_of(&["play"], b"").contains("play"));
}

#[test]
fn a_plan_that_cannot_be_kept_is_refused_before_anything_is_read() {
    let missing = "no/such/file.log";
    let refusal = refusal_of(&["replay", "-l", "10/min", "-a", "gcrb", missing], b"");
    assert!(refusal.contains("\"gcrb\"") && refusal.contains("sliding_window_counter"), "{refusal}");
    assert!(!refusal.contains(missing), "{refusal}");
    let refusal = refusal_of(
        &["replay", "-l", "10/min", "-l", "10/min burst 3", "-a", "gcra", "-a", "fixed_window", missing],
        b"",
    );
    assert!(
        refusal.contains("10/min burst 3") && refusal.contains("fixed_window counts windows"),
        "{refusal}"
    );
    assert!(!refusal.contains(missing), "{refusal}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let good = folder.path().join("good.csv");
    std::fs::write(&good, GOOD).expect("a file");
    let good = good.to_str().expect("a UTF-8 path");
    for bad in [folder.path().join("missing.log"), folder.path().to_path_buf()] {
        let bad = bad.to_str().expect("a UTF-8 path");
        // The good file in front does not save the bad one, nor is it reported alone.
        let refusal = refusal_of(&["replay", "-l", "10/min", good, bad], b"");
        assert!(refusal.contains(&format!("cannot read {bad}: ")), "{refusal}");
    }
}

#[test]
fn a_cut_archive_is_an_error_and_not_a_shorter_log() {
    let text = std::fs::read(example_log()).expect("the example is there");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&text).expect("memory does not fail");
    let gzip = gzip.finish().expect("memory does not fail");
    let zstd = zstd::encode_all(&text[..], 3).expect("memory does not fail");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("access.log.1");
    for whole in [gzip, zstd] {
        let mut corrupt = whole.clone();
        corrupt[whole.len() / 2] ^= 0xff;
        corrupt[whole.len() / 2 + 1] ^= 0xff;
        for bytes in [&whole[..whole.len() * 9 / 10], &whole[..whole.len() - 1], &corrupt] {
            std::fs::write(&path, bytes).expect("a file");
            let name = path.to_str().expect("a UTF-8 path");
            let refusal = refusal_of(&["replay", "-l", "10/min", name], b"");
            assert!(refusal.contains(&format!("cannot read {name}: ")), "{refusal}");
        }
    }
}

#[test]
fn a_log_without_a_request_says_what_was_expected() {
    for (log, shown) in [
        (&b""[..], None),
        (b"\n\n", None),
        (b"timestamp,key\n", None),
        (b"hello\nworld\n", Some("standard input:2: ")),
        (b"{\"ip\":\"a\"}\n", Some("standard input:1: no field with the time")),
        (b"\xff\xfe\0\x01", Some("standard input:1: ")),
    ] {
        for output in ["text", "json"] {
            let refusal = refusal_of(&["replay", "-l", "10/min", "-o", output, "-"], log);
            for format in ["combined or common log format", "JSON", "timestamp,key[,cost]"] {
                assert!(refusal.contains(format), "{refusal}");
            }
            assert!(shown.is_none_or(|shown| refusal.contains(shown)), "{refusal}");
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    // More than a pipe holds, so that writing goes on after the reader is gone.
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .args(["synth", "--lines", "20000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut first = [0; 10];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("a first line");
    let done = child.wait_with_output().expect("the command ends");
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &b""[..]));
    for output in ["text", "json"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(["replay", "-l", "10/min", "-o", output, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // Gone before the log is, so before anything can be written.
        drop(child.stdout.take());
        child.stdin.take().expect("a pipe").write_all(GOOD).expect("the command reads");
        let done = child.wait_with_output().expect("the command ends");
        assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &b""[..]), "{output}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_code_1() {
    for args in [
        &["synth", "--lines", "1"][..],
        &["replay", "-l", "10/min", "-"],
        &["replay", "-l", "10/min", "-o", "json", "-"],
    ] {
        let full =
            std::fs::OpenOptions::new().write(true).open("/dev/full").expect("every Linux has this device");
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // `synth` may be gone by now, as it reads nothing.
        let _ = child.stdin.take().expect("a pipe").write_all(GOOD);
        let done = child.wait_with_output().expect("the command ends");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot write the output"), "{said}");
    }
}

#[test]
fn bad_lines_never_stop_the_run() {
    let log = [GOOD, b"x\ny\n2015-05-17T10:05:04Z\n\n\xff\n-1,a\nz\n", GOOD].concat();
    let done =
        tollgate().args(["replay", "-l", "10/min", "-"]).write_stdin(log.as_slice()).assert().success();
    let said = String::from_utf8(done.get_output().stderr.clone()).expect("messages are UTF-8");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "tollgate: 6 lines could not be read; the first 5:");
    let numbers: Vec<&str> = lines[1..].iter().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(
        numbers,
        ["2", "3", "4", "6", "7"],
        "the blank line 5 is none, and the 6th bad line is not shown"
    );
    let report = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(report.starts_with("2 requests by 1 key, 6 lines unparsed\n"), "{report}");

    let done = tollgate()
        .args(["replay", "-l", "10/min", "-o", "json", "-"])
        .write_stdin(log)
        .assert()
        .success()
        .stderr("");
    let report: serde_json::Value =
        serde_json::from_slice(&done.get_output().stdout).expect("the report is JSON");
    assert_eq!((&report["requests"], &report["unparsed"]), (&2.into(), &6.into()));
}
