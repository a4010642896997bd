//! What a limiter across machines counts.

use crate::cell::Stripes;
use crate::redis::answer::Source;
use crate::sync::{AtomicU64, Ordering};

/// How many decisions a limiter has made, by who made them. What [`charge_all`](super::charge_all) refuses is counted by the limiters that refuse
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Allowed, by anybody.
    pub allowed: u64,
    /// Refused, by anybody.
    pub denied: u64,
    /// By [`Source::Store`].
    pub store: u64,
    /// By [`Source::Lease`].
    pub lease: u64,
    /// By [`Source::Local`].
    pub local: u64,
    /// By [`Source::Open`].
    pub open: u64,
    /// By [`Source::Closed`].
    pub closed: u64,
    /// Units admitted by [`Source::Local`] which will not be charged in Redis, as too many keys were owed for.
    pub forgotten: u64,
}

/// Of [`Source`].
const SOURCES: usize = Source::Closed as usize + 1;

#[derive(Debug)]
pub(super) struct Counters {
    /// Refused and allowed by each source, one after another.
    answers: Stripes,
    forgotten: AtomicU64,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self { answers: Stripes::new(2 * SOURCES), forgotten: AtomicU64::new(0) }
    }

    pub(super) fn note(&self, source: Source, is_allowed: bool) {
        self.answers.add(2 * source as usize + usize::from(is_allowed));
    }

    pub(super) fn forget(&self, units: u64) {
        // Relaxed: a number to look at.
        self.forgotten.fetch_add(units, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Counts {
        let mut answers = [[0; 2]; SOURCES];
        for (sum, count) in answers.as_flattened_mut().iter_mut().enumerate() {
            *count = self.answers.get(sum);
        }
        let of = |source: Source| answers[source as usize].iter().sum();
        Counts {
            allowed: answers.iter().map(|[_, allowed]| allowed).sum(),
            denied: answers.iter().map(|[denied, _]| denied).sum(),
            store: of(Source::Store),
            lease: of(Source::Lease),
            local: of(Source::Local),
            open: of(Source::Open),
            closed: of(Source::Closed),
            // Relaxed: as in `forget`.
            forgotten: self.forgotten.load(Ordering::Relaxed),
        }
    }
}
