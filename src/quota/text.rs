//! Quotas as text: `LIMIT/[COUNT]UNIT [burst N]`, `unlimited`, `blocked`.
//!
//! The reader never stops at a fault. It notes the first one and goes on with the number that was most likely meant,
//! so that a refusal can show a quota that is valid and near, with everything else as it was written. What it has
//! read counts only when nothing was noted.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use super::{MAX_PERIOD, Quota};
use crate::error::BuildError;

/// A unit of time and the ways to write it, the first of which is ours.
struct Unit {
    names: &'static [&'static str],
    ns: u128,
}

impl Unit {
    const fn name(&self) -> &'static str {
        self.names[0]
    }
}

const SECOND_NS: u128 = 1_000_000_000;
const MINUTE_NS: u128 = 60 * SECOND_NS;
const DAY_NS: u128 = 86_400 * SECOND_NS;
const MAX_PERIOD_NS: u128 = MAX_PERIOD.as_nanos();

/// From short to long. The micro sign and the Greek letter mu look alike, and keyboards write either.
const UNITS: [Unit; 8] = [
    Unit { names: &["ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds"], ns: 1 },
    Unit {
        names: &[
            "us",
            "\u{b5}s",
            "\u{3bc}s",
            "usec",
            "usecs",
            "micro",
            "micros",
            "microsecond",
            "microseconds",
        ],
        ns: 1_000,
    },
    Unit { names: &["ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"], ns: 1_000_000 },
    Unit { names: &["s", "sec", "secs", "second", "seconds"], ns: SECOND_NS },
    Unit { names: &["min", "m", "mins", "minute", "minutes"], ns: MINUTE_NS },
    Unit { names: &["h", "hr", "hrs", "hour", "hours"], ns: 60 * MINUTE_NS },
    Unit { names: &["day", "d", "days"], ns: DAY_NS },
    Unit { names: &["week", "w", "wk", "wks", "weeks"], ns: 7 * DAY_NS },
];

/// Words of the calendar: their length varies, so they are refused with the usual number of days.
const CALENDAR: [Unit; 2] = [
    Unit { names: &["month", "mo", "months"], ns: 30 * DAY_NS },
    Unit { names: &["year", "y", "yr", "yrs", "years"], ns: 365 * DAY_NS },
];

const UNLIMITED: &str = "unlimited";
const BLOCKED: &str = "blocked";
const BURST: &str = "burst";

/// The characters of a refused text that its error repeats.
const QUOTED_CHARS: usize = 64;

impl fmt::Display for Quota {
    /// The one text that reads back as exactly this quota, with the largest unit that divides the period and no count
    /// of 1: `100/min`, `5/10s`, `10/s burst 20`, `unlimited`, `blocked`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(rate) = self.rate() else {
            return f.pad(if self.is_unlimited() { UNLIMITED } else { BLOCKED });
        };
        let period = Period(rate.period().as_nanos());
        // As one text, so that a width pads all of it.
        f.pad(&match rate.burst() {
            None => format!("{}/{period}", rate.limit()),
            Some(burst) => format!("{}/{period} {BURST} {burst}", rate.limit()),
        })
    }
}

/// A period in nanoseconds, written as `s`, `10s`, `250ms`.
struct Period(u128);

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(ns) = *self;
        // Every unit divides zero, and a nanosecond divides everything.
        let unit = UNITS.iter().rev().find(|unit| ns != 0 && ns % unit.ns == 0).unwrap_or(&UNITS[0]);
        match ns / unit.ns {
            1 => f.write_str(unit.name()),
            count => write!(f, "{count}{}", unit.name()),
        }
    }
}

impl FromStr for Quota {
    type Err = ParseQuotaError;

