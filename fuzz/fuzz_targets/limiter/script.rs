//! What is done, at what times, under which quota.

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use tollgate::{BuildError, DirectLimiter, MAX_PERIOD, Quota};

use crate::oracle::{ARRIVAL, NS_PER_S, Readings, per};

const MAX_PERIOD_NS: u64 = MAX_PERIOD.as_secs() * NS_PER_S;
/// A log of long windows takes a word for a few units: this keeps a script short.
const LOG_LIMIT_MAX: u64 = 1 << 12;

/// As many small numbers as large ones, above 0.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct Magnitude {
    shift: u8,
    value: u64,
}

impl Magnitude {
    fn up_to(self, max: u64) -> u64 {
        (self.value >> (self.shift % 64)).clamp(1, max)
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct AnyRate {
    limit: Magnitude,
    /// Or the time between two units.
    period_ns: Magnitude,
    is_whole: bool,
    burst: Magnitude,
}

/// A rate as plain numbers. Windows ignore the burst.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) limit: u64,
    pub(crate) period_ns: u64,
    pub(crate) burst: u64,
}

impl AnyRate {
    fn rate(self) -> Rate {
        let (limit, period_ns) = (self.limit.up_to(u32::MAX.into()), self.period_ns.up_to(MAX_PERIOD_NS));
        let burst = self.burst.up_to(u32::MAX.into());
        if self.is_whole {
            let limit = limit.min(MAX_PERIOD_NS / period_ns);
            Rate { limit, period_ns: period_ns * limit, burst }
        } else {
            Rate { limit: limit.min(period_ns), period_ns, burst }
        }
    }

    /// A rate that the algorithm takes and its model is exact for, if there is one near.
    pub(crate) fn exact_for(self, algorithm: &str) -> Option<(Rate, Quota)> {
        let Rate { mut limit, period_ns, burst } = self.rate();
        if ARRIVAL.contains(&algorithm) {
            let fits = |burst: &u64| *burst > 0 && Readings::are_exact_for(limit, period_ns, *burst);
            let burst = (0..32).map(|halvings| burst >> halvings).find(fits)?;
            return Some((Rate { limit, period_ns, burst }, per(limit, period_ns).burst(burst)));
        }
        if algorithm == "sliding_window_log" {
            limit = limit.min(LOG_LIMIT_MAX);
        }
        if let Err(BuildError::LimitTooLarge { max, .. }) =
            DirectLimiter::builder(per(limit, period_ns)).algorithm(algorithm).build()
        {
            limit = max;
        }
        (limit > 0).then(|| (Rate { limit, period_ns, burst: limit }, per(limit, period_ns)))
    }

    /// A quota for a plan beside `own`, which may be refused.
    pub(crate) fn plan(self, algorithm: &str, own: Rate) -> Quota {
        let Rate { limit, period_ns, burst } = self.rate();
        if ARRIVAL.contains(&algorithm) {
            per(limit, period_ns).burst(burst)
        } else {
            per(limit.min(LOG_LIMIT_MAX), own.period_ns)
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) to: Move,
    pub(crate) key: u8,
    pub(crate) op: Op,
}

/// What the clock does before an operation.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Move {
    Stall,
    Ahead(Magnitude),
    Back(Magnitude),
    /// By so many 20 000ths of the period, three and a bit at most.
    Part(u16),
    /// To the time that the last refusal named.
    Wait,
    /// A nanosecond before that.
    AlmostWait,
    /// To the next multiple of the period, or a nanosecond before it.
    Boundary(bool),
    To(u64),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Units {
    None,
    One,
    Exactly(Magnitude),
    /// So many 255ths of a burst.
    Part(u8),
    AboveBurst,
    All,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Op {
    Check(Units),
    Peek(Units),
    Refund(Units),
    Reset,
    /// Units that are held, and what they turn out to cost.
    Hold(Units, Units),
    /// What is held is settled: how, which, and at what cost.
    Settle(u8, u8, Units),
    /// Idle keys are forgotten.
    Forget,
}

impl Units {
    pub(crate) fn of(self, burst: u64) -> u64 {
        match self {
            Self::None => 0,
            Self::One => 1,
            Self::Exactly(units) => units.up_to(u64::MAX),
            Self::Part(part) => (u128::from(burst) * u128::from(part) / 255) as u64,
            Self::AboveBurst => burst.saturating_add(1),
            Self::All => u64::MAX,
        }
    }
}

/// A clock that follows the script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    rate: Rate,
    now_ns: u64,
    /// Goes forward only.
    is_steady: bool,
    /// The time that the last refusal named.
    pub(crate) ready_ns: u64,
}

impl Clock {
    pub(crate) fn new(rate: Rate, origin_ns: u64, is_steady: bool) -> Self {
        Self { rate, now_ns: origin_ns, is_steady, ready_ns: origin_ns }
    }

    pub(crate) fn is_steady(&self) -> bool {
        self.is_steady
    }

    pub(crate) fn step(&mut self, to: Move) -> u64 {
        let (now_ns, period_ns) = (self.now_ns, self.rate.period_ns);
        let next_ns = match to {
            Move::Stall => now_ns,
            Move::Ahead(ns) => now_ns.saturating_add(ns.up_to(1 << 60)),
            Move::Back(ns) => now_ns.saturating_sub(ns.up_to(1 << 60)),
            Move::Part(part) => {
                now_ns.saturating_add((u128::from(period_ns) * u128::from(part) / 20_000) as u64)
            }
            Move::Wait => self.ready_ns,
            Move::AlmostWait => self.ready_ns.saturating_sub(1),
            Move::Boundary(is_before) => {
                now_ns.saturating_add(period_ns - now_ns % period_ns).saturating_sub(is_before.into())
            }
            Move::To(ns) => ns,
        };
        self.now_ns = if self.is_steady { next_ns.max(now_ns) } else { next_ns };
        self.now_ns
    }
}
