//! What was allowed and denied over time, drawn in the terminal.

use anstyle::Style;
use jiff::SignedDuration;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;
use ratatui_widgets::sparkline::Sparkline;

use super::text::{ALLOWED, DENIED, plural};
use super::timestamp;
use crate::replay::{Tally, Timeline};

/// The rows of the tallest column.
const ROWS: u64 = 5;
const CHART_WIDTH: usize = 64;
/// Few columns are drawn wider, up to this.
const COLUMN_WIDTH_MAX: usize = 4;
/// What is left between the two times below the chart at the least.
const AXIS_GAP: usize = 4;
const GUTTER: usize = 12;

/// Two charts of one scale above one another, and their times.
///
/// Two and not one of stacked columns: without colours, in a file or for some eyes, stacked parts look alike.
pub(super) fn draw(tally: &Tally, timeline: &Timeline) -> String {
    let highest = |columns: &[u64]| columns.iter().copied().max().unwrap_or(0);
    let scale = highest(&tally.allowed_columns).max(highest(&tally.denied_columns)).max(1);
    let step = SignedDuration::from_nanos(timeline.step_ns() as i64);
    let mut text = format!("  Timeline: a column is {step:#}, the highest is {}\n", plural(scale, "request"));
    text.push_str(&chart("allowed", ALLOWED, &tally.allowed_columns, scale));
    text.push_str(&chart("denied", DENIED, &tally.denied_columns, scale));
    text.push_str(&axis(timeline));
    text
}

fn column_width(columns: usize) -> usize {
    (CHART_WIDTH / columns).clamp(1, COLUMN_WIDTH_MAX)
}

/// The label in front of its last row, as many rows as the values need at this scale.
fn chart(label: &str, style: Style, columns: &[u64], scale: u64) -> String {
    // In eighths of a row, the steps that block characters have. What happened at all is seen: at least one.
    let eighths = |value: u64| if value == 0 { 0 } else { (value * ROWS * 8 / scale).max(1) };
    let width = column_width(columns.len());
    let values: Vec<u64> =
        columns.iter().flat_map(|&value| std::iter::repeat_n(eighths(value), width)).collect();
    let rows = values.iter().copied().max().unwrap_or(0).div_ceil(8).max(1);
    let area = Rect::new(0, 0, values.len() as u16, rows as u16);
    let mut buffer = Buffer::empty(area);
    Sparkline::default().data(values).max(rows * 8).render(area, &mut buffer);
    let mut text = String::new();
    for y in 0..area.height {
        let row: String = (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
        let label = if y + 1 == area.height { label } else { "" };
        let line = match row.trim_end() {
            "" => format!("    {label}"),
            row => format!("    {label:<8}{style}{row}{style:#}"),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// When the first column starts and the last one ends.
fn axis(timeline: &Timeline) -> String {
    let format =
        if timeline.step_ns() < 1_000_000_000 { "%Y-%m-%d %H:%M:%S%.3f" } else { "%Y-%m-%d %H:%M:%S" };
    let time = |ns| timestamp(ns).strftime(format).to_string();
    let (start, end) = (time(timeline.start_ns()), time(timeline.end_ns()));
    let width =
        (timeline.columns() * column_width(timeline.columns())).max(start.len() + AXIS_GAP + end.len());
    format!("{:GUTTER$}{start}{end:>end_width$}\n", "", end_width = width - start.len())
}
