//! Events for who operates limits, by the `tracing` facade; nothing without the feature of that name.

use core::time::Duration;

use crate::quota::Quota;

/// A rule has another quota.
pub(super) fn requoted(rule: &str, old: Quota, new: Quota) {
    if old != new {
        #[cfg(feature = "tracing")]
        tracing::info!(rule, %old, %new, "quota changed");
        #[cfg(not(feature = "tracing"))]
        let _ = rule;
    }
}

/// A rule counts only, or refuses, from now on.
pub(super) fn shadowed(rule: &str, is_shadow: bool) {
    #[cfg(feature = "tracing")]
    tracing::info!(rule, is_shadow, "shadow changed");
    #[cfg(not(feature = "tracing"))]
    let _ = (rule, is_shadow);
}

/// Rules were put together, or put in the place of others.
pub(super) fn built<'a>(rules: impl Iterator<Item = &'a str>) {
    #[cfg(feature = "tracing")]
    tracing::info!(rules = ?rules.collect::<Vec<_>>(), "limits built");
    #[cfg(not(feature = "tracing"))]
    let _ = rules;
}

/// A key was banned, or there was no room for the ban.
pub(super) fn banned(duration: Duration, has_room: bool) {
    #[cfg(feature = "tracing")]
    match has_room {
        true => tracing::info!(?duration, "key banned"),
        false => tracing::warn!(?duration, "no room for a ban"),
    }
    #[cfg(not(feature = "tracing"))]
    let _ = (duration, has_room);
}

/// A ban was lifted.
pub(super) fn unbanned() {
    #[cfg(feature = "tracing")]
    tracing::info!("ban lifted");
}
