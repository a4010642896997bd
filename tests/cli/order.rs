//! The order of decisions, and that threads do not show.

use crate::support::{counts, example_log, replay, stdout_of, tollgate};

#[test]
fn requests_are_decided_by_their_times() {
    let log = "100,a\n0,a\n9.999999999,a\n10,a\n";
    assert_eq!(counts(&replay(&["-l", "1/10s"], log)), (3, 1));
    // As written, the time never goes back behind 100.
    assert_eq!(counts(&replay(&["-l", "1/10s", "--as-written"], log)), (1, 3));
    let sorted = "0,a\n9.999999999,a\n10,a\n100,a\n";
    assert_eq!(replay(&["-l", "1/10s"], log), replay(&["-l", "1/10s", "--as-written"], sorted));
}

#[test]
fn requests_of_one_time_keep_their_order() {
    let bytes = ["-l", "10/min", "--cost", "bytes"];
    assert_eq!(counts(&replay(&bytes, "7,a,10\n7,a,5\n7,a,5\n")), (1, 2));
    assert_eq!(counts(&replay(&bytes, "7,a,5\n7,a,5\n7,a,10\n")), (2, 1));
    // Many more than a sort can leave to chance: at each of three times a cost of 10 comes first, and leaves no room.
    let times = ["2000", "0", "1000"];
    let first: String = times.iter().map(|time| format!("{time},a,10\n")).collect();
    let then: String = (0..300).map(|line| format!("{},a,5\n", times[line * 7 % 3])).collect();
    assert_eq!(counts(&replay(&bytes, first.clone() + &then)), (3, 300));
    assert_eq!(counts(&replay(&bytes, then + &first)), (6, 297));
}

#[test]
fn requests_of_one_time_come_in_the_order_of_the_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a UTF-8 path").to_owned()
    };
    let (one, two) = (write("one", "7,a,10\n"), write("two", "7,a,5\n7,a,5\n"));
    let run = |first: &str, second: &str| {
        let args = ["replay", "-l", "10/min", "--cost", "bytes", "-o", "json", first, second];
        counts(&serde_json::from_str(&stdout_of(&args, b"")).expect("the report is JSON"))
    };
    assert_eq!((run(&one, &two), run(&two, &one)), ((1, 2), (2, 1)));
}

#[test]
fn the_number_of_threads_does_not_show() {
    let log = stdout_of(&["synth", "--lines", "20000", "--clients", "3000", "--rate", "100"], b"");
    for output in ["json", "text"] {
        let args =
            ["replay", "-l", "10/min", "-l", "3/s", "-a", "gcra", "-a", "fixed_window", "-o", output, "-"];
        let by_flag = ["1", "2", "7"]
            .map(|threads| stdout_of(&[&args[..], &["--threads", threads]].concat(), log.as_bytes()));
        assert!(by_flag[0].contains("10.66.66.66"), "something is denied: {}", by_flag[0]);
        assert_eq!(by_flag[0], by_flag[1]);
        assert_eq!(by_flag[0], by_flag[2]);
        for threads in ["1", "2", "7"] {
            tollgate()
                .env("RAYON_NUM_THREADS", threads)
                .args(args)
                .write_stdin(log.as_str())
                .assert()
                .success()
                .stdout(by_flag[0].clone());
        }
    }
}

#[test]
fn ties_at_the_end_of_the_top_are_settled_by_the_key() {
    // Twelve keys denied once each: the ten that come first as text are named, whatever the order of the log.
    let log: String = (10..22).rev().map(|key| format!("1,k{key}\n1,k{key}\n")).collect();
    for threads in ["1", "7"] {
        let report = replay(&["-l", "1/min", "--threads", threads], &log);
        let expected: Vec<String> = (10..20).map(|key| format!("k{key}")).collect();
        assert_eq!(crate::support::top_keys(&report), expected);
        assert_eq!(report["results"][0]["denied_keys"].as_u64(), Some(12));
    }
}

#[test]
fn each_limit_is_tried_with_each_algorithm_as_if_alone() {
    let path = example_log();
    let path = path.to_str().expect("a UTF-8 path");
    let run = |args: &[&str]| -> serde_json::Value {
        let all = [&["replay", "-o", "json"], args, &[path]].concat();
        serde_json::from_str(&stdout_of(&all, b"")).expect("the report is JSON")
    };
    let all = run(&[
        "-l",
        "20/min",
        "-a",
        "token_bucket",
        "-l",
        "5/10s",
        "-a",
        "fixed_window",
        "-a",
        "sliding_window_counter",
    ]);
    let mut alone = Vec::new();
    for limit in ["20/min", "5/10s"] {
        for algorithm in ["token_bucket", "fixed_window", "sliding_window_counter"] {
            alone.push(run(&["-l", limit, "-a", algorithm])["results"][0].clone());
        }
    }
    assert_eq!(all["results"].as_array(), Some(&alone));
    let denied: Vec<u64> = alone.iter().filter_map(|result| result["denied"].as_u64()).collect();
    assert_eq!(denied.iter().collect::<std::collections::BTreeSet<_>>().len(), 6, "all differ: {denied:?}");
}
