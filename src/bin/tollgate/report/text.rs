//! The report for people, 80 columns wide.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use indicatif::HumanCount;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;
use ratatui_widgets::barchart::{Bar, BarChart};
use unicode_width::UnicodeWidthStr;

use super::{exact_duration, timeline, timestamp};
use crate::args::Cost;
use crate::printable::printable;
use crate::replay::{Outcome, PlanOutcome, Reading};

pub(super) const ALLOWED: Style = AnsiColor::Green.on_default();
pub(super) const DENIED: Style = AnsiColor::Red.on_default();
const HEADING: Style = Style::new().bold();

const WIDTH: usize = 80;
const BAR_WIDTH: u16 = 24;

/// What a log has to look like.
pub(crate) const EXPECTED: &str = "\
expected one request a line, as one of
  combined or common log format   10.0.0.1 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 123
  JSON                            {\"time\":\"2015-05-17T10:05:03Z\",\"ip\":\"10.0.0.1\"}
  CSV: timestamp,key[,cost]       2015-05-17T10:05:03Z,10.0.0.1,123
(tollgate replay --help names the fields)";

/// Writes the report.
pub(crate) fn write(outcome: &Outcome, mut out: impl Write) -> io::Result<()> {
    out.write_all(render(outcome).as_bytes())?;
    out.flush()
}

/// Writes which lines could not be read, if any.
pub(crate) fn write_complaints(reading: &Reading, mut out: impl Write) -> io::Result<()> {
    if reading.unparsed == 0 {
        return Ok(());
    }
    let mut text = format!("tollgate: {} could not be read", plural(reading.unparsed, "line"));
    if reading.unparsed > reading.complaints.len() as u64 {
        write!(text, "; the first {}:", reading.complaints.len()).expect("writing to a string");
    }
    text.push('\n');
    for complaint in &reading.complaints {
        writeln!(text, "  {complaint}").expect("writing to a string");
    }
    out.write_all(text.as_bytes())
}

fn render(outcome: &Outcome) -> String {
    let mut text = summary(outcome);
    text.push('\n');
    text.push_str(&comparison(outcome));
    text.push_str(&peaks(outcome));
    for result in &outcome.results {
        text.push('\n');
        text.push_str(&detail(outcome, result));
    }
    text
}

fn summary(outcome: &Outcome) -> String {
    let history = &outcome.history;
    let (first, last) = outcome.span_ns;
    let time = |ns| timestamp(ns).strftime("%Y-%m-%d %H:%M:%S").to_string();
    format!(
        "{} by {}, {} unparsed\n{} to {} UTC\n",
        plural(history.reading().requests, "request"),
        plural(history.keys() as u64, "key"),
        plural(history.reading().unparsed, "line"),
        time(first),
        time(last)
    )
}

/// All plans, one under the other.
fn comparison(outcome: &Outcome) -> String {
    let rows: Vec<_> =
        outcome.results.iter().map(|result| (label(result), figures(outcome, result))).collect();
    table("", ["allowed", "denied", "share", "keys denied"], &rows)
}

/// Rows of a label and figures, the figures flush right. A label too long for its column has a line of its own.
pub(crate) fn table<const N: usize>(title: &str, heads: [&str; N], rows: &[(String, [String; N])]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|(_, cells)| cells[column].len()).chain([heads[column].len()]).max().unwrap_or(0)
    });
    let right: usize = widths.iter().map(|width| width + 2).sum();
    let labels = rows.iter().map(|(label, _)| label.width()).chain([title.width()]);
    let left = labels.max().unwrap_or(0).min(WIDTH.saturating_sub(right));
    let figures = |cells: [&str; N]| {
        cells
            .iter()
            .zip(widths)
            .fold(String::new(), |line, (cell, width)| line + &format!("  {cell:>width$}"))
    };
    let mut text = format!("{HEADING}{title:left$}{}{HEADING:#}\n", figures(heads));
    for (label, cells) in rows {
        let label =
            if label.width() > left { format!("{label}\n{:left$}", "") } else { format!("{label:left$}") };
        writeln!(text, "{label}{}", figures(cells.each_ref().map(String::as_str)))
            .expect("writing to a string");
    }
    text
}

