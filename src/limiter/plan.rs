//! A quota made ready for one limiter.

use core::time::Duration;
use std::sync::Arc;

use crate::algorithm::{Meter, SLIDING_WINDOW_LOG, Settings, build_meter, check_name};
use crate::error::BuildError;
use crate::log::{self, Span};
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
    /// Counted in a word.
    Metered(Meter),
    /// Counted in a log.
    Logged(Span),
}

impl Plan {
    /// The plan of a limiter's own quota.
    pub(crate) fn new(quota: Quota, algorithm: &str, settings: &Settings) -> Result<Self, BuildError> {
        if quota.rate().is_none() {
            check_name(algorithm)?;
        }
        Self::with(quota, Arc::new(()), |rate| match algorithm {
            SLIDING_WINDOW_LOG => span(rate).map(Kind::Logged),
            _ => build_meter(algorithm, rate, settings).map(Kind::Metered),
        })
    }

    /// Another quota on the words of this plan.
    pub(crate) fn derive(&self, quota: Quota) -> Result<Self, BuildError> {
        Self::with(quota, self.limiter.clone(), |rate| match &self.kind {
            Kind::Metered(meter) => meter.at_rate(rate).map(Kind::Metered),
            Kind::Logged(own) => span(rate).and_then(|span| same_window(*own, span)).map(Kind::Logged),
            Kind::Unlimited | Kind::Blocked => Err(BuildError::PlanWithoutRate { limiter: self.quota }),
        })
    }

    /// Another quota from a time on: its keys keep the fraction of their burst that they have used. Windows and logs keep
    /// what they have counted.
    pub(crate) fn carried(&self, quota: Quota, now_ns: u64) -> Result<Self, BuildError> {
        let (Kind::Metered(meter), Some(old)) = (&self.kind, self.quota.rate()) else {
            return self.derive(quota);
        };
        // A word says when its key is full again: the fraction, if a full burst takes as long to come back.
        let is_same_span = quota.rate().is_none_or(|new| is_same_span(old, new));
        match self.derive(quota) {
            Ok(plan) if is_same_span => Ok(plan),
            Err(error) if quota.validate().is_err() => Err(error),
            _ => {
                Self::with(quota, self.limiter.clone(), |rate| meter.carried(rate, now_ns).map(Kind::Metered))
            }
        }
    }

    fn with(
        quota: Quota,
        limiter: Arc<()>,
        kind: impl FnOnce(Rate) -> Result<Kind, BuildError>,
    ) -> Result<Self, BuildError> {
        quota.validate()?;
        let kind = match quota.rate() {
            Some(rate) => kind(rate)?,
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

    /// Whether keys have logs.
    pub(crate) fn is_logged(&self) -> bool {
        matches!(self.kind, Kind::Logged(_))
    }

    /// The largest cost that can ever fit.
    pub(crate) fn capacity(&self) -> u64 {
        let unlimited = if self.quota.is_blocked() { 0 } else { u64::MAX };
        self.quota.rate().map_or(unlimited, |rate| rate.capacity())
    }

    /// The quota it was made from.
    pub const fn quota(&self) -> Quota {
        self.quota
    }
}

fn is_same_span(old: Rate, new: Rate) -> bool {
    let product = |factors: [u64; 3]| {
        factors.iter().try_fold(1, |product: u128, &factor| product.checked_mul(factor.into()))
    };
    let spans = [
        product([old.capacity(), old.period_ns(), new.limit()]),
        product([new.capacity(), new.period_ns(), old.limit()]),
    ];
    old == new || spans[0].is_some() && spans[0] == spans[1]
}

/// The span of a log.
fn span(rate: Rate) -> Result<Span, BuildError> {
    let (algorithm, limit, period) = (SLIDING_WINDOW_LOG, rate.limit(), rate.period());
    if let Some(burst) = rate.burst() {
        return Err(BuildError::BurstOnWindow { algorithm, burst });
    }
    if limit > log::MAX_UNITS {
        return Err(BuildError::LimitTooLarge { algorithm, limit, period, max: log::MAX_UNITS });
    }
    Ok(Span { units: limit, window_ns: rate.period_ns() })
}

/// The entries of a log count for one time under all its quotas.
fn same_window(own: Span, span: Span) -> Result<Span, BuildError> {
    if span.window_ns == own.window_ns {
        return Ok(span);
    }
    Err(BuildError::PlanPeriod {
        algorithm: SLIDING_WINDOW_LOG,
        period: Duration::from_nanos(span.window_ns),
        limiter_period: Duration::from_nanos(own.window_ns),
    })
}