    /// Reads `LIMIT/[COUNT]UNIT [burst N]`, `unlimited` or `blocked`, in any case.
    ///
    /// Numbers are whole and may have `_` between digits. Units are `ns`, `us`, `ms`, `s`, `min` (or `m`), `h`, `day`
    /// and `week`, by their longer names too; `per` may stand for the `/`, and spaces around each part. What is read
    /// passes [`Quota::validate`].
    ///
    /// ```
    /// use tollgate::Quota;
    /// assert_eq!("1_000 per Minute".parse(), Ok(Quota::per_minute(1000)));
    /// let error = "1.5/s burst 4".parse::<Quota>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"quota "1.5/s burst 4": limit `1.5` is not a whole number: write `3/2s burst 4`"#
    /// );
    /// ```
    ///
    /// # Errors
    /// The [`ParseQuotaError`] names the value and the reason, and shows the nearest text that can be read.
    fn from_str(text: &str) -> Result<Self, ParseQuotaError> {
        let text = text.trim();
        if let Some(answer) = read_word(text) {
            return answer;
        }
        let draft = Draft::read(text);
        if let Some(fault) = &draft.fault {
            return Err(draft.refuse(fault));
        }
        let quota = draft.quota();
        quota.validate().map_err(|error| {
            let kind = ParseQuotaErrorKind::Refused(error);
            draft.refuse(&Fault { kind, part: "", value: draft.period_text })
        })?;
        Ok(quota)
    }
}

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
    kind: ParseQuotaErrorKind,
    /// What the offending value is: limit, period or burst.
    part: &'static str,
    value: String,
    suggestions: Vec<String>,
}

/// What is wrong with a text that is not a quota.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseQuotaErrorKind {
    /// There is nothing but spaces.
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
    /// What is wrong.
    pub fn kind(&self) -> &ParseQuotaErrorKind {
        &self.0.kind
    }

    /// Texts that can be read, the nearest first; never empty.
    pub fn suggestions(&self) -> &[String] {
        &self.0.suggestions
    }
}

impl fmt::Display for ParseQuotaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ParseQuotaErrorKind as Kind;
        let Refusal { input, kind, part, value, suggestions } = &*self.0;
        write!(f, "quota {input:?}: ")?;
        match kind {
            Kind::Empty => f.write_str("no limit and no period")?,
            Kind::NoLimit => f.write_str("no limit before the period")?,
            Kind::NoPeriod => f.write_str("no period after the limit")?,
            Kind::NoUnit => write!(f, "period `{value}` has no unit")?,
            Kind::NoBurst => write!(f, "no number after `{value}`")?,
            Kind::Negative => write!(f, "{part} `{value}` is negative")?,
            Kind::NotWhole => write!(f, "{part} `{value}` is not a whole number")?,
            Kind::TooLarge => write!(f, "{part} `{value}` is too large")?,
            Kind::UnknownUnit => {
                let names: Vec<_> = UNITS.iter().map(Unit::name).collect();
                write!(f, "unknown unit `{value}`: write one of {}, as in ", names.join(", "))?;
                return write_choices(f, suggestions);
            }
            Kind::CalendarUnit => write!(f, "unit `{value}` has no fixed length")?,
            Kind::CompoundPeriod => write!(f, "period `{value}` has more than one unit")?,
            Kind::Extra => write!(f, "`{value}` is not understood")?,
            Kind::Refused(BuildError::LimitZero) => {
                f.write_str("limit 0 could mean nothing or everything")?
            }
            Kind::Refused(BuildError::PeriodZero) => write!(f, "period `{value}` is zero and has no rate")?,
            Kind::Refused(BuildError::PeriodTooLong { .. }) => {
                write!(f, "period `{value}` is above ten years")?
            }
            Kind::Refused(BuildError::BurstZero { .. }) => f.write_str("burst 0 would refuse everything")?,
            Kind::Refused(BuildError::RateTooHigh { limit, .. }) => {
                write!(f, "limit {limit} is more than one unit per nanosecond")?;
            }
            Kind::Refused(error) => write!(f, "{error}")?,
        }
        f.write_str(": write ")?;
        write_choices(f, suggestions)
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

