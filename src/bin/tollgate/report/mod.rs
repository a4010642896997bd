//! The report, for people and for programs.

pub(crate) mod json;
pub(crate) mod text;
mod timeline;

use jiff::Timestamp;

/// A length of time in the largest unit that says it exactly, from seconds down.
fn exact_duration(ns: u64) -> String {
    for (unit_ns, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if ns.is_multiple_of(unit_ns) {
            return format!("{}{unit}", ns / unit_ns);
        }
    }
    format!("{ns}ns")
}

/// A time of the log, or the end of a column of its timeline.
fn timestamp(time_ns: u64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(time_ns))
        .expect("64 bits of nanoseconds end long before the year 9999")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        for (ns, text) in [
            (60_000_000_000, "60s"),
            (1_500_000_000, "1500ms"),
            (250_000, "250us"),
            (1, "1ns"),
            (1_000_001, "1000001ns"),
        ] {
            assert_eq!(exact_duration(ns), text);
        }
    }
}
