//! `tollgate replay`: read logs, decide every request, report.

mod history;
mod peak;
mod reading;
mod run;
mod timeline;

use std::io;

use tollgate::{BuildError, DirectLimiter, ManualClock, Quota};

use crate::args::{Output, ReplayArgs};
use crate::failure::Failure;
use crate::report;
use crate::rules;

pub(crate) use history::{Event, History};
pub(crate) use peak::Peak;
pub(crate) use reading::Reading;
pub(crate) use run::{Outcome, PlanOutcome, Tally};
pub(crate) use timeline::Timeline;

/// More threads than any machine has cores only take time to start.
const THREADS_MAX: usize = 256;

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
    if let Some(file) = &args.rules {
        return rules::replay(file, args);
    }
    let plans = plans(args)?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, |threads| usize::from(threads).min(THREADS_MAX)))
        .build()
        .map_err(|error| Failure::Input(format!("cannot start threads: {error}")))?;
    let history = History::of(args.key.clone(), args.cost, &args.log)?;
    let outcome = threads.install(|| run::run(history, &plans, args.as_written));
    match args.output {
        Output::Json => report::json::write(&outcome, io::stdout().lock())?,
        Output::Text => {
            // Who has closed standard error still wants the report.
            let _ = report::text::write_complaints(outcome.history.reading(), io::stderr().lock());
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
