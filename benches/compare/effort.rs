//! How much is measured.

use std::time::Duration;

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

    /// Measures all of `contenders` once in every round, in an order that rotates, so that none is always the one after
    /// the same neighbour or in the machine's worst moment. What one is asked for may be several figures.
    ///
    /// The result is by figure, then by contender.
    pub(crate) fn interleave<const FIGURES: usize>(
        &self,
        names: &[String],
        mut measure: impl FnMut(usize, usize) -> [f64; FIGURES],
    ) -> Vec<Vec<Samples>> {
        let none =
            || names.iter().map(|name| Samples { contender: name.clone(), values: Vec::new() }).collect();
        let mut figures: Vec<Vec<Samples>> = (0..FIGURES).map(|_| none()).collect();
        for round in 0..self.rounds {
            for turn in 0..names.len() {
                let contender = (turn + round) % names.len();
                for (figure, value) in figures.iter_mut().zip(measure(contender, round)) {
                    figure[contender].values.push(value);
                }
            }
        }
        figures
    }
}

/// What was measured of one contender, one value for each round.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    pub(crate) contender: String,
    pub(crate) values: Vec<f64>,
}
