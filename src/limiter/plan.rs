//! A quota made ready for one limiter.

use crate::algorithm::{Meter, Settings, build_meter};
use crate::error::BuildError;
use crate::quota::{Quota, Rate};

/// A quota checked and prepared for one limiter, for [`check_with`](crate::Limiter::check_with).
///
/// Plans of one limiter share the words of its keys, so a key may move from one to another.
///
/// ```
/// use tollgate::{Limiter, Quota};
/// let limiter = Limiter::<str>::new(Quota::per_minute(60))?;
/// let paid = limiter.plan(Quota::per_minute(600))?;
/// assert_eq!(limiter.check_with("alice", &paid).remaining(), 599);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    quota: Quota,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Unlimited,
    Blocked,
    Metered(Meter),
}

impl Plan {
    /// The plan of a limiter's own quota.
    pub(crate) fn new(quota: Quota, algorithm: &str, settings: &Settings) -> Result<Self, BuildError> {
        Self::with(quota, |rate| build_meter(algorithm, rate, settings))
    }

    /// Another quota on the words of this plan.
    pub(crate) fn derive(&self, quota: Quota) -> Result<Self, BuildError> {
        Self::with(quota, |rate| match &self.kind {
            Kind::Metered(meter) => meter.at_rate(rate),
            Kind::Unlimited | Kind::Blocked => Err(BuildError::PlanWithoutRate { limiter: self.quota }),
        })
    }

    fn with(quota: Quota, meter: impl FnOnce(Rate) -> Result<Meter, BuildError>) -> Result<Self, BuildError> {
        quota.validate()?;
        let kind = match quota.rate() {
            Some(rate) => Kind::Metered(meter(rate)?),
            None if quota.is_blocked() => Kind::Blocked,
            None => Kind::Unlimited,
        };
        Ok(Self { quota, kind })
    }

    /// The quota it was made from.
    pub const fn quota(&self) -> Quota {
        self.quota
    }
}
