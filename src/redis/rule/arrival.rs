//! A theoretical arrival time in microseconds and parts of one, exact for every rate.

use redis::Cmd;

use crate::error::BuildError;
use crate::quota::Rate;
use crate::redis::rule::{Cost, MAX_WHOLE, NS_PER_US, Told};

/// One unit comes back each `parts_per_unit / den` microseconds.
#[derive(Clone, Debug)]
pub(in crate::redis) struct Arrival {
    parts_per_unit: u128,
    den: u128,
    capacity: u64,
    /// What the script for one cost is told of a unit, and of a full burst: whole numbers that a double holds exactly.
    unit: [f64; 2],
    full: [f64; 3],
}

impl Arrival {
    pub(super) fn new(rate: Rate) -> Result<Self, BuildError> {
        let (period_ns, limit) = (u128::from(rate.period_ns()), u128::from(rate.limit()));
        let (parts, den) = (period_ns, limit * u128::from(NS_PER_US));
        let common = greatest_common_divisor(parts, den);
        let mut arrival = Self {
            parts_per_unit: parts / common,
            den: den / common,
            capacity: rate.capacity(),
            unit: [0.0; 2],
            full: [0.0; 3],
        };
        if arrival.den > MAX_WHOLE {
            return Err(BuildError::LimitTooLarge {
                algorithm: "gcra",
                limit: rate.limit(),
                period: rate.period(),
                max: (MAX_WHOLE / u128::from(NS_PER_US)) as u64,
            });
        }
        // The time of day, and a full burst above it.
        let max = (MAX_WHOLE / 2 * arrival.den / arrival.parts_per_unit).min(u64::MAX.into()) as u64;
        if arrival.capacity > max {
            return Err(BuildError::BurstTooLarge { burst: arrival.capacity, max });
        }
        arrival.unit = arrival.span(1).map(|part| part as f64);
        arrival.full = arrival.settings().map(|part| part as f64);
        Ok(arrival)
    }

    pub(super) const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The time in which units come back: whole microseconds, and parts of one.
    pub(super) fn span(&self, units: u64) -> [u128; 2] {
        let parts = u128::from(units) * self.parts_per_unit;
        [parts / self.den, parts % self.den]
    }

    pub(super) fn settings(&self) -> [u128; 3] {
        let [us, num] = self.span(self.capacity);
        [us, num, self.den]
    }

    /// The arguments of the script for one cost: see `one_arrival.lua`.
    pub(in crate::redis) fn ask_for_one(
        &self,
        cost: u64,
        now_us: Option<u64>,
        is_charge: bool,
        command: &mut Cmd,
    ) {
        match now_us {
            Some(now_us) => command.arg(now_us),
            None => command.arg(""),
        };
        command.arg(if is_charge { "1" } else { "" });
        let span = if cost == 1 { self.unit } else { self.span(cost).map(|part| part as f64) };
        let mut packed = [0; 5 * size_of::<f64>()];
        let numbers = span.into_iter().chain(self.full);
        for (place, number) in packed.chunks_exact_mut(size_of::<f64>()).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        command.arg(&packed[..]);
    }

    /// By an arrival time.
    pub(super) fn tell(&self, [us, num]: [u64; 2], now_us: u64, cost: Cost) -> Told {
        let full = u128::from(self.capacity) * self.parts_per_unit;
        let used = u128::from(us.saturating_sub(now_us)) * self.den + u128::from(num);
        let room = (full.saturating_sub(used) / self.parts_per_unit) as u64;
        let wanted = used + u128::from(cost.units) * self.parts_per_unit;
        let after = used + u128::from(cost.pending(room)) * self.parts_per_unit;
        Told {
            room,
            retry_after_us: cut(wanted.saturating_sub(full).div_ceil(self.den)),
            reset_after_us: cut(after.div_ceil(self.den)),
        }
    }
}

/// Waits are below 300 years.
fn cut(us: u128) -> u64 {
    u64::try_from(us).unwrap_or(u64::MAX)
}

const fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::Quota;

    fn arrival(quota: Quota) -> Arrival {
        Arrival::new(quota.rate().unwrap()).unwrap()
    }

    #[test]
    fn no_interval_is_rounded() {
        let thirds = arrival(Quota::per_second(3));
        assert_eq!(thirds.span(1), [333_333, 1]);
        assert_eq!(thirds.span(3), [1_000_000, 0]);
        assert_eq!(thirds.settings(), [1_000_000, 0, 3]);
        let fine = arrival(Quota::per_second(1_000_000_000).burst(10));
        assert_eq!(fine.settings(), [0, 10, 1_000]);
    }

    #[test]
    fn what_a_double_cannot_hold_is_refused() {
        let years = Quota::new(1, crate::MAX_PERIOD);
        assert!(Arrival::new(years.rate().unwrap()).is_ok());
        let error = Arrival::new(years.burst(100).rate().unwrap()).unwrap_err();
        assert_eq!(error, BuildError::BurstTooLarge { burst: 100, max: 7 });
    }
}
