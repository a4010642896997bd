//! What a quota is to a script: its settings and costs as arguments, and its reply as a decision. Pure arithmetic, in whole
//! microseconds, which is as fine as Redis tells time.

mod arrival;
mod log;
mod windows;

use arrival::Arrival;
use log::Log;
use windows::{Counting, Windowed};

use crate::algorithm::check_name;
use crate::decision::Decision;
use crate::error::BuildError;
use crate::quota::{Quota, Rate};

/// The largest whole number that Lua is sure to tell from its neighbours is `2^53`; sums of two are made.
const MAX_WHOLE: u128 = 1 << 52;

/// The latest time that scripts are told, in the year 2112: with two full bursts above it they are still exact.
pub(super) const MAX_TIME_US: u64 = MAX_WHOLE as u64;

const NS_PER_US: u64 = 1_000;

/// A quota and an algorithm, as the scripts know them.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    Unlimited,
    Blocked,
    Arrival(Arrival),
    Window(Windowed),
    Log(Log),
}

/// Which part of the script a rule needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Arrival,
    FixedWindow,
    SlidingWindowCounter,
    SlidingWindowLog,
}

impl Part {
    /// Its name in the script.
    pub(super) const fn letter(self) -> &'static str {
        match self {
            Self::Arrival => "a",
            Self::FixedWindow => "f",
            Self::SlidingWindowCounter => "c",
            Self::SlidingWindowLog => "l",
        }
    }
}

impl Rule {
    pub(super) fn new(quota: Quota, algorithm: &str, offset_us: u64) -> Result<Self, BuildError> {
        quota.validate()?;
        let Some(rate) = quota.rate() else {
            check_name(algorithm)?;
            return Ok(if quota.is_blocked() { Self::Blocked } else { Self::Unlimited });
        };
        Ok(match algorithm {
            "token_bucket" | "gcra" | "leaky_bucket" => Self::Arrival(Arrival::new(rate)?),
            "fixed_window" => Self::Window(Windowed::new(Counting::Fixed, rate, offset_us)?),
            "sliding_window_counter" => Self::Window(Windowed::new(Counting::Sliding, rate, offset_us)?),
            "sliding_window_log" => Self::Log(Log::new(rate)?),
            other => {
                return Err(BuildError::Other(format!(
                    "no script is written for algorithm {other:?}: write token_bucket, gcra, leaky_bucket, fixed_window, \
                     sliding_window_counter or sliding_window_log"
                )));
            }
        })
    }

    /// The part of the script that it needs; `None` where nothing has to be asked.
    pub(super) const fn part(&self) -> Option<Part> {
        match self {
            Self::Unlimited | Self::Blocked => None,
            Self::Arrival(_) => Some(Part::Arrival),
            Self::Window(window) => Some(window.part()),
            Self::Log(_) => Some(Part::SlidingWindowLog),
        }
    }

    /// What is in keys for the algorithm. With windows of another length, or that start at another time, it is another: a count has one window only,
    /// which two that take turns would begin anew each time. And so it is with a burst that takes longer or shorter to come back: what is further ahead than the
    /// shorter is cut, as after a step of the clock, and would be there for the longer to take.
    pub(super) fn name(&self) -> String {
        let letter = self.part().map_or("", Part::letter);
        match self {
            Self::Unlimited | Self::Blocked => letter.to_owned(),
            Self::Arrival(arrival) => format!("{letter}{}", arrival.settings()[0]),
            Self::Window(window) => match window.settings() {
                [period_us, 0, _] => format!("{letter}{period_us}"),
                [period_us, shift_us, _] => format!("{letter}{period_us}-{shift_us}"),
            },
            Self::Log(log) => format!("{letter}{}", log.settings()[0]),
        }
    }

