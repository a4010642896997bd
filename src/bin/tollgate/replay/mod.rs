//! `tollgate replay`: read logs, decide every request, report.

mod history;
mod peak;
mod run;
mod timeline;

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use tollgate::{BuildError, DirectLimiter, ManualClock, Quota};

use crate::args::{Output, ReplayArgs};
use crate::failure::Failure;
use crate::input;
use crate::report;

pub(crate) use history::{Event, History};
pub(crate) use peak::Peak;
pub(crate) use run::{Outcome, PlanOutcome, Tally};
pub(crate) use timeline::Timeline;

/// More threads than any machine has cores only take time to start.
const THREADS_MAX: usize = 256;
/// Smaller logs are read before a progress bar could be looked at.
const PROGRESS_MIN_BYTES: u64 = 64 << 20;

/// One limit kept by one algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) quota: Quota,
    pub(crate) algorithm: String,
}

impl Plan {
    /// A fresh limiter of this plan, for one key.
    fn limiter(&self) -> Result<DirectLimiter<ManualClock>, BuildError> {
        DirectLimiter::builder(self.quota).algorithm(&self.algorithm).clock(ManualClock::new(0)).build()
    }
}

/// Runs the command.
pub(crate) fn command(args: &ReplayArgs) -> Result<(), Failure> {
    let plans = plans(args)?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, |threads| usize::from(threads).min(THREADS_MAX)))
        .build()
        .map_err(|error| Failure::Input(format!("cannot start threads: {error}")))?;
    let history = read(args)?;
    let outcome = threads.install(|| run::run(history, &plans, args.as_written));
    match args.output {
        Output::Json => report::json::write(&outcome, io::stdout().lock())?,
        Output::Text => {
            // Who has closed standard error still wants the report.
            let _ = report::text::write_complaints(&outcome, io::stderr().lock());
            report::text::write(&outcome, anstream::stdout().lock())?;
        }
    }
    Ok(())
}

/// Each limit with each algorithm, all of them known to work: nothing is read for a plan that cannot be kept.
fn plans(args: &ReplayArgs) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for &quota in &args.limits {
        for algorithm in &args.algorithms {
            let plan = Plan { quota, algorithm: algorithm.clone() };
            plan.limiter().map_err(|error| {
                Failure::Input(format!("cannot limit to {quota} with {algorithm}: {error}"))
            })?;
            plans.push(plan);
        }
    }
    Ok(plans)
}

/// All files as one log.
fn read(args: &ReplayArgs) -> Result<History, Failure> {
    let failed = |path: &std::path::Path, error: io::Error| {
        Failure::Input(format!("cannot read {}: {error}", path.display()))
    };
    if args.files.iter().filter(|path| path.as_os_str() == input::STDIN).count() > 1 {
        return Err(Failure::Input("standard input (-) can be read only once".into()));
    }
    let mut total_bytes = 0_u64;
    for path in &args.files {
        total_bytes = total_bytes.saturating_add(input::size(path).map_err(|error| failed(path, error))?);
    }
    let progress = progress_bar(total_bytes);
    let mut history = History::new(args.key.clone(), args.cost);
    for path in &args.files {
        let name = if path.as_os_str() == input::STDIN {
            "standard input".into()
        } else {
            path.display().to_string()
        };
        let reader = input::open(path, &progress).map_err(|error| failed(path, error))?;
        history.read(&name, reader, args.format.forced()).map_err(|error| failed(path, error))?;
    }
    progress.finish_and_clear();
    if history.requests() == 0 {
        let mut message = String::from("no line of the log could be read as a request\n");
        for complaint in history.complaints() {
            message.push_str(&format!("  {complaint}\n"));
        }
        message.push_str(report::text::EXPECTED);
        return Err(Failure::Input(message));
    }
    Ok(history)
}

fn progress_bar(total_bytes: u64) -> ProgressBar {
    if total_bytes < PROGRESS_MIN_BYTES || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {eta}")
        .expect("a template of known words");
    ProgressBar::new(total_bytes).with_style(style)
}
