//! A figure with what was measured.

use std::fmt;

use serde::Serialize;

use crate::effort::Samples;
use crate::rows::{Figure, Reach, Row};

/// One figure of a row.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) row: &'static str,
    pub(crate) what: &'static str,
    pub(crate) figure: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) note: &'static str,
    pub(crate) subject: &'static str,
    /// What the subject is divided by; nobody when its own value counts.
    pub(crate) baseline: Option<&'static str>,
    /// The ratio of medians, or the subject's median.
    pub(crate) result: f64,
    /// The same of single rounds.
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) to_reach: f64,
    pub(crate) verdict: Verdict,
    pub(crate) contenders: Vec<Measured>,
}

/// One contender.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The median of the shares of the processors that it was given.
    pub(crate) share: Option<f64>,
    samples: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Reached,
    Missed,
    /// Some rounds say this and some that, or others took the processors away.
    Unsettled,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reached => "reached",
            Self::Missed => "missed",
            Self::Unsettled => "unsettled",
        })
    }
}

impl Outcome {
    pub(crate) fn new(row: &Row, figure: &Figure, samples: &[Samples]) -> Self {
        let of = |name: &str| {
            let found = samples.iter().find(|samples| samples.contender == name);
            found.unwrap_or_else(|| panic!("{}: no contender named {name:?}", row.name))
        };
        let subject = of(figure.subject);
        let mut is_disturbed = subject.is_disturbed();
        let (baseline, to_reach, result, by_round) = match figure.reach {
            Reach::AtMost(most) => (None, most, subject.median(), subject.values.clone()),
            Reach::Ratio(most, name) => {
                let other = of(name);
                is_disturbed |= other.is_disturbed();
                let by_round =
                    subject.values.iter().zip(&other.values).map(|(subject, other)| subject / other);
                (Some(name), most, subject.median() / other.median(), by_round.collect())
            }
        };
        let (min, max) = extremes(&by_round);
        let verdict = if is_disturbed || (min <= to_reach && to_reach < max) {
            Verdict::Unsettled
        } else if result <= to_reach {
            Verdict::Reached
        } else {
            Verdict::Missed
        };
        Self {
            row: row.name,
            what: row.what,
            figure: figure.name,
            unit: figure.unit,
            note: figure.note,
            subject: figure.subject,
            baseline,
            result,
            min,
            max,
            to_reach,
            verdict,
            contenders: samples.iter().map(Measured::new).collect(),
        }
    }

    /// Row and figure, and what is to be known about them.
    pub(crate) fn title(&self) -> String {
        let note = if self.note.is_empty() { String::new() } else { format!(" ({})", self.note) };
        format!("{}: {}{note}", self.row, self.figure)
    }

    /// The median of a contender of that name.
    pub(super) fn median_of(&self, name: &str) -> Option<f64> {
        self.contenders.iter().find(|contender| contender.name == name).map(|contender| contender.median)
    }
}

impl Measured {
    fn new(samples: &Samples) -> Self {
        let (min, max) = extremes(&samples.values);
        Self {
            name: samples.contender.clone(),
            median: samples.median(),
            min,
            max,
            share: samples.share(),
            samples: samples.values.clone(),
        }
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &value| (min.min(value), max.max(value)))
}
