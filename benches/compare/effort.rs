//! How much is measured.

use std::time::Duration;

use crate::processor::UNDISTURBED;

/// How often, and how large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// Everything tiny: shows that it runs, and measures nothing.
    pub(crate) quick: bool,
}

impl Effort {
    pub(crate) fn size(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// How long one sample takes at least.
    pub(crate) fn sample(&self) -> Duration {
        if self.quick { Duration::from_micros(200) } else { Duration::from_millis(100) }
    }

    /// Measures each of `names` once in every round, in an order that rotates, so that none always has the
    /// machine's worst moment. What is measured may be several figures.
    ///
    /// The result is by figure, then by contender.
    pub(crate) fn interleave<const FIGURES: usize>(
        &self,
        names: &[String],
        mut measure: impl FnMut(usize, usize) -> Sample<FIGURES>,
    ) -> Vec<Vec<Samples>> {
        let none = || names.iter().map(|name| Samples::none(name)).collect();
        let mut figures: Vec<Vec<Samples>> = (0..FIGURES).map(|_| none()).collect();
        for round in 0..self.rounds {
            for turn in 0..names.len() {
                let contender = (turn + round) % names.len();
                let sample = measure(contender, round);
                for (figure, value) in figures.iter_mut().zip(sample.values) {
                    figure[contender].values.push(value);
                    figure[contender].shares.extend(sample.share);
                }
            }
        }
        figures
    }

    /// Measures again, up to three times, while others take the processors away; the least disturbed sample
    /// counts.
    pub(crate) fn undisturbed<const FIGURES: usize>(
        &self,
        measure: impl Fn() -> Sample<FIGURES>,
    ) -> Sample<FIGURES> {
        let mut best = measure();
        let tries = if self.quick { 0 } else { 3 };
        for _ in 0..tries {
            if best.share.is_none_or(|share| share >= UNDISTURBED) {
                break;
            }
            let next = measure();
            if next.share > best.share {
                best = next;
            }
        }
        best
    }
}

/// What was measured of one contender in one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<const FIGURES: usize> {
    pub(crate) values: [f64; FIGURES],
    /// Of the processors that could have been used, if it matters.
    pub(crate) share: Option<f64>,
}

/// What was measured of one contender, one value for each round.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    pub(crate) contender: String,
    pub(crate) values: Vec<f64>,
    /// Of the processors, where it matters.
    pub(crate) shares: Vec<f64>,
}

impl Samples {
    fn none(name: &str) -> Self {
        Self { contender: name.to_owned(), values: Vec::new(), shares: Vec::new() }
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.values).unwrap_or(f64::NAN)
    }

    /// The median of the shares.
    pub(crate) fn share(&self) -> Option<f64> {
        median(&self.shares)
    }

    pub(crate) fn is_disturbed(&self) -> bool {
        self.share().is_some_and(|share| share < UNDISTURBED)
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let above = *sorted.get(sorted.len() / 2)?;
    Some(f64::midpoint(sorted[(sorted.len() - 1) / 2], above))
}
