//! The time of the log in columns of equal and round length.

use std::num::NonZeroU64;

/// At most as many columns, so that a chart of them fits a terminal 80 wide.
const COLUMNS_MAX: u64 = 64;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The lengths of a column that people can read; the last covers all times that there are.
const STEPS_NS: [u64; 35] = [
    MS,
    2 * MS,
    5 * MS,
    10 * MS,
    20 * MS,
    50 * MS,
    100 * MS,
    200 * MS,
    500 * MS,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    5 * DAY,
    10 * DAY,
    20 * DAY,
    50 * DAY,
    100 * DAY,
    200 * DAY,
    500 * DAY,
];

/// Columns of `step_ns`, the first of which starts at a multiple of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    step_ns: NonZeroU64,
    first: u64,
    last: u64,
}

impl Timeline {
    /// The finest round columns for all times from the first to the last.
    pub(super) fn over((first_ns, last_ns): (u64, u64)) -> Self {
        let fits = |&&step: &&u64| last_ns / step - first_ns / step < COLUMNS_MAX;
        let step = STEPS_NS.iter().find(fits).unwrap_or(&u64::MAX);
        let step_ns = NonZeroU64::new(*step).expect("no step is zero");
        Self { step_ns, first: first_ns / step_ns, last: last_ns / step_ns }
    }

    /// How many columns there are: at least one.
    pub(crate) fn columns(&self) -> usize {
        (self.last - self.first + 1) as usize
    }

    /// The column of a time between the first and the last.
    pub(super) fn column(&self, time_ns: u64) -> usize {
        (time_ns / self.step_ns - self.first) as usize
    }

    /// The length of a column.
    pub(crate) fn step_ns(&self) -> u64 {
        self.step_ns.get()
    }

    /// When the first column starts.
    pub(crate) fn start_ns(&self) -> u64 {
        self.first * self.step_ns.get()
    }

    /// When the last column ends.
    pub(crate) fn end_ns(&self) -> u64 {
        (self.last + 1).saturating_mul(self.step_ns.get())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_grow_with_the_span() {
        for (span, step, columns) in [
            ((0, 0), MS, 1),
            ((0, 64 * MS - 1), MS, 64),
            ((0, 64 * MS), 2 * MS, 33),
            ((MINUTE - 1, MINUTE), MS, 2),
            ((7 * HOUR, 8 * HOUR), MINUTE, 61),
            ((7 * HOUR, 9 * HOUR), 2 * MINUTE, 61),
            ((0, tollgate::MAX_NOW_NS), 500 * DAY, 54),
        ] {
            let timeline = Timeline::over(span);
            assert_eq!((timeline.step_ns(), timeline.columns()), (step, columns), "{span:?}");
        }
        assert!(STEPS_NS.is_sorted());
    }

    proptest! {
        #[test]
        fn every_time_has_its_column(a in 0..=tollgate::MAX_NOW_NS, length in 0_u64..1 << 62, at in 0.0..=1.0_f64) {
            let b = a.saturating_add(length).min(tollgate::MAX_NOW_NS);
            let timeline = Timeline::over((a, b));
            prop_assert!(timeline.columns() as u64 <= COLUMNS_MAX);
            prop_assert_eq!((timeline.column(a), timeline.column(b)), (0, timeline.columns() - 1));
            prop_assert!(timeline.start_ns() <= a && b < timeline.end_ns());
            let time = a + ((b - a) as f64 * at) as u64;
            let time = time.min(b);
            let start = timeline.start_ns() + timeline.column(time) as u64 * timeline.step_ns();
            prop_assert!(start <= time && time - start < timeline.step_ns());
        }
    }
}
