//! The arithmetic that the models decide by.

use std::sync::Arc;

use tollgate::Now;
use tollgate::algorithm::Algorithm;
use tollgate::model::permits;

/// Pure functions of a word and a time.
#[derive(Clone, Debug)]
pub enum Rule {
    /// `burst` units at once and one unit of time each, in small numbers: the word is the time at which the key is fresh.
    Tat {
        /// Units at once.
        burst: u64,
    },
    /// Permits, which are put back by whoever has one.
    Permits {
        /// Of one key.
        max: u64,
    },
    /// The crate's own.
    Real(Arc<dyn Algorithm>),
}

impl Rule {
    /// The word of a key never seen.
    pub fn fresh(&self, now: u64) -> u64 {
        match self {
            Self::Tat { .. } => now,
            Self::Permits { .. } => permits::fresh(now),
            Self::Real(algorithm) => algorithm.fresh(Now::at(now)),
        }
    }

    /// How far below it an idle word is.
    pub fn lead(&self) -> u64 {
        match self {
            Self::Tat { .. } | Self::Permits { .. } => 0,
            Self::Real(algorithm) => algorithm.lead(),
        }
    }

    /// The word after `cost` units are taken, if they may be. A newcomer that starts at `floor` is not early for it.
    pub fn take(&self, word: u64, floor: u64, now: u64, cost: u64) -> Option<u64> {
        match self {
            Self::Tat { burst } => {
                let now = now.max(floor);
                let next = word.max(now) + cost;
                (next <= now + burst).then_some(next)
            }
            Self::Permits { max } => permits::take(word, permits::fresh(now), *max),
            Self::Real(algorithm) => {
                let at = Now::at(now);
                let at = if floor > algorithm.fresh(at) {
                    at.no_earlier_than(algorithm.opening_ns(floor))
                } else {
                    at
                };
                let step = algorithm.decide(word, at, cost);
                step.decision.is_allowed().then_some(step.word)
            }
        }
    }

    /// The word after `units` are given back.
    pub fn give_back(&self, word: u64, now: u64, units: u64) -> u64 {
        match self {
            Self::Tat { .. } => word.saturating_sub(units),
            Self::Permits { .. } => permits::put_back(word),
            Self::Real(algorithm) => algorithm.refund(word, Now::at(now), units, word),
        }
    }
}
