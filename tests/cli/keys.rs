//! `--key` and `--cost`.

use crate::support::{counts, replay, top_keys};

const LOG: &str = "\
10.1.2.3 - joe [17/May/2015:10:05:03 +0000] \"GET /a?x=1 HTTP/1.1\" 200 10
::ffff:10.1.2.3 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 10
10.1.2.4 - joe [17/May/2015:10:05:03 +0000] \"POST /b HTTP/1.1\" 200 10
2001:db8:1:2::5 - - [17/May/2015:10:05:03 +0000] \"GET /a?x=2 HTTP/1.1\" 200 10
2001:DB8:1:2:0:0:0:6 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 10
2001:db8:1:3::5 - - [17/May/2015:10:05:03 +0000] \"GET /a,b HTTP/1.1\" 200 10
host.example - - [17/May/2015:10:05:03 +0000] \"-\" 408 -
";

/// All keys, since every request is denied: by denials, then by text.
fn keys(key: &str) -> Vec<String> {
    let report = replay(&["-l", "blocked", "--key", key], LOG);
    assert_eq!((report["requests"].as_u64(), report["unparsed"].as_u64()), (Some(7), Some(0)));
    let keys = top_keys(&report);
    assert_eq!(report["keys"].as_u64(), Some(keys.len() as u64));
    assert_eq!(report["results"][0]["denied_keys"].as_u64(), Some(keys.len() as u64));
    keys
}

#[test]
fn an_address_is_normalised_and_cut() {
    let expected = ["10.1.2.3", "2001:db8:1:2::/64", "10.1.2.4", "2001:db8:1:3::/64", "host.example"];
    assert_eq!(keys("ip"), expected);
    assert_eq!(keys("ip/64"), expected);
    assert_eq!(keys("ip/32/64"), expected);
    assert_eq!(keys("ip/24"), ["10.1.2.0/24", "2001:db8:1:2::/64", "2001:db8:1:3::/64", "host.example"]);
    assert_eq!(keys("ip/48"), ["2001:db8:1::/48", "10.1.2.3", "10.1.2.4", "host.example"]);
    assert_eq!(keys("ip/16/48"), ["10.1.0.0/16", "2001:db8:1::/48", "host.example"]);
    assert_eq!(
        keys("ip/128"),
        [
            "10.1.2.3",
            "10.1.2.4",
            "2001:db8:1:2::5/128",
            "2001:db8:1:2::6/128",
            "2001:db8:1:3::5/128",
            "host.example"
        ]
    );
}

#[test]
fn other_fields_are_keys_too() {
    assert_eq!(keys("user"), ["-", "joe"]);
    assert_eq!(keys("method"), ["GET", "-", "POST"]);
    assert_eq!(keys("path"), ["/a", "-", "/a,b", "/b"]);
}

#[test]
fn several_fields_are_joined_and_kept_apart() {
    assert_eq!(keys("method,path"), ["GET,/a", "-,-", "GET,/a\\,b", "POST,/b"]);
    assert_eq!(
        keys("ip,user"),
        [
            "2001:db8:1:2::/64,-",
            "10.1.2.3,-",
            "10.1.2.3,joe",
            "10.1.2.4,joe",
            "2001:db8:1:3::/64,-",
            "host.example,-"
        ]
    );
}

#[test]
fn a_csv_key_serves_every_form() {
    for key in ["ip", "user", "method", "path", "ip,path"] {
        let report = replay(&["-l", "blocked", "--key", key], "1,\"a?b,c\"\n2,\n3,-\n");
        assert_eq!(top_keys(&report), ["", "-", "a?b,c"], "{key}");
    }
}

#[test]
fn a_json_line_without_the_field_is_bad_unless_it_is_the_user() {
    let log = "{\"ts\":1,\"ip\":\"h\"}\n{\"ts\":2,\"ip\":\"h\",\"user\":\"joe\",\"path\":\"/\",\"method\":\"GET\"}\n";
    let unparsed = |key: &str| replay(&["-l", "blocked", "--key", key], log)["unparsed"].as_u64();
    assert_eq!(["ip", "user", "path", "method"].map(unparsed), [Some(0), Some(0), Some(1), Some(1)]);
}

#[test]
fn bytes_are_a_cost() {
    let count = |costs: &[&str]| {
        let log: String = costs.iter().map(|cost| format!("1,a,{cost}\n")).collect();
        counts(&replay(&["-l", "100/min", "--cost", "bytes"], log))
    };
    assert_eq!(count(&["100"]), (1, 0));
    assert_eq!(count(&["101"]), (0, 1), "more than the limit can ever hold");
    assert_eq!(count(&["18446744073709551615"]), (0, 1));
    assert_eq!(count(&["101", "100"]), (1, 1), "what never fits charges nothing");
    assert_eq!(count(&["60", "41", "40"]), (2, 1));
    assert_eq!(count(&["100", "0", "-", "1"]), (3, 1), "nothing is always allowed, and charges nothing");
    // Nothing is asked for, so nothing is denied, whatever the algorithm and however late the clock.
    let algorithms = [
        "token_bucket",
        "gcra",
        "leaky_bucket",
        "fixed_window",
        "sliding_window_counter",
        "sliding_window_log",
    ];
    for algorithm in algorithms {
        let args = ["-l", "100/min", "--cost", "bytes", "--as-written", "-a", algorithm];
        let log = "1000,a,100\n1000,a,0\n0,a,0\n1000,a,1\n";
        assert_eq!(counts(&replay(&args, log)), (3, 1), "{algorithm}");
    }
    let without = replay(&["-l", "1/min"], "1,a,60\n1,b,60\n");
    assert_eq!(counts(&without), (2, 0), "by default each request costs one");
}
