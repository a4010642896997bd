//! What a limiter across machines counts.

use crate::redis::answer::{Answer, Source};
use crate::sync::{AtomicU64, Ordering};

/// How many decisions a limiter has made, by who made them.
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

#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Refused and allowed by each source.
    answers: [[AtomicU64; 2]; 5],
    forgotten: AtomicU64,
}

impl Counters {
    pub(super) fn note(&self, answer: &Answer) {
        // Relaxed: a number to look at.
        self.answers[answer.source() as usize][usize::from(answer.is_allowed())]
            .fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn forget(&self, units: u64) {
        // Relaxed: as above.
        self.forgotten.fetch_add(units, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Counts {
        // Relaxed: as above.
        let answers =
            self.answers.each_ref().map(|pair| pair.each_ref().map(|count| count.load(Ordering::Relaxed)));
        let of = |source: Source| answers[source as usize].iter().sum();
        Counts {
            allowed: answers.iter().map(|[_, allowed]| allowed).sum(),
            denied: answers.iter().map(|[denied, _]| denied).sum(),
            store: of(Source::Store),
            lease: of(Source::Lease),
            local: of(Source::Local),
            open: of(Source::Open),
            closed: of(Source::Closed),
            forgotten: self.forgotten.load(Ordering::Relaxed),
        }
    }
}
