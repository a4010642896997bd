//! A quota made ready for one limiter.

use std::sync::Arc;

use crate::algorithm::{Meter, Settings, build_meter};
use crate::error::BuildError;
use crate::quota::{Quota, Rate};

/// A quota checked and prepared for one limiter, for [`check_with`](crate::Limiter::check_with).
///
/// Plans of one limiter share the words of its keys, so a key may move from one to another: what it has taken takes as long
/// to come back as it did before. A limiter that is given another limiter's plan decides by its own quota instead.
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
    /// Which limiter it is for: all its plans share this.
    limiter: Arc<()>,
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
        Self::with(quota, Arc::new(()), |rate| build_meter(algorithm, rate, settings))
    }

    /// Another quota on the words of this plan.
    pub(crate) fn derive(&self, quota: Quota) -> Result<Self, BuildError> {
        Self::with(quota, self.limiter.clone(), |rate| match &self.kind {
            Kind::Metered(meter) => meter.at_rate(rate),
            Kind::Unlimited | Kind::Blocked => Err(BuildError::PlanWithoutRate { limiter: self.quota }),
        })
    }

    fn with(
        quota: Quota,
        limiter: Arc<()>,
        meter: impl FnOnce(Rate) -> Result<Meter, BuildError>,
    ) -> Result<Self, BuildError> {
        quota.validate()?;
        let kind = match quota.rate() {
            Some(rate) => Kind::Metered(meter(rate)?),
            None if quota.is_blocked() => Kind::Blocked,
            None => Kind::Unlimited,
        };
        Ok(Self { quota, kind, limiter })
    }

    /// Whether the two are plans of one limiter.
    #[inline]
    pub(crate) fn is_sibling(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.limiter, &other.limiter)
    }

    /// The quota it was made from.
    pub const fn quota(&self) -> Quota {
        self.quota
    }
}