/// The start of a text, for an error to repeat.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `unlimited` or `blocked`; `None` when the text starts with neither.
fn read_word(text: &str) -> Option<Result<Quota, ParseQuotaError>> {
    let (word, rest) = split_word(text);
    let quota = [Quota::unlimited(), Quota::blocked()]
        .into_iter()
        .find(|quota| word.eq_ignore_ascii_case(if quota.is_unlimited() { UNLIMITED } else { BLOCKED }))?;
    if rest.is_empty() {
        return Some(Ok(quota));
    }
    Some(Err(ParseQuotaError(Box::new(Refusal {
        input: quoted(text),
        kind: ParseQuotaErrorKind::Extra,
        part: "",
        value: quoted(rest),
        suggestions: vec![quota.to_string()],
    }))))
}

/// The first word, and what follows without the spaces between.
fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

/// What stands on the two sides of the `/`, or of the word `per`.
fn split_rate(text: &str) -> Option<(&str, &str)> {
    const PER: &str = " per ";
    let (limit, rest) = match text.split_once('/') {
        Some(sides) => sides,
        None => {
            // Lowering ASCII letters moves no byte.
            let at = text.to_ascii_lowercase().find(PER)?;
            (&text[..at], &text[at + PER.len()..])
        }
    };
    Some((limit.trim(), rest.trim()))
}

/// What has been read or guessed so far, and the first fault.
struct Draft<'a> {
    text: &'a str,
    /// `None` when not even a guess is possible.
    limit: Option<Fraction>,
    period_ns: u128,
    /// What to fall back on when the period is zero.
    unit_ns: u128,
    period_text: &'a str,
    burst: Option<Fraction>,
    fault: Option<Fault<'a>>,
}

struct Fault<'a> {
    kind: ParseQuotaErrorKind,
    part: &'static str,
    value: &'a str,
}

const LIMIT: &str = "limit";
const PERIOD: &str = "period";

impl<'a> Draft<'a> {
    /// Reads a trimmed text.
    fn read(text: &'a str) -> Self {
        let mut draft = Self {
            text,
            limit: None,
            period_ns: SECOND_NS,
            unit_ns: SECOND_NS,
            period_text: "",
            burst: None,
            fault: None,
        };
        if text.is_empty() {
            draft.note(ParseQuotaErrorKind::Empty, "", text);
        } else if let Some((limit, rest)) = split_rate(text) {
            draft.read_limit(limit);
            let tail = draft.read_period(rest);
            draft.read_burst(tail.trim());
        } else {
            draft.read_limit_alone();
        }
        draft
    }

    /// Of several faults the first is reported.
    fn note(&mut self, kind: ParseQuotaErrorKind, part: &'static str, value: &'a str) {
        self.fault.get_or_insert(Fault { kind, part, value });
    }

    fn read_number(&mut self, part: &'static str, text: &'a str) -> Option<Fraction> {
        let number = Number::read(text);
        if let Some(kind) = number.fault {
            self.note(kind, part, text);
        }
        number.guess
    }

    fn read_limit(&mut self, text: &'a str) {
        if text.is_empty() {
            self.note(ParseQuotaErrorKind::NoLimit, LIMIT, text);
            self.limit = Some(Fraction::ONE);
        } else {
            self.limit = self.read_number(LIMIT, text);
        }
    }

    /// Without a period, the period is the fault, unless it is plain that the limit is worse.
    fn read_limit_alone(&mut self) {
        let Number { guess, fault } = Number::read(self.text);
        self.limit = guess;
        let kind = match (guess, fault) {
            (Some(Fraction { num: 0, .. }), None) => ParseQuotaErrorKind::Refused(BuildError::LimitZero),
            (Some(_), None | Some(ParseQuotaErrorKind::NotWhole)) => ParseQuotaErrorKind::NoPeriod,
            (_, Some(kind)) => kind,
            (None, None) => ParseQuotaErrorKind::NotWhole,
        };
        self.note(kind, LIMIT, self.text);
    }

