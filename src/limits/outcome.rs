//! What several rules answer together.

use core::time::Duration;

use crate::decision::Decision;

/// The answer to one check of several rules: that of the rule that matters most to whoever asked.
///
/// When refused, that is the rule whose wait is the longest: after it, no other will refuse that did. When allowed, it is
/// the rule with the least left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an outcome that nobody looks at limits nothing"]
pub struct Outcome<'a> {
    rule: Option<&'a str>,
    decision: Decision,
}

impl<'a> Outcome<'a> {
    pub(super) const fn new(rule: Option<&'a str>, decision: Decision) -> Self {
        Self { rule, decision }
    }

    /// Every rule that applies had room, and was charged: go ahead.
    pub const fn is_allowed(&self) -> bool {
        self.decision.is_allowed()
    }

    /// Some rule refused, and none was charged. The opposite of [`is_allowed`](Self::is_allowed).
    pub const fn is_denied(&self) -> bool {
        self.decision.is_denied()
    }

    /// For the `?` operator: the outcome, as an error if some rule refused.
    ///
    /// # Errors
    /// The outcome itself, when some rule refused.
    pub const fn into_result(self) -> Result<Self, Self> {
        if self.is_allowed() { Ok(self) } else { Err(self) }
    }

    /// The rule that refused with the longest wait, or that allows with the least left; `None` where no rule applies.
    pub const fn rule(&self) -> Option<&'a str> {
        self.rule
    }

    /// What that rule answered; that of [`Quota::unlimited`](crate::Quota::unlimited) where no rule applies.
    pub const fn decision(&self) -> Decision {
        self.decision
    }

    /// The least that is left of any rule.
    pub const fn remaining(&self) -> u64 {
        self.decision.remaining()
    }

    /// How long to wait, if some rule refused: the longest wait of those that did. Zero when allowed, and when the cost never
    /// fits.
    pub const fn retry_after(&self) -> Duration {
        self.decision.retry_after()
    }
}

/// The answers of rules as they come, by the rule's index.
#[derive(Debug, Default)]
pub(super) struct Tally {
    refused: Option<(usize, Decision)>,
    /// With what remains, which is a division.
    allowed: Option<(usize, Decision, u64)>,
}

impl Tally {
    /// Of equals the first rule's stays.
    pub(super) fn add(&mut self, rule: usize, decision: Decision) {
        if decision.is_allowed() {
            let left = decision.remaining();
            if self.allowed.is_none_or(|(former, _, least)| (left, rule) < (least, former)) {
                self.allowed = Some((rule, decision, left));
            }
        } else if self.refused.is_none_or(|(_, former)| wait(&decision) > wait(&former)) {
            self.refused = Some((rule, decision));
        }
    }

    pub(super) const fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// The answer that counts, if any rule applies.
    pub(super) fn verdict(&self) -> Option<(usize, Decision)> {
        self.refused.or(self.allowed.map(|(rule, decision, _)| (rule, decision)))
    }
}

/// A cost that never fits waits for ever.
fn wait(refusal: &Decision) -> (bool, Duration) {
    (!refusal.fits_later(), refusal.retry_after())
}
