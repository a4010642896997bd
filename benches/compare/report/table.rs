//! Tables, for the terminal and for Markdown alike.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

use super::number::{ratio, short};
use super::{Outcome, Verdict};

/// All contenders of one figure; the ratio is that of the figure's subject to each.
pub(crate) fn contenders(outcome: &Outcome) -> String {
    let subject = outcome.median_of(outcome.subject).unwrap_or(f64::NAN);
    let mut table = with_header(&["contender", outcome.unit, "min", "max", "ratio", "CPU"]);
    for contender in &outcome.contenders {
        table.add_row([
            contender.name.clone(),
            short(contender.median),
            short(contender.min),
            short(contender.max),
            ratio(subject / contender.median),
            contender.share.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0)),
        ]);
    }
    aligned(table)
}

/// One line for each figure.
pub(crate) fn figures(outcomes: &[Outcome]) -> String {
    let header = ["figure", "against", "result", "min", "max", "to reach", ""];
    let mut table = with_header(&header);
    for outcome in outcomes {
        table.add_row([
            outcome.title(),
            outcome.baseline.unwrap_or(outcome.unit).to_owned(),
            ratio(outcome.result),
            ratio(outcome.min),
            ratio(outcome.max),
            format!("≤ {}", ratio(outcome.to_reach)),
            outcome.verdict.to_string(),
        ]);
    }
    aligned(table)
}

/// How many figures came out how.
pub(crate) fn verdicts(outcomes: &[Outcome]) -> String {
    let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    let [reached, missed, unsettled] = [Verdict::Reached, Verdict::Missed, Verdict::Unsettled].map(count);
    format!("{reached} reached, {missed} missed, {unsettled} unsettled")
}

fn with_header(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header);
    table
}

/// Words to the left, numbers to the right.
fn aligned(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        let is_number = column.index > 0;
        if is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
