//! Leaky bucket as a meter: a bucket of depth `burst` leaks `limit` units per `period`; a call pours its cost in and is
//! refused when the bucket would overflow. (As a queue that delays calls, it is a different thing.)

use crate::algorithm::arrival::Arrival;
use crate::error::BuildError;
use crate::quota::Rate;

/// The name it is known by.
pub(super) const NAME: &str = "leaky_bucket";

pub(super) fn new(rate: Rate) -> Result<Arrival, BuildError> {
    Arrival::new(rate)
}
