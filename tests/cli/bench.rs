//! The measurement of decisions: that it runs and says everything, not how fast they are.

use serde_json::Value;

use crate::support::{refusal_of, stdout_of};

const ROWS: [&str; 9] = [
    "one key",
    "one key, in batches",
    "1,000 keys",
    "1,000 keys, in batches",
    "1,000,000 keys",
    "1,000,000 keys, in batches",
    "denials of one key",
    "without keys",
    "without keys, leased",
];

fn bench(args: &[&str]) -> String {
    stdout_of(&[&["bench", "--seconds", "0.001"], args].concat(), b"")
}

/// Those that are measured: one, and one for each core.
fn threads() -> Vec<usize> {
    let mut threads = vec![1, std::thread::available_parallelism().map_or(1, usize::from)];
    threads.dedup();
    threads
}

#[test]
fn every_row_is_in_the_json() {
    let report: Value = serde_json::from_str(&bench(&["--json"])).expect("the report is JSON");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["cores"].as_u64(), threads().last().map(|&cores| cores as u64));
    let rows = report["rows"].as_array().expect("rows are a list");
    assert_eq!(rows.len(), ROWS.len() * threads().len());
    for name in ROWS {
        let own: Vec<&Value> = rows.iter().filter(|row| row["name"] == name).collect();
        let of: Vec<_> = own.iter().filter_map(|row| row["threads"].as_u64()).map(|n| n as usize).collect();
        assert_eq!(of, threads(), "{name}");
        for row in own {
            let number = |field: &str| row[field].as_f64().expect("a number");
            let (ns, threads) = (number("ns"), number("threads"));
            assert!(ns > 0.0 && number("floor_ns") > 0.0, "{row}");
            let per_ns = number("decisions_per_second") / 1e9;
            assert!((per_ns * ns / threads - 1.0).abs() < 1e-9, "{row}");
            let allowed_share = if name == "denials of one key" { 0.0 } else { 1.0 };
            assert_eq!(number("allowed_share"), allowed_share, "{row}");
        }
    }
}

#[test]
fn every_row_is_in_a_table_for_each_number_of_threads() {
    let text = bench(&[]);
    let tables: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(tables.len(), threads().len() + 1, "and what they mean: {text}");
    for (table, threads) in tables.iter().zip(threads()) {
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), ROWS.len() + 1, "{text}");
        let head = lines[0].split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        assert_eq!(head, if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") });
        for (line, row) in lines[1..].iter().zip(ROWS) {
            let figures = line.strip_prefix(row).unwrap_or_else(|| panic!("{row}: {line}"));
            let figures: Vec<&str> = figures.split_whitespace().collect();
            assert_eq!(figures.len(), 4, "{line}");
            assert!(
                figures[0].replace(',', "").parse::<u64>().is_ok_and(|per_second| per_second > 0),
                "{line}"
            );
            assert!(figures[1..].iter().all(|figure| figure.parse::<f64>().is_ok()), "{line}");
        }
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn a_length_that_cannot_be_measured_is_refused() {
    for (seconds, said) in
        [("0", "more than 0"), ("601", "at most 600"), ("NaN", "more than 0"), ("soon", "soon")]
    {
        let refusal = refusal_of(&["bench", "--seconds", seconds], b"");
        assert!(refusal.contains(said) && refusal.contains("--seconds"), "{refusal}");
    }
}
