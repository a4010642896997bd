//! One algorithm chosen at run time, without a virtual call for those that are built in.

use std::sync::Arc;

use crate::algorithm::arrival::Arrival;
use crate::algorithm::carried::Carried;
use crate::algorithm::custom::Custom;
use crate::algorithm::fixed_window::FixedWindow;
use crate::algorithm::sliding_window_counter::SlidingWindowCounter;
use crate::algorithm::{Algorithm, Reserved, Step};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::Now;

/// A built-in algorithm by value, or a registered one behind a pointer.
#[derive(Clone, Debug)]
pub(crate) enum Meter {
    Arrival(Arrival),
    /// Arrival times after the quota was changed.
    Carried(Box<Carried>),
    FixedWindow(FixedWindow),
    SlidingWindowCounter(SlidingWindowCounter),
    Custom(Custom),
}

/// Evaluates `$call` with `$algorithm` bound to the algorithm inside, once per type: what is called with it is compiled
/// for each.
macro_rules! each {
    ($meter:expr, $algorithm:ident => $call:expr) => {
        match $meter {
            $crate::algorithm::Meter::Arrival($algorithm) => $call,
            $crate::algorithm::Meter::Carried($algorithm) => {
                let $algorithm = &**$algorithm;
                $call
            }
            $crate::algorithm::Meter::FixedWindow($algorithm) => $call,
            $crate::algorithm::Meter::SlidingWindowCounter($algorithm) => $call,
            $crate::algorithm::Meter::Custom($algorithm) => $call,
        }
    };
}

pub(crate) use each;

impl Meter {
    /// The same arithmetic at another rate, over the same words.
    pub(crate) fn at_rate(&self, rate: Rate) -> Result<Self, BuildError> {
        Ok(match self {
            Self::Arrival(arrival) => Self::Arrival(arrival.at_rate(rate)?),
            Self::Carried(carried) => Self::Carried(Box::new(carried.at_rate(rate)?)),
            Self::FixedWindow(window) => Self::FixedWindow(window.at_rate(rate)?),
            Self::SlidingWindowCounter(counter) => Self::SlidingWindowCounter(counter.at_rate(rate)?),
            Self::Custom(custom) => Self::Custom(custom.at_rate(rate)?),
        })
    }

    /// The arithmetic of another rate from a time on, over words that were put by this one: those that are arrival times keep the
    /// fraction of the burst that they say.
    pub(crate) fn carried(&self, rate: Rate, now_ns: u64) -> Result<Self, BuildError> {
        match self {
            Self::Arrival(arrival) => Carried::from(*arrival, rate, now_ns).map(Box::new).map(Self::Carried),
            Self::Carried(carried) => carried.next(rate, now_ns).map(Box::new).map(Self::Carried),
            _ => self.at_rate(rate),
        }
    }

    /// The same as a trait object.
    pub(crate) fn into_dyn(self) -> Arc<dyn Algorithm> {
        match self {
            Self::Arrival(arrival) => Arc::new(arrival),
            Self::Carried(carried) => Arc::new(*carried),
            Self::FixedWindow(window) => Arc::new(window),
            Self::SlidingWindowCounter(counter) => Arc::new(counter),
            Self::Custom(custom) => Arc::new(custom),
        }
    }
}

impl Algorithm for Meter {
    #[inline]
    fn fresh(&self, now: Now) -> u64 {
        each!(self, a => a.fresh(now))
    }

    #[inline]
    fn lead(&self) -> u64 {
        each!(self, a => a.lead())
    }

    fn opening_ns(&self, word: u64) -> u64 {
        each!(self, a => a.opening_ns(word))
    }

    fn span_ns(&self) -> u64 {
        each!(self, a => a.span_ns())
    }

    #[inline]
    fn decide(&self, word: u64, now: Now, cost: u64) -> Step {
        each!(self, a => a.decide(word, now, cost))
    }

    fn reserve(&self, word: u64, now: Now, cost: u64) -> Result<Reserved, Decision> {
        each!(self, a => a.reserve(word, now, cost))
    }

    fn is_queue(&self) -> bool {
        each!(self, a => a.is_queue())
    }

    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64 {
        each!(self, a => a.refund(word, now, units, stamp))
    }

    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved {
        each!(self, a => a.charge(word, now, units))
    }

    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError> {
        self.at_rate(rate).map(Self::into_dyn)
    }
}
