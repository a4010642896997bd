//! The exact log, of which a script tells the units that count and when the cost fits.

use crate::error::BuildError;
use crate::quota::Rate;
use crate::redis::rule::{Cost, Told, limit, whole_us};

const NAME: &str = "sliding_window_log";

/// As in process.
const MAX_UNITS: u64 = crate::log::MAX_UNITS;

#[derive(Clone, Debug)]
pub(in crate::redis) struct Log {
    window_us: u64,
    limit: u64,
}

impl Log {
    pub(super) fn new(rate: Rate) -> Result<Self, BuildError> {
        Ok(Self { window_us: whole_us(NAME, rate)?, limit: limit(NAME, rate, MAX_UNITS)? })
    }

    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn settings(&self) -> [u64; 2] {
        [self.window_us, self.limit]
    }

    /// By the units that count, the newest entry, and the one by whose end the cost fits.
    pub(super) fn tell(&self, [used, newest_us, fits_at_us]: [u64; 3], now_us: u64, cost: Cost) -> Told {
        let room = self.limit.saturating_sub(used);
        let until_us = |stamp_us: u64| stamp_us.saturating_add(self.window_us).saturating_sub(now_us);
        let newest_us = if cost.pending(room) > 0 { newest_us.max(now_us) } else { newest_us };
        Told {
            room,
            retry_after_us: if cost.units <= room { 0 } else { until_us(fits_at_us) },
            reset_after_us: if used + cost.pending(room) == 0 { 0 } else { until_us(newest_us) },
        }
    }
}
