//! Units of time: their names and lengths.

use core::fmt;

/// A unit of time, its name in our texts, and the other names that are read.
pub(super) struct Unit {
    pub(super) name: &'static str,
    others: &'static str,
    pub(super) ns: u64,
}

pub(super) const SECOND_NS: u64 = 1_000_000_000;
pub(super) const MINUTE_NS: u64 = 60 * SECOND_NS;
const DAY_NS: u64 = 86_400 * SECOND_NS;

/// From short to long. The micro sign and the Greek letter mu look alike, and keyboards write either.
pub(super) const UNITS: [Unit; 8] = [
    Unit { name: "ns", others: "nsec nsecs nano nanos nanosecond nanoseconds", ns: 1 },
    Unit {
        name: "us",
        others: "\u{b5}s \u{3bc}s usec usecs micro micros microsecond microseconds",
        ns: 1_000,
    },
    Unit { name: "ms", others: "msec msecs milli millis millisecond milliseconds", ns: 1_000_000 },
    Unit { name: "s", others: "sec secs second seconds", ns: SECOND_NS },
    Unit { name: "min", others: "m mins minute minutes", ns: MINUTE_NS },
    Unit { name: "h", others: "hr hrs hour hours", ns: 60 * MINUTE_NS },
    Unit { name: "day", others: "d days", ns: DAY_NS },
    Unit { name: "week", others: "w wk wks weeks", ns: 7 * DAY_NS },
];

/// Their length varies, so they are refused; the usual number of days is advised.
pub(super) const CALENDAR: [Unit; 2] = [
    Unit { name: "month", others: "mo months", ns: 30 * DAY_NS },
    Unit { name: "year", others: "y yr yrs years", ns: 365 * DAY_NS },
];

impl Unit {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.others.split(' '))
    }

    /// The length of the unit that has this name, in any case.
    pub(super) fn find_ns(units: &[Self], name: &str) -> Option<u64> {
        units
            .iter()
            .find(|unit| unit.names().any(|known| known.eq_ignore_ascii_case(name)))
            .map(|unit| unit.ns)
    }
}

/// A period in nanoseconds, written as `s`, `10s`, `250ms`.
pub(super) struct Period(pub(super) u128);

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(ns) = *self;
        // Every unit divides zero, and a nanosecond divides everything.
        let divides = |unit: &&Unit| ns != 0 && ns % u128::from(unit.ns) == 0;
        let unit = UNITS.iter().rev().find(divides).unwrap_or(&UNITS[0]);
        match ns / u128::from(unit.ns) {
            1 => f.write_str(unit.name),
            count => write!(f, "{count}{}", unit.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_one_unit() {
        let mut names: Vec<_> = UNITS.iter().chain(&CALENDAR).flat_map(Unit::names).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(UNITS.is_sorted_by_key(|unit| unit.ns));
    }
}