fn label(result: &PlanOutcome) -> String {
    printable(&format!("{}, {}", result.plan.quota, result.plan.algorithm), WIDTH)
}

fn figures(outcome: &Outcome, result: &PlanOutcome) -> [String; 4] {
    let tally = &result.tally;
    let requests = u128::from(outcome.history.reading().requests);
    // In tenths of a percent, rounded half up.
    let tenths = (u128::from(tally.denied) * 1_000 + requests / 2) / requests;
    let share = format!("{}.{} %", tenths / 10, tenths % 10);
    [count(tally.allowed), count(tally.denied), share, count(tally.denied_keys)]
}

/// The hint for choosing a limit: how much single keys ask for, once for each period among the limits.
fn peaks(outcome: &Outcome) -> String {
    let title = match outcome.history.cost() {
        Cost::One => "Requests of a key in its busiest",
        Cost::Bytes => "Bytes of a key in its busiest",
    };
    let mut peaks: Vec<_> = outcome.results.iter().filter_map(|result| result.peak).collect();
    peaks.sort_by_key(|peak| peak.period_ns);
    peaks.dedup();
    if peaks.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = peaks
        .iter()
        .map(|peak| (exact_duration(peak.period_ns), [peak.p50, peak.p99, peak.max].map(count)))
        .collect();
    format!("\n{}", table(title, ["p50", "p99", "max"], &rows))
}

/// Who was denied most, and when.
fn detail(outcome: &Outcome, result: &PlanOutcome) -> String {
    let mut text = format!("{HEADING}{}{HEADING:#}\n", label(result));
    if result.tally.top.is_empty() {
        text.push_str("  No key was denied anything.\n");
    } else {
        text.push_str("  Keys denied most\n");
        text.push_str(&top(outcome, result));
    }
    text.push_str(&timeline::draw(&result.tally, &outcome.timeline));
    text
}

fn top(outcome: &Outcome, result: &PlanOutcome) -> String {
    let top = &result.tally.top;
    let numbers: Vec<String> = top.iter().map(|&(_, denied)| count(denied)).collect();
    let number_width = numbers.iter().map(String::len).max().unwrap_or(0);
    let key_width_max = WIDTH - 4 - 2 - number_width - 2 - usize::from(BAR_WIDTH);
    let keys: Vec<String> =
        top.iter().map(|&(key, _)| printable(outcome.history.key(key), key_width_max)).collect();
    let key_width = keys.iter().map(|key| key.width()).max().unwrap_or(0);
    let bars = bars(&top.iter().map(|&(_, denied)| denied).collect::<Vec<_>>());
    let mut text = String::new();
    for ((key, number), bar) in keys.iter().zip(&numbers).zip(bars) {
        let pad = key_width - key.width();
        writeln!(text, "    {key}{:pad$}  {number:>number_width$}  {DENIED}{bar}{DENIED:#}", "")
            .expect("writing to a string");
    }
    text
}

/// A bar for each value, the largest of which fills the width.
fn bars(values: &[u64]) -> Vec<String> {
    let max = values.iter().copied().max().unwrap_or(0);
    // What is there at all is seen.
    let visible = max.div_ceil(u64::from(BAR_WIDTH));
    let bars: Vec<Bar<'_>> =
        values.iter().map(|&value| Bar::new(value.max(visible)).text_value(String::new())).collect();
    let area = Rect::new(0, 0, BAR_WIDTH, values.len() as u16);
    let mut buffer = Buffer::empty(area);
    BarChart::horizontal(bars).bar_gap(0).max(max).render(area, &mut buffer);
    (0..area.height)
        .map(|y| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned())
        .collect()
}

/// A number with its thousands set apart.
pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

pub(crate) fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_never_empty() {
        let lengths: Vec<usize> = bars(&[240, 120, 10, 1]).iter().map(|bar| bar.chars().count()).collect();
        assert_eq!(lengths, [24, 12, 1, 1]);
        assert_eq!(bars(&[]), Vec::<String>::new());
    }

    #[test]
    fn one_thing_is_not_several() {
        assert_eq!(plural(1, "line"), "1 line");
        assert_eq!(plural(0, "line"), "0 lines");
        assert_eq!(plural(12_345, "line"), "12,345 lines");
    }
}
