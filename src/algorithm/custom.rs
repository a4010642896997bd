//! An algorithm of the user's own, held to what the stores rely on.

use std::sync::Arc;

use crate::algorithm::{Algorithm, MAX_WORD, Reserved, Step};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::Now;

/// A registered algorithm. Whatever it answers, words stay within their bits and a charge never lowers one.
#[derive(Clone, Debug)]
pub(crate) struct Custom(Arc<dyn Algorithm>);

impl Custom {
    /// Refuses an algorithm whose words a store would misread, as far as its first and last fresh word show it.
    pub(super) fn new(algorithm: Arc<dyn Algorithm>) -> Result<Self, BuildError> {
        let (first, last) = (algorithm.fresh(Now::at(0)), algorithm.fresh(Now::at(u64::MAX)));
        let least = algorithm.lead().saturating_add(2);
        if first >= least && last >= first && last <= MAX_WORD {
            return Ok(Self(algorithm));
        }
        Err(BuildError::Other(format!(
            "{algorithm:?} has fresh words from {first} to {last}: make them grow with time, from {least} to at most {MAX_WORD}"
        )))
    }

    /// The same arithmetic at another rate.
    pub(super) fn at_rate(&self, rate: Rate) -> Result<Self, BuildError> {
        Self::new(self.0.with_rate(rate)?)
    }
}

/// The word that a charge may put in the place of `word`.
fn charged(word: u64, next: u64) -> u64 {
    next.min(MAX_WORD).max(word)
}

impl Algorithm for Custom {
    fn fresh(&self, now: Now) -> u64 {
        self.0.fresh(now).min(MAX_WORD)
    }

    fn lead(&self) -> u64 {
        self.0.lead()
    }

    fn opening_ns(&self, word: u64) -> u64 {
        self.0.opening_ns(word)
    }

    fn span_ns(&self) -> u64 {
        self.0.span_ns()
    }

    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        let step = self.0.decide(word, now, cost);
        Step { word: charged(word, step.word), ..step }
    }

    fn reserve(&self, word: u64, now: Now, cost: u64) -> Result<Reserved, Decision> {
        let reserved = self.0.reserve(word, now, cost)?;
        Ok(Reserved { word: charged(word, reserved.word), ..reserved })
    }

    fn is_queue(&self) -> bool {
        self.0.is_queue()
    }

    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        self.0.refund(word, now, units, stamp).min(MAX_WORD)
    }

    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved {
        let reserved = self.0.charge(word, now, units);
        Reserved { word: charged(word, reserved.word), ..reserved }
    }

    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        Ok(Arc::new(self.at_rate(rate)?))
    }
}
