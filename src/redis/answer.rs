//! What a limiter across machines answers.

use crate::decision::Decision;
use crate::redis::failure::Failure;

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Redis.
    Store,
    /// This process, of units that it has taken from Redis, or because Redis has refused until later.
    Lease,
    /// This process, by its share of the quota, as Redis did not answer: [`Outage::Local`](super::Outage::Local).
    Local,
    /// Nobody, as Redis did not answer: [`Outage::Open`](super::Outage::Open) allows.
    Open,
    /// Nobody, as Redis did not answer: [`Outage::Closed`](super::Outage::Closed) refuses.
    Closed,
}

/// A decision, who made it, and why it was not Redis.
///
/// Being limited and being without an answer are different: to the first belongs 429, with [`Decision::retry_after`] if it
/// [`fits_later`](Decision::fits_later), to the second, for [`Source::Closed`], 503.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an answer that nobody looks at limits nothing"]
pub struct Answer {
    decision: Option<Decision>,
    source: Source,
    failure: Option<Failure>,
}

impl Answer {
    pub(super) const fn decided(decision: Decision, source: Source) -> Self {
        Self { decision: Some(decision), source, failure: None }
    }

    pub(super) const fn undecided(source: Source, failure: Failure) -> Self {
        Self { decision: None, source, failure: Some(failure) }
    }

    pub(super) fn because(self, failure: Failure) -> Self {
        Self { failure: Some(failure), ..self }
    }

    /// Go ahead.
    pub fn is_allowed(&self) -> bool {
        self.decision.map_or(self.source == Source::Open, |decision| decision.is_allowed())
    }

    /// The opposite of [`is_allowed`](Self::is_allowed).
    pub fn is_denied(&self) -> bool {
        !self.is_allowed()
    }

    /// Nobody decided: there was no answer, and the policy is to refuse.
    pub fn is_unavailable(&self) -> bool {
        self.source == Source::Closed
    }

    /// The decision; `None` where nobody made one, which is [`Source::Open`] and [`Source::Closed`].
    pub const fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// Who answered.
    pub const fn source(&self) -> Source {
        self.source
    }

    /// Why Redis did not decide.
    pub const fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}
