//! The arguments, among them those that cargo and criterion's other benches are given.

use clap::Parser;

use crate::child::Task;
use crate::rows::{self, Row};

/// Compares tollgate with its peers. See benches/README.md.
#[derive(Debug, Parser)]
#[command(name = "compare")]
pub(crate) struct Args {
    /// Measure only rows whose name contains one of these
    pub(crate) filters: Vec<String>,
    /// Run everything at a tiny size: a test that it runs, not a measurement
    #[arg(long)]
    quick: bool,
    /// As --quick
    #[arg(long)]
    test: bool,
    /// What cargo passes to every bench; no effect
    #[arg(long)]
    bench: bool,
    /// Samples of each contender, taken in turn
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: Option<u16>,
    /// Print the names of the rows
    #[arg(long)]
    pub(crate) list: bool,
    /// Keep the results in benches/record, under today's date
    #[arg(long, conflicts_with_all = ["quick", "test"])]
    pub(crate) record: bool,
    #[arg(long, hide = true)]
    pub(crate) child: Option<Task>,
    #[arg(long, hide = true, default_value = "")]
    pub(crate) contender: String,
}

impl Args {
    pub(crate) fn is_quick(&self) -> bool {
        self.quick || self.test
    }

    pub(crate) fn rounds(&self) -> usize {
        self.rounds.map_or(if self.is_quick() { 1 } else { 5 }, usize::from)
    }

    pub(crate) fn chosen(&self) -> impl Iterator<Item = &'static Row> {
        let chosen = |row: &&Row| {
            self.filters.is_empty() || self.filters.iter().any(|filter| row.name.contains(filter.as_str()))
        };
        rows::all().filter(chosen)
    }

    /// What to type for the same again.
    pub(crate) fn command(&self) -> String {
        let mut words = vec!["cargo bench --bench compare --".to_owned()];
        words.extend(self.filters.iter().map(|filter| format!("'{filter}'")));
        words.extend(self.is_quick().then(|| "--quick".to_owned()));
        words.extend(self.rounds.map(|rounds| format!("--rounds {rounds}")));
        words.extend(self.record.then(|| "--record".to_owned()));
        words.join(" ")
    }
}
