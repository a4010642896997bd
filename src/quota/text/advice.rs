//! What to write instead of a text that was refused.

use core::time::Duration;

use super::guess::{Fraction, number};
use super::parse::{LIMIT, Parts, Term};
use super::unit::{CALENDAR, MINUTE_NS, SECOND_NS, UNITS, Unit};
use super::{Fault, ParseQuotaErrorKind as Kind, Quota};
use crate::error::BuildError;
use crate::quota::MAX_PERIOD;

const MAX_PERIOD_NS: u128 = MAX_PERIOD.as_nanos();

/// Valid quotas, the nearest to what was meant first; never empty.
pub(super) fn near(parts: &Parts<'_>, fault: &Fault) -> Vec<String> {
    let any = || vec![Quota::per_minute(100), Quota::unlimited(), Quota::blocked()];
    quotas(parts, fault).unwrap_or_else(any).iter().map(Quota::to_string).collect()
}

/// `None` without a limit that can be guessed.
fn quotas(parts: &Parts<'_>, fault: &Fault) -> Option<Vec<Quota>> {
    let limit = if fault.kind == Kind::NoLimit { Fraction::ONE } else { number(parts.limit)? };
    if limit.num == 0 {
        return Some(vec![Quota::blocked(), Quota::unlimited()]);
    }
    let period_ns = parts.terms.iter().fold(0, |sum: u128, term| sum.saturating_add(term_ns(term)));
    let plain = nearest(limit, period_ns)?;
    let burst =
        number(parts.tail).map(|units| u64::try_from(units.num / units.den).unwrap_or(u64::MAX).max(1));
    let with_burst = |quota: Quota| burst.map_or(quota, |units| quota.burst(units));
    Some(match fault.kind {
        // Many programs write -1 for no limit.
        Kind::Negative if fault.part == LIMIT => {
            vec![with_burst(plain), Quota::unlimited(), Quota::blocked()]
        }
        Kind::NoPeriod => vec![with_burst(plain), with_burst(nearest(limit, MINUTE_NS.into())?)],
        Kind::NoBurst => vec![plain.burst(plain.rate()?.limit().saturating_mul(2)), plain],
        Kind::Refused(BuildError::BurstZero { .. }) => vec![plain.burst(1), plain, Quota::blocked()],
        _ => vec![with_burst(plain)],
    })
}

/// The nearest valid quota. A rate that needs a longer period than there is, is rounded down.
fn nearest(limit: Fraction, period_ns: u128) -> Option<Quota> {
    let (mut units, mut ns) = (limit.num, period_ns.checked_mul(limit.den)?);
    if ns > MAX_PERIOD_NS {
        (units, ns) = (units.checked_mul(MAX_PERIOD_NS)? / ns, MAX_PERIOD_NS);
    }
    let units = u64::try_from(units.clamp(1, ns)).ok()?;
    Some(Quota::new(units, Duration::from_nanos(u64::try_from(ns).ok()?)))
}

/// Not 0; saturates. A count that means nothing is one unit, no unit is a second, and an unknown unit a minute.
fn term_ns(term: &Term<'_>) -> u128 {
    let count = number(term.count).filter(|count| count.num != 0).unwrap_or(Fraction::ONE);
    let known = || Unit::find_ns(&UNITS, term.unit).or_else(|| Unit::find_ns(&CALENDAR, term.unit));
    let unit_ns = if term.unit.is_empty() { SECOND_NS } else { known().unwrap_or(MINUTE_NS) };
    count.num.saturating_mul(unit_ns.into()).div_ceil(count.den)
}
