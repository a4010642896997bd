//! The report as one JSON object on one line.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::{exact_duration, timestamp};
use crate::replay::{Outcome, PlanOutcome};

#[derive(Serialize)]
struct Report {
    requests: u64,
    keys: usize,
    unparsed: u64,
    results: Vec<PlanReport>,
}

#[derive(Serialize)]
struct PlanReport {
    limit: String,
    algorithm: String,
    allowed: u64,
    denied: u64,
    denied_keys: u64,
    top: Vec<TopKey>,
    /// Null where the quota has no period.
    peak: Option<PeakReport>,
    timeline: TimelineReport,
}

#[derive(Serialize)]
struct TopKey {
    key: String,
    denied: u64,
}

#[derive(Serialize)]
struct PeakReport {
    per: String,
    p50: u64,
    p99: u64,
    max: u64,
}

#[derive(Serialize)]
struct TimelineReport {
    start: String,
    step: String,
    allowed: Vec<u64>,
    denied: Vec<u64>,
}

/// Writes the report.
pub(crate) fn write(outcome: &Outcome, out: impl Write) -> io::Result<()> {
    let history = &outcome.history;
    let report = Report {
        requests: history.reading().requests,
        keys: history.keys(),
        unparsed: history.reading().unparsed,
        results: outcome.results.iter().map(|result| plan_report(outcome, result)).collect(),
    };
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, &report)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn plan_report(outcome: &Outcome, result: &PlanOutcome) -> PlanReport {
    let tally = &result.tally;
    let top = tally
        .top
        .iter()
        .map(|&(key, denied)| TopKey { key: outcome.history.key(key).to_owned(), denied })
        .collect();
    let peak = result.peak.map(|peak| PeakReport {
        per: exact_duration(peak.period_ns),
        p50: peak.p50,
        p99: peak.p99,
        max: peak.max,
    });
    let timeline = &outcome.timeline;
    PlanReport {
        limit: result.plan.quota.to_string(),
        algorithm: result.plan.algorithm.clone(),
        allowed: tally.allowed,
        denied: tally.denied,
        denied_keys: tally.denied_keys,
        top,
        peak,
        timeline: TimelineReport {
            start: timestamp(timeline.start_ns()).to_string(),
            step: exact_duration(timeline.step_ns()),
            allowed: tally.allowed_columns.clone(),
            denied: tally.denied_columns.clone(),
        },
    }
}