    /// Reads `[COUNT]UNIT` from the start of a text and gives what follows. A sum of them is a fault, and added up.
    fn read_period(&mut self, text: &'a str) -> &'a str {
        let Term { ns, unit_ns, fault, mut tail } = Term::read(text);
        self.period_ns = ns;
        self.unit_ns = unit_ns;
        let mut summed = false;
        if let Some(Fault { kind, part, value }) = fault {
            self.note(kind, part, value);
        } else {
            // Each turn takes at least one digit from the tail.
            while tail.trim_start().starts_with(|first: char| first.is_ascii_digit()) {
                let next = Term::read(tail.trim_start());
                if next.fault.is_some() {
                    break;
                }
                self.period_ns = self.period_ns.saturating_add(next.ns);
                tail = next.tail;
                summed = true;
            }
        }
        self.period_text = text[..text.len() - tail.len()].trim();
        if summed {
            self.note(ParseQuotaErrorKind::CompoundPeriod, PERIOD, self.period_text);
        }
        tail
    }

    /// Reads `burst N`, or nothing, from a trimmed text.
    fn read_burst(&mut self, text: &'a str) {
        if text.is_empty() {
            return;
        }
        let (word, rest) = split_word(text);
        if !word.eq_ignore_ascii_case(BURST) {
            self.note(ParseQuotaErrorKind::Extra, BURST, text);
            let digits_at = text.find(|c: char| c.is_ascii_digit());
            self.burst = digits_at.and_then(|at| guess(&text[at..]));
            return;
        }
        let (number, extra) = split_word(rest);
        if number.is_empty() {
            self.note(ParseQuotaErrorKind::NoBurst, BURST, word);
            self.burst = self.limit.map(|limit| Fraction { num: limit.num.saturating_mul(2), ..limit });
            return;
        }
        self.burst = self.read_number(BURST, number);
        if !extra.is_empty() {
            self.note(ParseQuotaErrorKind::Extra, BURST, extra);
        }
    }

    /// What has been read, when there is no fault.
    fn quota(&self) -> Quota {
        // Without a fault each number was a `u64`, so nothing is lost; zero is refused in any case.
        let whole = |number: Fraction| u64::try_from(number.num / number.den).unwrap_or(u64::MAX);
        let quota = Quota::new(self.limit.map_or(0, whole), duration(self.period_ns));
        match self.burst {
            Some(units) => quota.burst(whole(units)),
            None => quota,
        }
    }

    /// The quota nearest to what has been read that is valid. A rate that needs a longer period than there is, is
    /// rounded down.
    fn nearest(&self) -> Option<Quota> {
        let limit = self.limit?;
        let period_ns = if self.period_ns == 0 { self.unit_ns } else { self.period_ns };
        let (mut units, mut ns) = (limit.num, period_ns.checked_mul(limit.den)?);
        if ns > MAX_PERIOD_NS {
            (units, ns) = (units.checked_mul(MAX_PERIOD_NS)? / ns, MAX_PERIOD_NS);
        }
        let quota = Quota::new(u64::try_from(units.clamp(1, ns)).ok()?, duration(ns));
        let Some(burst) = self.burst else { return Some(quota) };
        let burst = (burst.num / burst.den).max(1);
        Some(quota.burst(u64::try_from(burst).unwrap_or(u64::MAX)))
    }

    fn refuse(&self, fault: &Fault<'_>) -> ParseQuotaError {
        ParseQuotaError(Box::new(Refusal {
            input: quoted(self.text),
            kind: fault.kind.clone(),
            part: fault.part,
            value: quoted(fault.value),
            suggestions: self.suggestions(fault),
        }))
    }

    fn suggestions(&self, fault: &Fault<'_>) -> Vec<String> {
        use ParseQuotaErrorKind as Kind;
        let blocked = || Quota::blocked().to_string();
        let unlimited = || Quota::unlimited().to_string();
        let Some(nearest) = self.nearest() else {
            return vec![Quota::per_minute(100).to_string(), unlimited(), blocked()];
        };
        if self.limit.is_some_and(|limit| limit.num == 0) {
            return vec![blocked(), unlimited()];
        }
        let mut texts = vec![nearest.to_string()];
        let without_burst = || nearest.rate().map(|rate| Quota::new(rate.limit(), rate.period()).to_string());
        match &fault.kind {
            // Many programs write -1 for no limit.
            Kind::Negative if fault.part == LIMIT => texts.extend([unlimited(), blocked()]),
            Kind::NoPeriod => {
                let minute = Draft { period_ns: MINUTE_NS, fault: None, ..*self };
                texts.extend(minute.nearest().map(|quota| quota.to_string()));
            }
            Kind::NoBurst => texts.extend(without_burst()),
            Kind::Refused(BuildError::BurstZero { .. }) => {
                texts.extend(without_burst());
                texts.push(blocked());
            }
            _ => {}
        }
        texts
    }
}

/// A duration of `ns` nanoseconds; saturates.
fn duration(ns: u128) -> Duration {
    match u64::try_from(ns / SECOND_NS) {
        // The remainder is below 10^9, so the cast keeps it.
        Ok(secs) => Duration::new(secs, (ns % SECOND_NS) as u32),
        Err(_) => Duration::MAX,
    }
}

/// One `[COUNT]UNIT`.
struct Term<'a> {
    ns: u128,
    unit_ns: u128,
    fault: Option<Fault<'a>>,
    tail: &'a str,
}

