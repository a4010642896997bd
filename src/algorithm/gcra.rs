//! Generic cell rate algorithm: cells are expected one interval of `period / limit` apart, and may come early by the time
//! of `burst - 1` of them (ITU-T I.371, annex A, virtual scheduling).

use crate::algorithm::arrival::Arrival;
use crate::error::BuildError;
use crate::quota::Rate;

/// The name it is known by.
pub(super) const NAME: &str = "gcra";

pub(super) fn new(rate: Rate) -> Result<Arrival, BuildError> {
    Arrival::new(rate)
}
