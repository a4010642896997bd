//! A record of one run: everything one needs to judge it, or to repeat it.

use serde::Serialize;

use super::machine::Machine;
use super::{Outcome, table};
use crate::args::Args;

#[derive(Debug, Serialize)]
pub(super) struct Record<'a> {
    pub(super) machine: Machine,
    command: String,
    rounds: usize,
    /// Sizes at which nothing is measured, only run.
    quick: bool,
    outcomes: &'a [Outcome],
}

impl<'a> Record<'a> {
    pub(super) fn new(args: &Args, outcomes: &'a [Outcome]) -> Self {
        Self {
            machine: Machine::here(),
            command: args.command(),
            rounds: args.rounds(),
            quick: args.is_quick(),
            outcomes,
        }
    }

    /// For readers, with the chart that lies beside it under the same name.
    pub(super) fn markdown(&self, name: &str) -> String {
        let details = self.outcomes.iter().map(|outcome| {
            let table = table::contenders(outcome);
            format!("### {}\n\n{}.\n\n{table}\n", outcome.title(), outcome.what)
        });
        format!(
            "# Comparison of {}\n\n{}\n![Ratios]({name}.svg)\n\n{}\n\n## All contenders\n\n{}",
            self.machine.date,
            self.conditions(),
            table::figures(self.outcomes),
            details.collect::<Vec<_>>().join("\n"),
        )
    }

    fn conditions(&self) -> String {
        let machine = &self.machine;
        let crates: Vec<_> =
            machine.crates.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let rounds =
            if self.quick { "tiny sizes: no measurement".to_owned() } else { self.rounds.to_string() };
        [
            ("CPU", format!("{}, {} cores, {} of memory", machine.cpu, machine.cores, machine.memory)),
            ("System", machine.os.clone()),
            ("Compiler", machine.rustc.clone()),
            ("Crates", crates.join(", ")),
            ("Command", format!("`{}`", self.command)),
            ("Rounds", rounds),
        ]
        .map(|(name, value)| format!("* {name}: {value}\n"))
        .concat()
    }
}
