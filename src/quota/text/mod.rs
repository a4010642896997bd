//! Quotas as text: `LIMIT/[COUNT]UNIT [burst N]`, `unlimited`, `blocked`.
//!
//! `parse` is strict and stops at the first fault. Only then does `advice` read the same parts again, loosely, for
//! valid texts near to what was meant.

mod advice;
mod error;
mod guess;
mod parse;
mod unit;

pub use error::{ParseQuotaError, ParseQuotaErrorKind};

use core::fmt;
use core::str::FromStr;

use super::Quota;
use error::Fault;
use parse::Parts;
use unit::Period;

const UNLIMITED: &str = "unlimited";
const BLOCKED: &str = "blocked";
const BURST: &str = "burst";

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
        if text.eq_ignore_ascii_case(UNLIMITED) {
            return Ok(Self::unlimited());
        }
        if text.eq_ignore_ascii_case(BLOCKED) {
            return Ok(Self::blocked());
        }
        let parts = Parts::split(text);
        parts.read().map_err(|fault| {
            let suggestions = advice::near(&parts, &fault);
            ParseQuotaError::new(text, fault, suggestions)
        })
    }
}
