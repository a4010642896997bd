//! Made-up logs.

use std::collections::BTreeMap;

use crate::support::{example_log, refusal_of, replay, stdout_of, tollgate};

fn synth(args: &[&str]) -> String {
    stdout_of(&[&["synth"], args].concat(), b"")
}

#[test]
fn the_example_is_what_synth_writes() {
    // Byte for byte, on every machine that runs this.
    let example = std::fs::read_to_string(example_log()).expect("the example is there");
    assert!(synth(&["--lines", "700", "--seed", "7", "--clients", "60", "--rate", "2"]) == example);
    assert!(example.len() < 100_000);
}

#[test]
fn each_argument_does_what_it_says() {
    let base = synth(&["--lines", "500"]);
    assert_eq!(base.lines().count(), 500);
    assert_eq!(synth(&["--lines", "500", "--seed", "1"]), base, "the default seed");
    assert_ne!(synth(&["--lines", "500", "--seed", "2"]), base);
    assert_eq!(synth(&["--lines", "0"]), "");
    let clients = |args: &[&str]| replay(&["-l", "1/s"], synth(args))["keys"].as_u64();
    assert_eq!(clients(&["--lines", "3000", "--clients", "5"]), Some(6), "and the abusive one");
    assert_eq!(clients(&["--lines", "3000", "--clients", "1"]), Some(2));
    let first = |args: &[&str]| synth(args).lines().next().expect("a line").to_owned();
    assert!(first(&["--start", "2015-05-17T12:05:03+02:00"]).contains(" [17/May/2015:10:05:03 +0000] "));
    let span = |args: &[&str]| {
        let report = replay(&["-l", "1/s"], synth(args));
        let timeline = &report["results"][0]["timeline"];
        let step =
            timeline["step"].as_str().expect("text").trim_end_matches('s').parse::<usize>().expect("seconds");
        timeline["allowed"].as_array().expect("a list").len() * step
    };
    // 3000 requests, an eighth of them ten times as fast: about 2660 mean gaps.
    assert!((2500..2900).contains(&span(&["--lines", "3000", "--rate", "1"])));
    assert!((250..300).contains(&span(&["--lines", "3000", "--rate", "10"])));
}

#[test]
fn every_line_is_a_request_from_an_address_that_belongs_to_nobody() {
    let log = synth(&["--lines", "5000", "--clients", "1000000", "--rate", "1000000"]);
    let report = replay(&["-l", "1/s", "--format", "combined"], &log);
    assert_eq!((report["requests"].as_u64(), report["unparsed"].as_u64()), (Some(5000), Some(0)));
    let (mut v4, mut v6) = (0, 0);
    for line in log.lines() {
        match line.split(' ').next().expect("a host") {
            host if host.starts_with("10.") => v4 += 1,
            host if host.starts_with("2001:db8:") => v6 += 1,
            host => panic!("{host}"),
        }
    }
    assert!(v4 > 1000 && v6 > 500, "{v4} {v6}");
}

#[test]
fn few_clients_make_most_requests_and_one_is_abusive() {
    let log = synth(&["--lines", "20000", "--clients", "1000"]);
    let mut by_client = BTreeMap::<&str, usize>::new();
    for line in log.lines() {
        *by_client.entry(line.split(' ').next().expect("a host")).or_default() += 1;
    }
    let mut counts: Vec<usize> = by_client.values().copied().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    assert!(counts[..10].iter().sum::<usize>() > 20_000 / 3, "{:?}", &counts[..10]);
    let lines: Vec<&str> = log.lines().collect();
    let abuse = |lines: &[&str]| lines.iter().filter(|line| line.starts_with("10.66.66.66 ")).count();
    assert_eq!((abuse(&lines[..10_000]), abuse(&lines[15_000..])), (0, 0));
    assert!((1_000..1_500).contains(&abuse(&lines[10_000..15_000])));
}

#[test]
fn there_is_one_burst() {
    let log = synth(&["--lines", "8000", "--rate", "10"]);
    let report = replay(&["-l", "unlimited"], log);
    let columns = report["results"][0]["timeline"]["allowed"].as_array().expect("a list").clone();
    let columns: Vec<u64> = columns.iter().filter_map(serde_json::Value::as_u64).collect();
    assert_eq!(report["results"][0]["timeline"]["step"], "15s", "so that an ordinary column has about 150");
    let burst: Vec<usize> = (0..columns.len()).filter(|&column| columns[column] > 300).collect();
    assert!(!burst.is_empty() && burst.len() <= 2 && burst[burst.len() - 1] - burst[0] < 2, "{columns:?}");
}

#[test]
fn what_cannot_be_made_up_is_refused() {
    for (args, said) in [
        (&["--clients", "0"][..], "1..=1000000"),
        (&["--clients", "1000001"], "1..=1000000"),
        (&["--rate", "0"], "1..=1000000"),
        (&["--start", "yesterday"], "yesterday"),
        (&["--lines", "-1"], "-1"),
        (&["--start", "1969-12-31T23:59:59Z"], "between 1970 and 2043"),
        (&["--start", "9999-12-30T00:00:00Z"], "between 1970 and 2043"),
    ] {
        let refusal = refusal_of(&[&["synth"], args].concat(), b"");
        assert!(refusal.contains(said), "{refusal}");
    }
    // The last second that a limiter tells apart: the log starts, and cannot go on.
    let args = ["synth", "--start", "2043-01-25T23:56:49Z", "--lines", "9", "--rate", "1"];
    let done = tollgate().args(args).assert().code(2);
    assert!(String::from_utf8_lossy(&done.get_output().stderr).contains("between 1970 and 2043"));
    assert!(done.get_output().stdout.starts_with(b"10.") || done.get_output().stdout.starts_with(b"2001:"));
}
