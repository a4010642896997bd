//! Why a text is not a quota, in words.

use core::fmt;

use super::unit::UNITS;
use crate::error::{BuildError, quoted};

/// Why a text is not a quota.
///
/// Its message names the value and the reason, and says what to write instead.
///
/// ```
/// use tollgate::{ParseQuotaErrorKind, Quota};
/// let error = "10/5".parse::<Quota>().unwrap_err();
/// assert_eq!(error.kind(), &ParseQuotaErrorKind::NoUnit);
/// assert_eq!(error.suggestions(), ["10/5s"]);
/// assert_eq!(error.to_string(), r#"quota "10/5": period `5` has no unit: write `10/5s`"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuotaError(
    // Boxed, so that the result of a parse that succeeds is small.
    Box<Refusal>,
);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    input: String,
    fault: Fault,
    suggestions: Vec<String>,
}

/// The first thing wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: ParseQuotaErrorKind,
    /// What the offending value is: limit, period or burst.
    pub(super) part: &'static str,
    value: String,
}

/// What is wrong with a text that is not a quota.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseQuotaErrorKind {
    /// There is neither a limit nor a period.
    Empty,
    /// No number stands before the `/`.
    NoLimit,
    /// No `/` and period follow the limit.
    NoPeriod,
    /// The period is a number without a unit.
    NoUnit,
    /// No number stands after `burst`.
    NoBurst,
    /// A number is below zero.
    Negative,
    /// A number has a fraction, or is no number.
    NotWhole,
    /// A number is above 2^64 − 1.
    TooLarge,
    /// The period's unit is not known.
    UnknownUnit,
    /// The period's unit has no fixed length, as a month has not.
    CalendarUnit,
    /// The period is a sum, such as `1h30m`.
    CompoundPeriod,
    /// More text follows than a quota has.
    Extra,
    /// The text is well formed, and no quota can have these numbers.
    Refused(BuildError),
}

impl ParseQuotaError {
    pub(super) fn new(text: &str, fault: Fault, suggestions: Vec<String>) -> Self {
        Self(Box::new(Refusal { input: quoted(text), fault, suggestions }))
    }

    /// What is wrong.
    pub fn kind(&self) -> &ParseQuotaErrorKind {
        &self.0.fault.kind
    }

    /// Texts that can be read, the nearest first; never empty.
    pub fn suggestions(&self) -> &[String] {
        &self.0.suggestions
    }
}

impl fmt::Display for ParseQuotaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "quota {:?}: ", self.0.input)?;
        self.0.fault.write_reason(f)?;
        f.write_str(": write ")?;
        if *self.kind() == ParseQuotaErrorKind::UnknownUnit {
            write!(f, "one of {}, as in ", UNITS.map(|unit| unit.name).join(", "))?;
        }
        write_choices(f, &self.0.suggestions)
    }
}

impl Fault {
    pub(super) fn new(kind: ParseQuotaErrorKind, part: &'static str, value: &str) -> Self {
        Self { kind, part, value: quoted(value) }
    }

    fn write_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ParseQuotaErrorKind as Kind;
        let Self { kind, part, value } = self;
        match kind {
            Kind::Empty => f.write_str("no limit and no period"),
            Kind::NoLimit => f.write_str("no limit before the period"),
            Kind::NoPeriod => f.write_str("no period after the limit"),
            Kind::NoUnit => write!(f, "period `{value}` has no unit"),
            Kind::NoBurst => write!(f, "no number after `{value}`"),
            Kind::Negative => write!(f, "{part} `{value}` is negative"),
            Kind::NotWhole => write!(f, "{part} `{value}` is not a whole number"),
            Kind::TooLarge => write!(f, "{part} `{value}` is too large"),
            Kind::UnknownUnit => write!(f, "unknown unit `{value}`"),
            Kind::CalendarUnit => write!(f, "unit `{value}` has no fixed length"),
            Kind::CompoundPeriod => write!(f, "period `{value}` has more than one unit"),
            Kind::Extra => write!(f, "`{value}` is not understood"),
            Kind::Refused(BuildError::LimitZero) => f.write_str("limit 0 could mean nothing or everything"),
            Kind::Refused(BuildError::PeriodZero) => write!(f, "period `{value}` is zero and has no rate"),
            Kind::Refused(BuildError::PeriodTooLong { .. }) => {
                write!(f, "period `{value}` is above ten years")
            }
            Kind::Refused(BuildError::BurstZero { .. }) => f.write_str("burst 0 would refuse everything"),
            Kind::Refused(BuildError::RateTooHigh { limit, .. }) => {
                write!(f, "limit {limit} is more than one unit per nanosecond")
            }
            Kind::Refused(error) => write!(f, "{error}"),
        }
    }
}

/// `` `a` ``, `` `a` or `b` ``, `` `a`, `b` or `c` ``.
fn write_choices(f: &mut fmt::Formatter<'_>, choices: &[String]) -> fmt::Result {
    for (index, choice) in choices.iter().enumerate() {
        let before = match index {
            0 => "",
            _ if index + 1 == choices.len() => " or ",
            _ => ", ",
        };
        write!(f, "{before}`{choice}`")?;
    }
    Ok(())
}

impl std::error::Error for ParseQuotaError {
    /// The [`BuildError`] of a well-formed text whose numbers are refused.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            ParseQuotaErrorKind::Refused(error) => Some(error),
            _ => None,
        }
    }
}