    /// The largest cost that ever fits.
    pub(super) const fn capacity(&self) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            Self::Blocked => 0,
            Self::Arrival(arrival) => arrival.capacity(),
            Self::Window(window) => window.limit(),
            Self::Log(log) => log.limit(),
        }
    }

    /// The answer that needs no store: to a rule without a rate.
    pub(super) const fn without_store(&self, cost: u64) -> Option<Decision> {
        match self {
            Self::Unlimited => Some(Decision::allowed(cost, u64::MAX, u64::MAX, 0)),
            Self::Blocked if cost == 0 => Some(Decision::allowed(0, 0, 0, 0)),
            Self::Blocked => Some(Decision::never_fits(0, 0, 0)),
            _ => None,
        }
    }

    /// The arguments of one rule: its part, its settings, and the costs of which the first that fits is to be charged.
    pub(super) fn arguments(&self, costs: &[u64], arguments: &mut Vec<String>) {
        let Some(part) = self.part() else { return };
        arguments.push(part.letter().to_owned());
        match self {
            Self::Arrival(arrival) => arguments.extend(arrival.settings().map(|number| number.to_string())),
            Self::Window(window) => arguments.extend(window.settings().map(|number| number.to_string())),
            Self::Log(log) => arguments.extend(log.settings().map(|number| number.to_string())),
            Self::Unlimited | Self::Blocked => {}
        }
        arguments.push(costs.len().to_string());
        for &cost in costs {
            match self {
                Self::Arrival(arrival) => {
                    arguments.extend(arrival.span(cost).map(|number| number.to_string()))
                }
                _ => arguments.push(cost.to_string()),
            }
        }
    }

    /// What units are known by that this state was told of when they were charged: see `give_back` in the scripts.
    pub(super) fn mark(&self, state: &[u64]) -> Option<[u64; 2]> {
        match (self, state) {
            (Self::Arrival(_), &[us, _, returned]) => Some([us, returned]),
            (Self::Window(_), &[start, ..]) => Some([start, 0]),
            (Self::Log(_), &[_, newest_us, _, after_last]) => Some([newest_us, after_last]),
            _ => None,
        }
    }

    /// The decision on a cost, by the state that the script told: with the units charged already, if they were.
    pub(super) fn decision(
        &self,
        state: &[u64],
        now_us: u64,
        cost: u64,
        is_charged: bool,
    ) -> Option<Decision> {
        let cost = Cost { units: cost, is_charged };
        let told = match (self, state) {
            (Self::Arrival(arrival), &[us, num, _]) => arrival.tell([us, num], now_us, cost),
            (Self::Window(window), state) => window.tell(state, now_us, cost)?,
            (Self::Log(log), &[used, newest_us, fits_at_us, _]) => {
                log.tell([used, newest_us, fits_at_us], now_us, cost)
            }
            _ => return None,
        };
        Some(told.decision(self.capacity(), cost))
    }
}

/// What is asked for, and whether the state has it already.
#[derive(Clone, Copy)]
struct Cost {
    units: u64,
    is_charged: bool,
}

impl Cost {
    /// What is still to be added to a state with so much room: an answer that allows tells what is left behind it, even if
    /// it was a look only, or another rule refused.
    const fn pending(self, room: u64) -> u64 {
        if self.is_charged || self.units > room { 0 } else { self.units }
    }
}

/// What a state says of a cost.
struct Told {
    /// Before what is pending.
    room: u64,
    retry_after_us: u64,
    /// After what is pending.
    reset_after_us: u64,
}

impl Told {
    fn decision(self, limit: u64, cost: Cost) -> Decision {
        let ns = |us: u64| us.saturating_mul(NS_PER_US);
        let (room, reset_after_ns) = (self.room, ns(self.reset_after_us));
        if cost.is_charged || cost.units <= room {
            Decision::allowed(cost.units, limit, room - cost.pending(room), reset_after_ns)
        } else if cost.units > limit {
            Decision::never_fits(limit, room, reset_after_ns)
        } else {
            Decision::denied(limit, room, ns(self.retry_after_us), reset_after_ns)
        }
    }
}

/// A period in whole microseconds.
fn whole_us(algorithm: &'static str, rate: Rate) -> Result<u64, BuildError> {
    let period_ns = rate.period_ns();
    if let Some(burst) = rate.burst() {
        return Err(BuildError::BurstOnWindow { algorithm, burst });
    }
    if !period_ns.is_multiple_of(NS_PER_US) {
        return Err(BuildError::Other(format!(
            "Redis tells microseconds, and {algorithm} has windows of {:?}: write a whole number of microseconds, or use gcra",
            rate.period()
        )));
    }
    Ok(period_ns / NS_PER_US)
}

/// A limit that the scripts can count.
fn limit(algorithm: &'static str, rate: Rate, max: u64) -> Result<u64, BuildError> {
    let limit = rate.limit();
    if limit > max {
        return Err(BuildError::LimitTooLarge { algorithm, limit, period: rate.period(), max });
    }
    Ok(limit)
}
