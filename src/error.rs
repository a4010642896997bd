//! What can be wrong with a limiter's settings. Every message names the value, the reason, and what to write instead.

use core::fmt;
use core::time::Duration;

use crate::quota::{MAX_PERIOD, Quota};

/// Why a limiter, or a plan for one, was not built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The quota's limit is 0.
    LimitZero,
    /// The quota's period is 0.
    PeriodZero,
    /// The quota's period is above [`MAX_PERIOD`].
    PeriodTooLong {
        /// The period asked for.
        period: Duration,
    },
    /// The quota's burst is 0.
    BurstZero {
        /// The quota's limit.
        limit: u64,
    },
    /// More than one unit per nanosecond.
    RateTooHigh {
        /// The limit asked for.
        limit: u64,
        /// The largest limit for this period.
        max: u64,
    },
    /// The limit does not fit the algorithm's word.
    LimitTooLarge {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The limit asked for.
        limit: u64,
        /// The period asked for.
        period: Duration,
        /// The largest limit for this period; 0 if there is none.
        max: u64,
    },
    /// The burst does not fit the algorithm's word.
    BurstTooLarge {
        /// The burst asked for.
        burst: u64,
        /// The largest burst; 0 if there is none.
        max: u64,
    },
    /// A burst was given to an algorithm that counts windows.
    BurstOnWindow {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The burst asked for.
        burst: u64,
    },
    /// A plan's period differs from the limiter's, and the algorithm counts windows.
    PlanPeriod {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The plan's period.
        period: Duration,
        /// The limiter's period.
        limiter_period: Duration,
    },
    /// A plan's rate cannot be kept within 0.1 % in the limiter's ticks.
    PlanTooFine {
        /// The plan's limit.
        limit: u64,
        /// The plan's period.
        period: Duration,
    },
    /// A plan with a rate was asked of a limiter whose own quota has none.
    PlanWithoutRate {
        /// The limiter's quota.
        limiter: Quota,
    },
    /// No algorithm has this name.
    UnknownAlgorithm {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The arithmetic of `sliding_window_log` on one word was asked for.
    NoWord,
    /// A table was asked to hold the logs of `sliding_window_log`.
    LogInTable,
    /// An algorithm of this name is registered already.
    NameTaken {
        /// The name.
        name: String,
    },
    /// The limiter's capacity is 0.
    CapacityZero,
    /// There is no memory for the limiter's capacity.
    CapacityTooLarge {
        /// The capacity asked for.
        capacity: usize,
    },
    /// Two rules have one name.
    RuleNameTaken {
        /// The name.
        name: String,
    },
    /// A rule is refused.
    Rule {
        /// The rule's name.
        name: String,
        /// What is wrong with it.
        error: Box<Self>,
    },
    /// Anything else, such as what an algorithm of the user's own refuses; says what to write instead.
    Other(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitZero => f.write_str(
                "limit 0 is ambiguous: write Quota::blocked() to refuse everything or Quota::unlimited() to allow everything",
            ),
            Self::PeriodZero => f.write_str("period 0 has no rate: write a period of 1ns or more, such as 10/s"),
            Self::PeriodTooLong { period } => write!(
                f,
                "period {period:?} is too long: write at most {}s (ten years)",
                MAX_PERIOD.as_secs()
            ),
            Self::BurstZero { limit } => write!(
                f,
                "burst 0 would refuse everything: write a burst of 1 or more, leave it out for {limit}, or write Quota::blocked()"
            ),
            Self::RateTooHigh { limit, max } => write!(
                f,
                "limit {limit} is more than one unit per nanosecond: write at most {max} for this period"
            ),
            Self::LimitTooLarge { algorithm, limit, period, max: 0 } => write!(
                f,
                "{algorithm} has no word for a limit of {limit} and windows of {period:?}: write a longer period, or use gcra"
            ),
            Self::LimitTooLarge { algorithm, limit, max, .. } => write!(
                f,
                "limit {limit} does not fit {algorithm} with this period: write at most {max}, or use gcra"
            ),
            Self::BurstTooLarge { burst, max: 0 } => write!(
                f,
                "burst {burst} cannot share this limiter's words: give the plan a limiter of its own"
            ),
            Self::BurstTooLarge { burst, max } => {
                write!(f, "burst {burst} is too large: write at most {max}")
            }
            Self::BurstOnWindow { algorithm, burst } => write!(
                f,
                "{algorithm} counts windows and has no burst: leave out burst {burst}, or use gcra"
            ),
            Self::PlanPeriod { algorithm, period, limiter_period } => write!(
                f,
                "{algorithm} keeps one period per limiter: write the plan's {period:?} as a limit per {limiter_period:?}, or use gcra"
            ),
            Self::PlanTooFine { limit, period } => write!(
                f,
                "{limit} per {period:?} cannot be kept within 0.1 % in this limiter's ticks: give the plan a limiter of its own, or build this one with the plan as its quota"
            ),
            Self::PlanWithoutRate { limiter } => write!(
                f,
                "a limiter that is {limiter} counts nothing that a plan could share: build it with the most common plan's quota"
            ),
            Self::UnknownAlgorithm { name, known } => {
                write!(f, "no algorithm is named {name:?}: write one of {}", known.join(", "))
            }
            Self::NoWord => f.write_str(
                "sliding_window_log keeps more than a word: write another algorithm, or build a limiter by its name",
            ),
            Self::LogInTable => f.write_str(
                "sliding_window_log keeps a log of each key, and a table has fixed memory: write build_map() instead of build()",
            ),
            Self::NameTaken { name } => {
                write!(f, "an algorithm named {name:?} is registered already: choose another name")
            }
            Self::CapacityZero => f.write_str("capacity 0 holds no key: write the number of keys to expect, 1 or more"),
            Self::CapacityTooLarge { capacity } => write!(
                f,
                "no memory for a capacity of {capacity}: a key takes 22 bytes, write the number of keys to expect at once"
            ),
            Self::RuleNameTaken { name } => {
                write!(f, "two rules are named {name:?}: give each a name of its own")
            }
            Self::Rule { name, error } => write!(f, "rule {name:?}: {error}"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for BuildError {}

/// The characters of a refused text that its error repeats.
const QUOTED_CHARS: usize = 64;

/// The start of a text, for an error to repeat.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let exact = "é".repeat(QUOTED_CHARS);
        assert_eq!(quoted(&exact), exact);
        assert_eq!(quoted(&format!("{exact}é")), format!("{exact}…"));
    }
}
