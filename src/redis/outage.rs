//! What answers while Redis does not.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::clock::{Clock, DefaultClock};
use crate::decision::Decision;
use crate::error::BuildError;
use crate::limiter::Limiter;
use crate::quota::Quota;
use crate::redis::answer::{Answer, Source};
use crate::redis::failure::Failure;
use crate::store::Map;
use crate::time::duration_ns;

/// What a rule answers while Redis does not.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outage {
    /// Everything is allowed.
    Open,
    /// Everything is refused.
    Closed,
    /// This process limits by itself, to a share of the quota: with one of N processes each having `1 / N`, all of them together keep
    /// to the quota. Its state is kept warm by what Redis allows to this process, so an outage grants no fresh burst. What is
    /// admitted meanwhile is charged in Redis once it is back.
    Local {
        /// Above 0, and at most 1.
        share: f64,
    },
}

/// The whole quota, in this process: what it would be allowed if it were alone.
impl Default for Outage {
    fn default() -> Self {
        Self::Local { share: 1.0 }
    }
}

/// Keys whose debts are remembered. More are not charged later, which [`Counts::forgotten`](super::Counts::forgotten) tells.
const DEBTS: usize = 65_536;

/// After a debt that could not be paid, decisions have none paid for this long.
const REST: Duration = Duration::from_secs(1);

/// The policy at work.
pub(super) enum Fallback {
    Open,
    Closed,
    Local(Local),
}

pub(super) struct Local {
    limits: Own,
    debts: Mutex<Debts>,
}

#[derive(Default)]
struct Debts {
    /// Units admitted since debts were last taken to be paid.
    owed: HashMap<Vec<u8>, u64>,
    /// Those that may have been paid, or not.
    unpaid: Vec<Debt>,
    /// Nothing is tried before, as it failed.
    rest_until: Option<Instant>,
}

/// Units to be charged in Redis, once for each mark.
#[derive(Debug)]
pub(super) struct Debt {
    pub(super) key: Vec<u8>,
    pub(super) units: u64,
    pub(super) mark: String,
}

/// A table has fixed memory; logs need a map.
enum Own {
    Table(Box<Limiter<[u8]>>),
    Map(Box<Limiter<Vec<u8>, DefaultClock, Map<Vec<u8>>>>),
}

impl Fallback {
    pub(super) fn new(
        outage: Outage,
        quota: Quota,
        algorithm: &str,
        window_offset: Duration,
        capacity: usize,
    ) -> Result<Self, BuildError> {
        let share = match outage {
            Outage::Open => return Ok(Self::Open),
            Outage::Closed => return Ok(Self::Closed),
            Outage::Local { share } => share,
        };
        let quota = shared(quota, share)?;
        let clock = DefaultClock::new();
        let offset = local_offset(quota, window_offset, clock.now_ns());
        let limits = if algorithm == "sliding_window_log" {
            Own::Map(Box::new(Limiter::builder(quota).algorithm(algorithm).build_map()?))
        } else {
            {
                let builder = Limiter::builder(quota).algorithm(algorithm).window_offset(offset).clock(clock);
                Own::Table(Box::new(builder.capacity(capacity).build()?))
            }
        };
        Ok(Self::Local(Local { limits, debts: Mutex::default() }))
    }

    /// Redis has allowed this.
    pub(super) fn warm(&self, key: &[u8], units: u64) {
        if let Self::Local(local) = self {
            let decision = local.limits.check(key, units);
            // More than a share holds takes all that is left of it.
            if decision.is_denied() {
                _ = local.limits.check(key, decision.remaining());
            }
        }
    }

    /// The answer in place of Redis's. What it admits is owed to Redis, if so much is known.
    pub(super) fn answer(&self, key: &[u8], units: u64, failure: Failure) -> Answer {
        match self {
            Self::Open => Answer::undecided(Source::Open, failure),
            Self::Closed => Answer::undecided(Source::Closed, failure),
            Self::Local(local) => {
                Answer::decided(local.limits.check(key, units), Source::Local).because(failure)
            }
        }
    }

