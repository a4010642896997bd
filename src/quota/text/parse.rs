//! The strict reader: a text is cut into parts, then each part is read or refused.

use core::time::Duration;

use super::unit::{CALENDAR, UNITS, Unit};
use super::{BURST, Fault, ParseQuotaErrorKind as Kind, Quota};
use crate::error::BuildError;

pub(super) const LIMIT: &str = "limit";
const PERIOD: &str = "period";

/// The parts of a text as written, without the spaces around them.
pub(super) struct Parts<'a> {
    pub(super) limit: &'a str,
    period: &'a str,
    /// What the period consists of: one term, unless it is a sum such as `1h30m`.
    pub(super) terms: Vec<Term<'a>>,
    /// What follows the period: `burst N`, or nothing.
    pub(super) tail: &'a str,
}

/// One `[COUNT]UNIT`; either may be missing.
pub(super) struct Term<'a> {
    pub(super) count: &'a str,
    pub(super) unit: &'a str,
}

impl<'a> Parts<'a> {
    pub(super) fn split(text: &'a str) -> Self {
        let (limit, rest) = split_rate(text);
        let (first, mut tail) = Term::split(rest);
        let mut terms = vec![first];
        // Each turn takes at least one digit from the tail.
        while starts_with_digit(tail) {
            let (next, after) = Term::split(tail);
            if Unit::find_ns(&UNITS, next.unit).is_none() {
                break;
            }
            terms.push(next);
            tail = after;
        }
        Self { limit, period: rest[..rest.len() - tail.len()].trim_end(), terms, tail }
    }

    /// The quota, which is valid, or the first fault.
    pub(super) fn read(&self) -> Result<Quota, Fault> {
        let limit = self.read_limit()?;
        let period = self.read_period()?;
        let quota = match self.read_burst()? {
            Some(units) => Quota::new(limit, period).burst(units),
            None => Quota::new(limit, period),
        };
        let refused = |error| Fault::new(Kind::Refused(error), PERIOD, self.period);
        quota.validate().map_err(refused)?;
        Ok(quota)
    }

    fn read_limit(&self) -> Result<u64, Fault> {
        let fault = |kind| Err(Fault::new(kind, LIMIT, self.limit));
        if self.limit.is_empty() {
            let is_empty = self.period.is_empty() && self.tail.is_empty();
            return fault(if is_empty { Kind::Empty } else { Kind::NoLimit });
        }
        match read_number(LIMIT, self.limit)? {
            // A lone `0` lacks a period too, which would not help it.
            0 => fault(Kind::Refused(BuildError::LimitZero)),
            limit => Ok(limit),
        }
    }

    fn read_period(&self) -> Result<Duration, Fault> {
        let mut period = Duration::ZERO;
        for term in &self.terms {
            period = term.read()?;
        }
        if self.terms.len() > 1 {
            return Err(Fault::new(Kind::CompoundPeriod, PERIOD, self.period));
        }
        Ok(period)
    }

    fn read_burst(&self) -> Result<Option<u64>, Fault> {
        let fault = |kind, value| Err(Fault::new(kind, BURST, value));
        let words: Vec<_> = self.tail.split_whitespace().collect();
        match words[..] {
            [] => Ok(None),
            [word, ..] if !word.eq_ignore_ascii_case(BURST) => fault(Kind::Extra, self.tail),
            [word] => fault(Kind::NoBurst, word),
            [_, number] => read_number(BURST, number).map(Some),
            [_, number, extra, ..] => read_number(BURST, number).and(fault(Kind::Extra, extra)),
        }
    }
}

impl<'a> Term<'a> {
    /// Whatever stands before the first letter is the count, the letters are the unit; then what follows.
    fn split(text: &'a str) -> (Self, &'a str) {
        let (count, rest) = split_where(text, char::is_alphabetic);
        let (unit, tail) = match split_where(rest, |c| !c.is_alphabetic()) {
            (word, _) if word.eq_ignore_ascii_case(BURST) => ("", rest),
            sides => sides,
        };
        (Self { count: count.trim(), unit }, tail.trim_start())
    }

    fn read(&self) -> Result<Duration, Fault> {
        let fault = |kind, value| Err(Fault::new(kind, PERIOD, value));
        let count = match (self.count, self.unit) {
            ("", "") => return fault(Kind::NoPeriod, ""),
            ("", _) => 1,
            (count, _) => read_number(PERIOD, count)?,
        };
        if self.unit.is_empty() {
            return fault(Kind::NoUnit, self.count);
        }
        match Unit::find_ns(&UNITS, self.unit) {
            // What saturates is far above the longest period, and refused as that.
            Some(ns) => Ok(count.checked_mul(ns).map_or(Duration::MAX, Duration::from_nanos)),
            None if Unit::find_ns(&CALENDAR, self.unit).is_some() => fault(Kind::CalendarUnit, self.unit),
            None => fault(Kind::UnknownUnit, self.unit),
        }
    }
}

/// Digits, with `_` anywhere behind the first.
fn read_number(part: &'static str, text: &str) -> Result<u64, Fault> {
    let fault = |kind| Fault::new(kind, part, text);
    if starts_with_digit(text) && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        return text.replace('_', "").parse().map_err(|_| fault(Kind::TooLarge));
    }
    let is_negative = text.strip_prefix('-').is_some_and(starts_with_digit);
    Err(fault(if is_negative { Kind::Negative } else { Kind::NotWhole }))
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// What stands on the two sides of the `/`, or of the word `per`. Without either, all of it is the limit.
fn split_rate(text: &str) -> (&str, &str) {
    const PER: &str = " per ";
    // Lowering ASCII letters moves no byte.
    let per = || text.to_ascii_lowercase().find(PER).map(|at| (&text[..at], &text[at + PER.len()..]));
    let (limit, rest) = text.split_once('/').or_else(per).unwrap_or((text, ""));
    (limit.trim(), rest.trim())
}

/// The text before the first character that `is_next`, and the text from there on.
pub(super) fn split_where(text: &str, is_next: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_next).unwrap_or(text.len()))
}
