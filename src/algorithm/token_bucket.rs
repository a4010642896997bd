//! Token bucket: a bucket of `burst` tokens, refilled with `limit` tokens per `period`; a call takes its cost in tokens.
//!
//! The level is never stored: it follows from the time at which the bucket will be full again, which is the
//! [arrival time](super::arrival) of the other two.

use crate::algorithm::arrival::Arrival;
use crate::error::BuildError;
use crate::quota::Rate;

/// The name it is known by.
pub(super) const NAME: &str = "token_bucket";

pub(super) fn new(rate: Rate) -> Result<Arrival, BuildError> {
    Arrival::new(rate)
}
