//! `tollgate bench`: how fast decisions are on this machine, beside what it could do at best.

mod floor;
mod report;
mod rows;
mod sample;

use std::io::{self, IsTerminal};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::BenchArgs;
use crate::failure::Failure;
use sample::{Figure, Gauge};

/// Runs the command.
pub(crate) fn command(args: &BenchArgs) -> Result<(), Failure> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut threads = vec![1, cores];
    threads.dedup();
    let progress = progress_bar(rows::COUNT * threads.len());
    let mut gauge = Gauge::new(args.seconds, rows::COUNT, threads, &progress);
    rows::measure(&mut gauge);
    let figures = gauge.into_figures();
    progress.finish_and_clear();
    if args.json {
        report::write_json(&figures, cores, io::stdout().lock())?;
    } else {
        report::write_text(&figures, anstream::stdout().lock())?;
    }
    Ok(())
}

fn progress_bar(steps: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:24} {msg}").expect("a template of known words");
    ProgressBar::new(steps as u64).with_style(style)
}
