//! Every figure as a bar: how far it is below what it is compared with, or above.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::number::ratio;
use super::{Outcome, Verdict};

const WIDTH_PX: u32 = 960;
const ROW_PX: u32 = 26;
const HEAD_PX: u32 = 64;
const LABELS_PX: i32 = 400;
const BARS_PX: i32 = 460;
/// The axis is logarithmic, from a thousandth to ten times.
const DECADES: (f64, f64) = (-3.0, 1.0);

type Error = Box<dyn std::error::Error + Send + Sync>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// An SVG document.
pub(super) fn draw(outcomes: &[Outcome]) -> Result<String, Error> {
    let shown: Vec<_> = outcomes.iter().filter(|outcome| outcome.baseline.is_some()).collect();
    let height = HEAD_PX + ROW_PX * shown.len() as u32 + ROW_PX;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH_PX, height)).into_drawing_area();
        area.fill(&WHITE)?;
        axis(&area, height as i32)?;
        for (at, outcome) in shown.iter().enumerate() {
            bar(&area, outcome, (HEAD_PX + ROW_PX * at as u32) as i32)?;
        }
        area.present()?;
    }
    Ok(svg)
}

/// Where a ratio lies, within the axis.
fn x_px(ratio: f64) -> i32 {
    let (from, to) = DECADES;
    LABELS_PX + ((ratio.log10().clamp(from, to) - from) / (to - from) * f64::from(BARS_PX)) as i32
}

fn text(area: &Area<'_>, text: &str, (x, y): (i32, i32), anchor: HPos, size: u32) -> Result<(), Error> {
    let style = ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(anchor, VPos::Center));
    Ok(area.draw_text(text, &style, (x, y))?)
}

fn axis(area: &Area<'_>, height: i32) -> Result<(), Error> {
    text(
        area,
        "what tollgate takes, in times of what it is compared with: left is better, | is to be reached",
        (12, 18),
        HPos::Left,
        15,
    )?;
    for (ratio, label) in [(0.001, "0.001"), (0.01, "0.01"), (0.1, "0.1"), (1.0, "1"), (10.0, "10")] {
        let x = x_px(ratio);
        text(area, label, (x, 46), HPos::Center, 12)?;
        let colour = if ratio == 1.0 { BLACK.mix(0.7) } else { BLACK.mix(0.15) };
        area.draw(&PathElement::new(vec![(x, 56), (x, height - 12)], colour))?;
    }
    Ok(())
}

fn bar(area: &Area<'_>, outcome: &Outcome, top: i32) -> Result<(), Error> {
    let middle = top + ROW_PX as i32 / 2;
    let label = format!("{}: {}", outcome.row, outcome.figure);
    text(area, &label, (LABELS_PX - 8, middle), HPos::Right, 13)?;
    let colour = match outcome.verdict {
        Verdict::Reached => RGBColor(46, 125, 50),
        Verdict::Missed => RGBColor(198, 40, 40),
        Verdict::Unsettled => RGBColor(249, 168, 37),
    };
    let (end, even) = (x_px(outcome.result), x_px(1.0));
    let corners = [(end.min(even), top + 5), (end.max(even), top + ROW_PX as i32 - 5)];
    area.draw(&Rectangle::new(corners, colour.filled()))?;
    let target = x_px(outcome.to_reach);
    let mark = vec![(target, top + 2), (target, top + ROW_PX as i32 - 2)];
    area.draw(&PathElement::new(mark, BLACK.stroke_width(2)))?;
    text(area, &ratio(outcome.result), (end.max(even).max(target) + 6, middle), HPos::Left, 12)
}
