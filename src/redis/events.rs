//! Events of the connection, for `tracing` where that is built in.

use crate::redis::failure::Failure;

/// From now on the outage policies answer.
pub(super) fn lost(failure: &Failure) {
    #[cfg(feature = "tracing")]
    tracing::warn!(%failure, "redis lost");
    #[cfg(not(feature = "tracing"))]
    let _ = failure;
}

/// Redis answers again.
pub(super) fn recovered() {
    #[cfg(feature = "tracing")]
    tracing::info!("redis recovered");
}
