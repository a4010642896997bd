//! What a limiter answers.

use core::fmt;
use core::num::NonZeroU64;
use core::time::Duration;

/// The three answers there are.
// As wide as the other fields of a decision: with padding inside, the compiler copies decisions byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Verdict {
    /// The units were taken.
    Allowed,
    /// Nothing was taken; the same cost fits later.
    Denied,
    /// Nothing was taken, and the cost is larger than the limit can ever hold: do not retry.
    NeverFits,
}

/// The answer to one check, with what a client needs to be told.
///
/// All times are relative to the `now` of the check.
///
/// ```
/// use tollgate::{DirectLimiter, Quota};
/// let limiter = DirectLimiter::new(Quota::per_minute(2))?;
/// assert_eq!(limiter.check_at(0).remaining(), 1);
/// assert!(limiter.check_at(0).is_allowed());
/// let denied = limiter.check_at(0);
/// assert!(denied.is_denied());
/// assert_eq!(denied.retry_after().as_secs(), 30);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
#[derive(Clone, Copy)]
#[must_use = "a decision that nobody looks at limits nothing"]
pub struct Decision {
    verdict: Verdict,
    limit: u64,
    /// What is left, in parts of which `parts_per_unit` are a unit: the division is left to those who ask.
    room: u64,
    parts_per_unit: NonZeroU64,
    /// Units taken when allowed, nanoseconds to wait when denied.
    taken_or_wait_ns: u64,
    reset_after_ns: u64,
}

impl Decision {
    /// The answer that takes `taken` units and leaves `remaining` of `limit`. For algorithms of your own.
    #[inline]
    pub const fn allowed(taken: u64, limit: u64, remaining: u64, reset_after_ns: u64) -> Self {
        Self::new(Verdict::Allowed, limit, remaining, taken, reset_after_ns)
    }

    /// The answer that takes nothing and says when to come back; a wait of zero is written as one nanosecond.
    #[inline]
    pub const fn denied(limit: u64, remaining: u64, retry_after_ns: u64, reset_after_ns: u64) -> Self {
        let wait_ns = if retry_after_ns == 0 { 1 } else { retry_after_ns };
        Self::new(Verdict::Denied, limit, remaining, wait_ns, reset_after_ns)
    }

    /// The answer to a cost above `limit`: no wait helps.
    #[inline]
    pub const fn never_fits(limit: u64, remaining: u64, reset_after_ns: u64) -> Self {
        Self::new(Verdict::NeverFits, limit, remaining, 0, reset_after_ns)
    }

    #[inline]
    const fn new(
        verdict: Verdict,
        limit: u64,
        room: u64,
        taken_or_wait_ns: u64,
        reset_after_ns: u64,
    ) -> Self {
        Self { verdict, limit, room, parts_per_unit: NonZeroU64::MIN, taken_or_wait_ns, reset_after_ns }
    }

    /// What is left was given in parts of a unit.
    #[inline]
    pub(crate) const fn in_parts(self, parts_per_unit: NonZeroU64) -> Self {
        Self { parts_per_unit, ..self }
    }

    /// The same, refused for so long.
    #[inline]
    pub(crate) const fn denied_for(self, wait_ns: u64) -> Self {
        Self { verdict: Verdict::Denied, taken_or_wait_ns: wait_ns, ..self }
    }

    /// Which of the three answers this is.
    #[inline]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The units were taken: go ahead.
    #[inline]
    pub const fn is_allowed(&self) -> bool {
        matches!(self.verdict, Verdict::Allowed)
    }

    /// Refused, for now or for ever: see [`fits_later`](Self::fits_later). The opposite of [`is_allowed`](Self::is_allowed).
    #[inline]
    pub const fn is_denied(&self) -> bool {
        !self.is_allowed()
    }

    /// Refused, and worth asking again after [`retry_after`](Self::retry_after). A refusal that is not never fits: the cost is
    /// above the [`limit`](Self::limit).
    #[inline]
    pub const fn fits_later(&self) -> bool {
        matches!(self.verdict, Verdict::Denied)
    }

    /// For the `?` operator: the decision, as an error if it is a refusal.
    ///
    /// # Errors
    /// The decision itself, when it is a refusal.
    #[inline]
    pub const fn into_result(self) -> Result<Self, Self> {
        if self.is_allowed() { Ok(self) } else { Err(self) }
    }

    /// Units that this call took: its cost when allowed, else 0. What to give back with `refund`.
    #[inline]
    pub const fn taken(&self) -> u64 {
        if self.is_allowed() { self.taken_or_wait_ns } else { 0 }
    }

    /// The largest cost that can ever be allowed at once: the burst, or the limit of a window.
    #[inline]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The largest cost that would be allowed right after this call, at the same time.
    #[inline]
    pub const fn remaining(&self) -> u64 {
        self.room / self.parts_per_unit.get()
    }

    /// Wait this long and the same cost is allowed, if nobody else asks meanwhile; a nanosecond less is too
    /// early. Zero when allowed, and when the cost never fits.
    #[inline]
    pub const fn retry_after(&self) -> Duration {
        Duration::from_nanos(self.retry_after_ns())
    }

    /// [`retry_after`](Self::retry_after) in whole seconds, rounded up: for a `Retry-After` header.
    #[inline]
    pub const fn retry_after_secs(&self) -> u64 {
        self.retry_after_ns().div_ceil(1_000_000_000)
    }

    #[inline]
    const fn retry_after_ns(&self) -> u64 {
        if self.is_allowed() { 0 } else { self.taken_or_wait_ns }
    }

    /// Wait this long and the key is as good as new, if nobody asks meanwhile.
    #[inline]
    pub const fn reset_after(&self) -> Duration {
        Duration::from_nanos(self.reset_after_ns)
    }

    /// [`reset_after`](Self::reset_after) in whole seconds, rounded up.
    #[inline]
    pub const fn reset_after_secs(&self) -> u64 {
        self.reset_after_ns.div_ceil(1_000_000_000)
    }
}

/// Two decisions are equal when they say the same, however it was computed.
impl PartialEq for Decision {
    fn eq(&self, other: &Self) -> bool {
        self.verdict == other.verdict
            && self.limit == other.limit
            && self.remaining() == other.remaining()
            && self.taken_or_wait_ns == other.taken_or_wait_ns
            && self.reset_after_ns == other.reset_after_ns
    }
}

impl Eq for Decision {}

impl fmt::Debug for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decision")
            .field("verdict", &self.verdict)
            .field("taken", &self.taken())
            .field("limit", &self.limit)
            .field("remaining", &self.remaining())
            .field("retry_after", &self.retry_after())
            .field("reset_after", &self.reset_after())
            .finish()
    }
}