impl<'a> Term<'a> {
    /// Reads a trimmed text: whatever stands before the first letter is the count, the letters are the unit.
    fn read(text: &'a str) -> Self {
        let (count, rest) = split_where(text, char::is_alphabetic);
        let (unit, tail) = split_where(rest, |c| !c.is_alphabetic());
        let count = count.trim();
        let number = if count.is_empty() { Number::ONE } else { Number::read(count) };
        let count_fault = number.fault.map(|kind| Fault { kind, part: PERIOD, value: count });
        // A count that means nothing is one unit.
        let factor = number.guess.unwrap_or(Fraction::ONE);
        let ns_in = |unit_ns: u128| (factor.num.saturating_mul(unit_ns) + factor.den / 2) / factor.den;
        let fault = |kind, value| Some(Fault { kind, part: PERIOD, value });

        if unit.is_empty() || unit.eq_ignore_ascii_case(BURST) {
            let kind =
                if count.is_empty() { ParseQuotaErrorKind::NoPeriod } else { ParseQuotaErrorKind::NoUnit };
            let fault = count_fault.or(fault(kind, count));
            return Self { ns: ns_in(SECOND_NS), unit_ns: SECOND_NS, fault, tail: rest };
        }
        let is_named = |known: &&Unit| known.names.iter().any(|name| name.eq_ignore_ascii_case(unit));
        let (unit_ns, unit_fault) = if let Some(known) = UNITS.iter().find(is_named) {
            (known.ns, None)
        } else if let Some(known) = CALENDAR.iter().find(is_named) {
            (known.ns, fault(ParseQuotaErrorKind::CalendarUnit, unit))
        } else {
            (MINUTE_NS, fault(ParseQuotaErrorKind::UnknownUnit, unit))
        };
        Self { ns: ns_in(unit_ns), unit_ns, fault: count_fault.or(unit_fault), tail }
    }
}

/// The text before the first character that `is_next`, and the text from there on.
fn split_where(text: &str, is_next: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_next).unwrap_or(text.len()))
}

/// A number as written, or as meant and what is wrong with it.
struct Number {
    guess: Option<Fraction>,
    fault: Option<ParseQuotaErrorKind>,
}

impl Number {
    const ONE: Self = Self { guess: Some(Fraction::ONE), fault: None };

    /// Digits, with `_` anywhere behind the first.
    fn read(text: &str) -> Self {
        let is_plain = text.starts_with(|first: char| first.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        if is_plain {
            let value = text.replace('_', "").parse::<u64>().ok();
            let fault = if value.is_none() { Some(ParseQuotaErrorKind::TooLarge) } else { None };
            return Self { guess: Some(Fraction::whole(value.unwrap_or(u64::MAX).into())), fault };
        }
        let guess = guess(text);
        let is_negative = guess.is_some() && text.starts_with('-');
        let kind = if is_negative { ParseQuotaErrorKind::Negative } else { ParseQuotaErrorKind::NotWhole };
        Self { guess, fault: Some(kind) }
    }
}

/// A number that was meant. In lowest terms; the denominator is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    num: u128,
    den: u128,
}

