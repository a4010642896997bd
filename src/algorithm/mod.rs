//! The arithmetic of limiting, as pure functions of a key's word, the time and the cost.
//!
//! A **word** is the whole state of one key in the low [`WORD_BITS`] bits of a `u64`. Nothing here knows about atomics,
//! clocks or keys: `decide(word, now, cost)` says what the next word would be and what to answer, and whoever holds the
//! word puts it there. That is what lets one loop serve every algorithm, and every rule be tested with no thread in sight.
//!
//! | name | state | worst case in any window of one period |
//! |---|---|---|
//! | `token_bucket`, `gcra`, `leaky_bucket` | one theoretical arrival time | limit + burst − 1 |
//! | `fixed_window` | window index, count | 2 · limit |
//! | `sliding_window_counter` | window index, two counts | 2 · limit − 1 |
//! | `sliding_window_log` | a word for each call that counts | limit |
//!
//! Algorithms of your own implement [`Algorithm`] and are [registered](register) under a name.

mod arrival;
mod carried;
mod custom;
mod fixed_window;
mod gcra;
mod leaky_bucket;
mod meter;
pub(crate) mod permits;
mod registry;
mod sliding_window_counter;
mod ticks;
mod token_bucket;
mod window;

pub use registry::{Settings, build, names, register};

pub(crate) use meter::{Meter, each};
pub(crate) use registry::{SLIDING_WINDOW_LOG, build_meter, check_name};

use core::fmt;
use std::sync::Arc;

use crate::decision::Decision;
use crate::error::BuildError;
use crate::quota::Rate;
use crate::time::Now;

/// Bits of a `u64` that a word may use; the stores need the others.
pub const WORD_BITS: u32 = 62;

/// The largest word.
pub const MAX_WORD: u64 = (1 << WORD_BITS) - 1;

/// One algorithm with one quota: pure arithmetic on words.
///
/// Words are ordered by time, and the stores rely on it:
///
/// * a word says nothing ("is idle") at `now` when `word + lead() <= fresh(now)`: from then on it answers like
///   `fresh(now)`, which is what allows forgetting it;
/// * `fresh` never decreases with time, and every charge makes a word larger;
/// * no word is above [`MAX_WORD`], and `fresh` is above `lead() + 1` even at time 0;
/// * every method takes any word up to [`MAX_WORD`]: 0, and what was put long ago, included.
///
/// A `now` that is too early for the word (another thread was faster, or a clock stepped back) is read as the earliest
/// time that fits the word, never as a reason to allow more. Where a word can be ahead of its time, one that is further
/// ahead than its own span and [`Now::span_ns`], and above [`Now::debt`], shows that the clock stepped back.
pub trait Algorithm: fmt::Debug + Send + Sync {
    /// The word of a key never seen, at `now`.
    fn fresh(&self, now: Now) -> u64;

    /// How far a word must be below the fresh one to be idle: 0 when every word below the fresh one is, as with a time at
    /// which the key is fresh again.
    fn lead(&self) -> u64;

    /// The earliest time in nanoseconds whose [`fresh`](Self::fresh) word is at least `word`.
    fn opening_ns(&self, word: u64) -> u64;

    /// How far ahead of its time a word can be without debt, in nanoseconds. 0, which is the default, if it cannot be.
    fn span_ns(&self) -> u64 {
        0
    }

    /// Asks for `cost` units. A cost of zero is allowed and changes nothing; a cost that can never fit is
    /// [`NeverFits`](crate::Verdict::NeverFits).
    fn decide(&self, word: u64, now: Now, cost: u64) -> Step;

    /// Takes `cost` units although they may not fit yet, and says how long to wait before using them. `Err` when they
    /// cannot be taken in advance. The default takes nothing in advance: it decides, and the wait is zero.
    ///
    /// # Errors
    /// The refusal, which says when to ask again.
    fn reserve(&self, word: u64, now: Now, cost: u64) -> Result<Reserved, Decision> {
        let step = self.decide(word, now, cost);
        if step.decision.is_allowed() {
            Ok(Reserved { word: step.word, wait_ns: 0 })
        } else {
            Err(step.decision)
        }
    }

    /// Whether units come back one by one in the order in which they were taken, so that later ones move up when earlier ones
    /// are given back. The default is true; answer false if they come back together, as those of a window do.
    ///
    /// When reservations overlap, the limiter corrects for what others have given back since: the `stamp` of a
    /// [`refund`](Self::refund) if this is true, its `units` if not. The algorithm has nothing to do.
    fn is_queue(&self) -> bool {
        true
    }

    /// The word without `units` that were taken when it was `stamp` (right after that charge; the word itself for the
    /// newest units). What has expired since then is gone and is not given back.
    fn refund(&self, word: u64, now: Now, units: u64, stamp: u64) -> u64;

    /// Takes `units` whether they fit or not: work that is done already. The word saturates at what it can hold.
    fn charge(&self, word: u64, now: Now, units: u64) -> Reserved;

    /// The same arithmetic at another rate, over the same words.
    ///
    /// # Errors
    /// When the two cannot share words, with what to write instead.
    fn with_rate(&self, rate: Rate) -> Result<Arc<dyn Algorithm>, BuildError>;
}

/// What [`Algorithm::decide`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Step {
    /// The word after the call; unchanged unless the decision is allowed and took something.
    pub word: u64,
    /// What to answer.
    pub decision: Decision,
}

/// Units taken whether they fit yet or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Reserved {
    /// The word after the charge.
    pub word: u64,
    /// How long to wait before the units may be used: how far the word is beyond a full burst.
    pub wait_ns: u64,
}
