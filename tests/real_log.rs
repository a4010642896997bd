//! Ten thousand requests of a real web server, against numbers from an independent model.
//!
//! The log does not come with the crate. `TOLLGATE_REAL_LOG` names it, or it lies in `../shared/data` beside the
//! repository; where it is not, nothing is checked, and that is said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tollgate::store::{Lookup, Store};
use tollgate::{Decision, DirectLimiter, Limiter, ManualClock, Quota};

/// One request: who, when, and how many bytes.
struct Request {
    ip: String,
    unix_ns: u64,
    bytes: u64,
}

/// What a limit made of the log.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    allowed: u64,
    denied: u64,
    keys_denied: usize,
    most_denied: (String, u64),
}

/// limit, algorithms, whether a request costs its bytes, and (allowed, denied, keys denied, denials of the first).
type Row = (&'static str, &'static [&'static str], bool, (u64, u64, usize, u64));

const ROWS: [Row; 6] = [
    ("10/min", &["token_bucket", "gcra", "leaky_bucket"], false, (8_987, 1_013, 54, 221)),
    ("10/min", &["fixed_window"], false, (8_271, 1_729, 79, 284)),
    ("3/10s", &["sliding_window_counter"], false, (8_164, 1_836, 227, 263)),
    ("10/min", &["sliding_window_log"], false, (8_271, 1_729, 79, 284)),
    ("10/min burst 3", &["gcra"], false, (8_337, 1_663, 118, 270)),
    ("1000000/min burst 2000000", &["gcra"], true, (9_817, 183, 64, 45)),
];
const MOST_DENIED: &str = "10.67.37.52";

fn path() -> PathBuf {
    match std::env::var_os("TOLLGATE_REAL_LOG") {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/web_combined.log"),
    }
}

/// Days from 1970-01-01: whole years before this one, leap days before this one, and days of this one.
fn days(year: u64, month: usize, day: u64) -> u64 {
    const BEFORE_MONTH: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let leaps_before = |year: u64| year / 4 - year / 100 + year / 400;
    (year - 1_970) * 365 + leaps_before(year - 1) - leaps_before(1_969)
        + BEFORE_MONTH[month]
        + u64::from(leap && month > 1)
        + day
        - 1
}

/// `17/May/2015:10:05:03 +0000` in nanoseconds since the epoch.
fn unix_ns(text: &str) -> u64 {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = text.strip_suffix(" +0000").expect("a log in UTC");
    let fields: Vec<_> = text.split(['/', ':']).collect();
    let [day, month, year, hour, minute, second] = fields[..] else { panic!("no timestamp: {text}") };
    let number = |text: &str| text.parse::<u64>().unwrap();
    let month = MONTHS.iter().position(|&name| name == month).unwrap();
    let days = days(number(year), month, number(day));
    (((days * 24 + number(hour)) * 60 + number(minute)) * 60 + number(second)) * 1_000_000_000
}

/// `ip - - [time] "request" status bytes …`; a dash is no bytes.
fn parse(line: &str) -> Request {
    let (ip, rest) = line.split_once(' ').unwrap();
    let (time, rest) = rest.split_once('[').unwrap().1.split_once(']').unwrap();
    // A quote within the request is written with a backslash.
    let request = rest.trim_start().strip_prefix('"').unwrap();
    let mut escaped = false;
    let end = request
        .find(|c| {
            let end = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            end
        })
        .unwrap();
    let bytes = request[end + 1..].split_whitespace().nth(1).unwrap();
    let bytes = if bytes == "-" { 0 } else { bytes.parse().unwrap() };
    Request { ip: ip.to_owned(), unix_ns: unix_ns(time), bytes }
}

fn replay<S>(limiter: &Limiter<String, ManualClock, S>, requests: &[Request], by_bytes: bool) -> Outcome
where
    S: Store + Lookup<str>,
{
    let check = |ip: &str, cost, now_ns| limiter.check_n_at(ip, cost, now_ns);
    outcome(check, requests, by_bytes)
}

/// With a limiter without keys for each key.
fn replay_apart(algorithm: &str, quota: Quota, requests: &[Request], by_bytes: bool) -> Outcome {
    let mut limiters = BTreeMap::new();
    let fresh =
        || DirectLimiter::builder(quota).algorithm(algorithm).clock(ManualClock::new(0)).build().unwrap();
    let check =
        |ip: &str, cost, now_ns| limiters.entry(ip.to_owned()).or_insert_with(fresh).check_n_at(cost, now_ns);
    outcome(check, requests, by_bytes)
}

fn outcome(
    mut check: impl FnMut(&str, u64, u64) -> Decision,
    requests: &[Request],
    by_bytes: bool,
) -> Outcome {
    let (mut allowed, mut denied) = (0, BTreeMap::<&str, u64>::new());
    for request in requests {
        let cost = if by_bytes { request.bytes } else { 1 };
        if check(&request.ip, cost, request.unix_ns).is_allowed() {
            allowed += 1;
        } else {
            *denied.entry(&request.ip).or_default() += 1;
        }
    }
    // By denials, then by key.
    let most = denied.iter().max_by_key(|&(key, count)| (*count, std::cmp::Reverse(*key))).unwrap();
    Outcome {
        allowed,
        denied: denied.values().sum(),
        keys_denied: denied.len(),
        most_denied: (most.0.to_string(), *most.1),
    }
}

#[test]
fn a_real_log_gives_the_expected_numbers() {
    let path = path();
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("NOTHING WAS CHECKED: there is no log at {}; set TOLLGATE_REAL_LOG", path.display());
        return;
    };
    let mut requests: Vec<_> = text.lines().map(parse).collect();
    // Stable: requests of one second stay in the order they were written.
    requests.sort_by_key(|request| request.unix_ns);
    assert_eq!(requests.len(), 10_000);
    for (quota, algorithms, by_bytes, (allowed, denied, keys_denied, most)) in ROWS {
        let quota: Quota = quota.parse().unwrap();
        let expected = Outcome { allowed, denied, keys_denied, most_denied: (MOST_DENIED.to_owned(), most) };
        for algorithm in algorithms {
            let builder = || {
                Limiter::<String>::builder(quota)
                    .algorithm(algorithm)
                    .capacity(4_000)
                    .clock(ManualClock::new(0))
            };
            if *algorithm != "sliding_window_log" {
                let table = builder().build().unwrap();
                assert_eq!(replay(&table, &requests, by_bytes), expected, "{quota} {algorithm}, table");
                assert_eq!(table.overflowed(), 0);
            }
            let map = builder().build_map().unwrap();
            assert_eq!(replay(&map, &requests, by_bytes), expected, "{quota} {algorithm}, map");
            let apart = replay_apart(algorithm, quota, &requests, by_bytes);
            assert_eq!(apart, expected, "{quota} {algorithm}, a limiter for each key");
        }
    }
}

#[test]
fn the_parser_reads_a_line() {
    let line = r#"10.0.0.1 - - [29/Feb/2016:23:59:59 +0000] "GET /a\"b HTTP/1.1" 200 42 "-" "x""#;
    let request = parse(line);
    assert_eq!((request.ip.as_str(), request.bytes), ("10.0.0.1", 42));
    assert_eq!(request.unix_ns, 1_456_790_399_000_000_000);
    assert_eq!(unix_ns("01/Jan/1970:00:00:01 +0000"), 1_000_000_000);
}
