//! What rules have answered, counted.

#[cfg(feature = "metrics")]
use std::sync::Arc;

use crate::cell::Stripes;

/// How often a rule has answered what, since it was built. See [`RuleRef::counts`](crate::RuleRef::counts).
///
/// Only rules that apply to a request count it, and a peek is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests that were admitted, and that the rule was charged with.
    pub allowed: u64,
    /// Requests that the rule refused. Where all rules are asked, each of those that refuse counts the request.
    pub denied: u64,
    /// Requests that were admitted, and that the rule would have refused if it were not a
    /// [shadow](crate::Rule::shadow).
    pub shadow_denied: u64,
}

/// What is counted of each rule.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Allowed,
    Denied,
    ShadowDenied,
}

const EVENTS: usize = 3;

/// The counts of all rules.
#[derive(Debug)]
pub(super) struct Counters {
    counts: Stripes,
    /// Which counts these are: others that take their place begin at zero.
    #[cfg(feature = "metrics")]
    pub(super) identity: Arc<()>,
}

impl Counters {
    pub(super) fn new(rules: usize) -> Self {
        Self {
            counts: Stripes::new(rules * EVENTS),
            #[cfg(feature = "metrics")]
            identity: Arc::default(),
        }
    }

    pub(super) fn add(&self, rule: usize, event: Event) {
        self.counts.add(rule * EVENTS + event as usize);
    }

    pub(super) fn of(&self, rule: usize) -> Counts {
        let get = |event| self.counts.get(rule * EVENTS + event as usize);
        Counts {
            allowed: get(Event::Allowed),
            denied: get(Event::Denied),
            shadow_denied: get(Event::ShadowDenied),
        }
    }
}