    /// Takes back what [`answer`](Self::answer) has taken.
    pub(super) fn undo(&self, key: &[u8], units: u64) {
        if let Self::Local(local) = self {
            match &local.limits {
                Own::Table(limiter) => limiter.refund(key, units),
                Own::Map(limiter) => limiter.refund(key, units),
            }
        }
    }

    /// Remembers what was admitted, to be charged in Redis; `false` if there is no room for it.
    pub(super) fn owe(&self, key: &[u8], units: u64) -> bool {
        let Self::Local(local) = self else { return true };
        let mut debts = local.debts();
        if debts.owed.len() + debts.unpaid.len() >= DEBTS && !debts.owed.contains_key(key) {
            return false;
        }
        let owed = debts.owed.entry(key.to_vec()).or_default();
        *owed = owed.saturating_add(units);
        true
    }

    pub(super) fn has_debts(&self) -> bool {
        let Self::Local(local) = self else { return false };
        let debts = local.debts();
        (!debts.owed.is_empty() || !debts.unpaid.is_empty())
            && debts.rest_until.is_none_or(|until| until <= Instant::now())
    }

    /// What is owed, which is the caller's to charge from now on.
    pub(super) fn take_debts(&self) -> Vec<Debt> {
        let Self::Local(local) = self else { return Vec::new() };
        let (owed, mut unpaid) = {
            let mut debts = local.debts();
            (std::mem::take(&mut debts.owed), std::mem::take(&mut debts.unpaid))
        };
        unpaid.extend(owed.into_iter().map(|(key, units)| Debt { key, units, mark: random_name() }));
        unpaid
    }

    /// A debt that was not paid, for the next time: under its mark, unless it is certain that nothing was done.
    pub(super) fn keep(&self, debt: Debt, is_certain: bool) {
        let Self::Local(local) = self else { return };
        let mut debts = local.debts();
        debts.rest_until = Instant::now().checked_add(REST);
        if is_certain {
            let owed = debts.owed.entry(debt.key).or_default();
            *owed = owed.saturating_add(debt.units);
        } else {
            debts.unpaid.push(debt);
        }
    }
}

impl Local {
    fn debts(&self) -> MutexGuard<'_, Debts> {
        // Nothing that panics is done while it is held.
        self.debts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Own {
    fn check(&self, key: &[u8], units: u64) -> Decision {
        match self {
            Self::Table(limiter) => limiter.check_n(key, units),
            Self::Map(limiter) => limiter.check_n(key, units),
        }
    }
}

/// Where windows start by a clock that tells this time now, so that they are those of Redis, as far as the machines agree on the time: else a window that
/// begins within an outage, and not in Redis, would grant a fresh burst.
fn local_offset(quota: Quota, window_offset: Duration, now_ns: u64) -> Duration {
    let Some(rate) = quota.rate() else { return Duration::ZERO };
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let [offset_ns, wall_ns] = [window_offset, since_1970].map(|time| i128::from(duration_ns(time)));
    let offset_ns = (offset_ns + i128::from(now_ns) - wall_ns).rem_euclid(rate.period_ns().into());
    Duration::from_nanos(offset_ns as u64)
}

/// A share of a quota, rounded down to a unit at least.
fn shared(quota: Quota, share: f64) -> Result<Quota, BuildError> {
    if !(share > 0.0 && share <= 1.0) {
        return Err(BuildError::Other(format!(
            "a share of {share} is none: write a number above 0 and up to 1, such as 1 / (number of processes)"
        )));
    }
    let part = |units: u64| if share == 1.0 { units } else { ((units as f64 * share) as u64).max(1) };
    Ok(match quota.rate() {
        None => quota,
        Some(rate) => {
            let own = Quota::new(part(rate.limit()), rate.period());
            rate.burst().map_or(own, |burst| own.burst(part(burst)))
        }
    })
}

/// A name that nobody else has.
fn random_name() -> String {
    let half = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", half(), half())
}