impl Fraction {
    const ONE: Self = Self::whole(1);

    const fn whole(num: u128) -> Self {
        Self { num, den: 1 }
    }

    fn new(num: u128, den: u128) -> Self {
        let divisor = gcd(num, den);
        Self { num: num / divisor, den: den / divisor }
    }
}

/// Not 0, since `b` is not.
const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

/// The size of the number that a text starts with, in the ways people write numbers: a sign (ignored), a decimal
/// point or comma, thousands apart by a comma or space, a `k` or `M`, an exponent.
fn guess(text: &str) -> Option<Fraction> {
    let text = text.trim_start_matches(['-', '+', ' ']);
    let (digits, suffix) = split_where(text, |c| !(c.is_ascii_digit() || "_., ".contains(c)));
    let digits = digits.replace('_', "");
    let (whole, decimals) = split_decimals(digits.trim())?;
    let den = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    // At most 2^64, so that the products below have room.
    let num: u64 = format!("{whole}{decimals}").parse().ok()?;
    Some(Fraction::new(u128::from(num).checked_mul(multiplier(suffix)?)?, den))
}

/// The digits before and after the decimal point.
fn split_decimals(number: &str) -> Option<(String, &str)> {
    let is_thousands = |c| c == ',' || c == ' ';
    let (whole, decimals) = match number.split_once('.') {
        Some(sides) => sides,
        None if number.split(is_thousands).skip(1).all(|group| group.len() == 3) => (number, ""),
        None => number.split_once(',')?,
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = whole.replace(is_thousands, "");
    (is_digits(&whole) && is_digits(decimals)).then_some((whole, decimals))
}

/// What a suffix multiplies a number by; 1 for a word that says something else, such as `requests`.
fn multiplier(suffix: &str) -> Option<u128> {
    let (word, _) = split_word(suffix);
    let exponent =
        word.strip_prefix(['e', 'E']).filter(|rest| rest.starts_with(|c: char| !c.is_alphabetic()));
    match (exponent, word) {
        (Some(exponent), _) => 10_u128.checked_pow(exponent.parse().ok()?),
        (None, "k" | "K") => Some(1_000),
        (None, "m" | "M") => Some(1_000_000),
        (None, _) => Some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_guessed_as_people_write_them() {
        for (text, num, den) in [
            ("7", 7, 1),
            ("1.5", 3, 2),
            ("0.25", 1, 4),
            (".5", 1, 2),
            ("5.", 5, 1),
            ("1.0", 1, 1),
            ("0.0", 0, 1),
            ("1,5", 3, 2),
            ("1,000", 1_000, 1),
            ("1,234,567.5", 2_469_135, 2),
            ("1 000 000", 1_000_000, 1),
            ("-3", 3, 1),
            ("+ 3", 3, 1),
            ("10k", 10_000, 1),
            ("1.5K", 1_500, 1),
            ("2 M", 2_000_000, 1),
            ("2e6", 2_000_000, 1),
            ("1.5E3", 1_500, 1),
            ("10 requests", 10, 1),
            ("10 each", 10, 1),
            ("10k req", 10_000, 1),
        ] {
            assert_eq!(guess(text), Some(Fraction { num, den }), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_guessed() {
        for text in
            ["", "x", "$5", "1.2.3", "1,2,3", "12 34", "1e-3", "1e99", "99999999999999999999.5", ".", "1.5 5"]
        {
            assert_eq!(guess(text), None, "{text:?}");
        }
    }

    #[test]
    fn every_name_means_one_unit() {
        let mut names: Vec<_> = UNITS.iter().chain(&CALENDAR).flat_map(|unit| unit.names).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(UNITS.is_sorted_by_key(|unit| unit.ns));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let exact = "é".repeat(QUOTED_CHARS);
        assert_eq!(quoted(&exact), exact);
        assert_eq!(quoted(&format!("{exact}é")), format!("{exact}…"));
    }
}
