//! The figures, for people and for programs.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::Figure;
use crate::report::text::{count, plural, table};

const LEGEND: &str = "\
ns: of a decision in one of the threads, median of short samples. floor: a clock
read, a hash and a line of memory that is not shared (tollgate bench --help).
";

/// Writes a table for each number of threads.
pub(super) fn write_text(figures: &[Figure], mut out: impl Write) -> io::Result<()> {
    out.write_all(render(figures).as_bytes())?;
    out.flush()
}

fn render(figures: &[Figure]) -> String {
    let mut threads: Vec<usize> = figures.iter().map(|figure| figure.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut text = String::new();
    for threads in threads {
        let rows: Vec<_> = figures
            .iter()
            .filter(|figure| figure.threads == threads)
            .map(|figure| (figure.name.to_owned(), cells(figure)))
            .collect();
        let heads = ["decisions/s", "ns", "floor ns", "ns/floor"];
        text.push_str(&table(&plural(threads as u64, "thread"), heads, &rows));
        text.push('\n');
    }
    text + LEGEND
}

fn cells(figure: &Figure) -> [String; 4] {
    let tenths = |number: f64| format!("{number:.1}");
    [
        count(three_digits(figure.per_second())),
        tenths(figure.ns),
        tenths(figure.floor_ns),
        tenths(figure.ns / figure.floor_ns),
    ]
}

/// No more digits than a second run would show again.
fn three_digits(number: f64) -> u64 {
    let scale = 10_f64.powf(number.log10().floor() - 2.0).max(1.0);
    ((number / scale).round() * scale) as u64
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    cores: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    threads: usize,
    decisions_per_second: f64,
    ns: f64,
    floor_ns: f64,
    allowed_share: f64,
}

/// Writes one JSON object on one line.
pub(super) fn write_json(figures: &[Figure], cores: usize, out: impl Write) -> io::Result<()> {
    let row = |figure: &Figure| Row {
        name: figure.name,
        threads: figure.threads,
        decisions_per_second: figure.per_second(),
        ns: figure.ns,
        floor_ns: figure.floor_ns,
        allowed_share: figure.allowed_share,
    };
    let rows = figures.iter().map(row).collect();
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, &Report { version: env!("CARGO_PKG_VERSION"), cores, rows })?;
    out.write_all(b"\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown() {
        for (number, shown) in [(41_234_567.0, 41_200_000), (999_600.0, 1_000_000), (123.4, 123), (7.6, 8)] {
            assert_eq!(three_digits(number), shown);
        }
    }
}
