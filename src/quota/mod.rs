//! How much is allowed, and over what time.

mod text;

pub use text::{ParseQuotaError, ParseQuotaErrorKind};

use core::time::Duration;

use crate::error::BuildError;
use crate::time::duration_ns;

/// The longest period a quota may have: ten years of 365.25 days.
pub const MAX_PERIOD: Duration = Duration::from_secs(315_576_000);

/// `limit` units per `period`, with an optional `burst`; or everything; or nothing.
///
/// A quota is a plain value. What is wrong with it is said when it is [validated](Quota::validate), which
/// building a limiter does.
///
/// ```
/// use std::time::Duration;
/// use tollgate::Quota;
/// let quota: Quota = "10/s burst 20".parse()?;
/// assert_eq!(quota, Quota::per_second(10).burst(20));
/// assert_eq!(Quota::new(5, Duration::from_secs(10)).to_string(), "5/10s");
/// # Ok::<(), tollgate::ParseQuotaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Unlimited,
    Blocked,
    Rate(Rate),
}

/// The numbers of a quota that limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    limit: u64,
    period: Duration,
    burst: Option<u64>,
}

impl Quota {
    /// `limit` units per `period`.
    pub const fn new(limit: u64, period: Duration) -> Self {
        Self { kind: Kind::Rate(Rate { limit, period, burst: None }) }
    }

    /// `limit` units per second.
    pub const fn per_second(limit: u64) -> Self {
        Self::new(limit, Duration::from_secs(1))
    }

    /// `limit` units per minute.
    pub const fn per_minute(limit: u64) -> Self {
        Self::new(limit, Duration::from_secs(60))
    }

    /// `limit` units per hour.
    pub const fn per_hour(limit: u64) -> Self {
        Self::new(limit, Duration::from_secs(3_600))
    }

    /// `limit` units per day of 24 hours.
    pub const fn per_day(limit: u64) -> Self {
        Self::new(limit, Duration::from_secs(86_400))
    }

    /// Everything is allowed and nothing is counted: a decision's limit and remaining are `u64::MAX`.
    pub const fn unlimited() -> Self {
        Self { kind: Kind::Unlimited }
    }

    /// Nothing is allowed, ever.
    pub const fn blocked() -> Self {
        Self { kind: Kind::Blocked }
    }

    /// At most `units` at once, instead of `limit`. No effect on `unlimited` and `blocked`.
    #[must_use]
    pub const fn burst(self, units: u64) -> Self {
        match self.kind {
            Kind::Rate(rate) => Self { kind: Kind::Rate(Rate { burst: Some(units), ..rate }) },
            Kind::Unlimited | Kind::Blocked => self,
        }
    }

    /// The numbers of a quota that limits; `None` for `unlimited` and `blocked`.
    pub const fn rate(&self) -> Option<Rate> {
        match self.kind {
            Kind::Rate(rate) => Some(rate),
            Kind::Unlimited | Kind::Blocked => None,
        }
    }

    /// Whether this is [`Quota::unlimited`].
    pub const fn is_unlimited(&self) -> bool {
        matches!(self.kind, Kind::Unlimited)
    }

    /// Whether this is [`Quota::blocked`].
    pub const fn is_blocked(&self) -> bool {
        matches!(self.kind, Kind::Blocked)
    }

    /// Refuses what no algorithm can keep: a limit, period or burst of zero, a period above
    /// [`MAX_PERIOD`], or more than one unit per nanosecond.
    ///
    /// # Errors
    /// The [`BuildError`] names the value and says what to write instead.
    pub fn validate(&self) -> Result<(), BuildError> {
        let Kind::Rate(rate) = self.kind else { return Ok(()) };
        if rate.limit == 0 {
            return Err(BuildError::LimitZero);
        }
        if rate.period.is_zero() {
            return Err(BuildError::PeriodZero);
        }
        if rate.period > MAX_PERIOD {
            return Err(BuildError::PeriodTooLong { period: rate.period });
        }
        if rate.burst == Some(0) {
            return Err(BuildError::BurstZero { limit: rate.limit });
        }
        if rate.limit > rate.period_ns() {
            return Err(BuildError::RateTooHigh { limit: rate.limit, max: rate.period_ns() });
        }
        Ok(())
    }
}

impl Rate {
    /// Units per [`period`](Self::period).
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The time in which `limit` units come back.
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// The period in nanoseconds; saturates, far above [`MAX_PERIOD`].
    pub const fn period_ns(&self) -> u64 {
        duration_ns(self.period)
    }

    /// The burst that was asked for, if any.
    pub const fn burst(&self) -> Option<u64> {
        self.burst
    }

    /// The most units that can be taken at once by an algorithm that knows bursts: the burst, or the limit.
    pub const fn capacity(&self) -> u64 {
        match self.burst {
            Some(units) => units,
            None => self.limit,
        }
    }
}
