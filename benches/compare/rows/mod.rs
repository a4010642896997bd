//! The rows: what is compared, with whom, and what is to be reached.

mod few;
mod hot;
pub(crate) mod inserts;
mod logs;
mod many;
pub(crate) mod memory;

use crate::effort::{Effort, Samples};

/// Something that is built once and measured in one or more ways.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) figures: &'static [Figure],
    /// Samples by figure, then by contender.
    pub(crate) measure: fn(&Effort) -> Vec<Vec<Samples>>,
}

/// One way in which a row is measured.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// The contender that this is about.
    pub(crate) subject: &'static str,
    pub(crate) reach: Reach,
    /// What a reader has to know to judge the figure.
    pub(crate) note: &'static str,
}

/// What is to be reached by medians.
#[derive(Clone, Copy)]
pub(crate) enum Reach {
    /// At most this many times the named contender's.
    Ratio(f64, &'static str),
    /// At most so much.
    AtMost(f64),
}

/// The unit of most figures.
const NS: &str = "ns/decision";

pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    [few::ROWS, many::ROWS, hot::ROWS, memory::ROWS, inserts::ROWS, logs::ROWS].into_iter().flatten()
}
