//! A rate limiter that lives inside your process.
//!
//! It never admits more than the limit allows, never locks on the decision path, never grows past the memory you gave
//! it, and says exactly when to come back.
//!
//! ```
//! use tollgate::{Limiter, Quota};
//!
//! // Ten requests a second for each client, twenty at once.
//! let limiter = Limiter::<str>::new(Quota::per_second(10).burst(20))?;
//!
//! let decision = limiter.check("203.0.113.7");
//! if decision.fits_later() {
//!     println!("429, Retry-After: {}", decision.retry_after_secs());
//! }
//! # Ok::<(), tollgate::BuildError>(())
//! ```
//!
//! # Map
//!
//! * [`Limiter`] by key, [`DirectLimiter`] without; [`Quota`] says how much, [`Decision`] what was answered.
//! * [`Reservation`] takes units before the work is done, [`Lease`] takes many for one thread: worth it for hot keys only.
//! * [`Queue`] says how long calls may wait in line, [`Permits`] how many may be at work at once.
//! * [`Limits`]: several rules on one request, all charged or none.
//! * [`algorithm`]: the arithmetic, by name; the default is `gcra`.
//! * [`clock`]: where time comes from; every method also exists with the time as an argument.
//! * [`store`]: [`Table`], the default, has fixed memory; [`Map`] keeps exact keys.
//!
//! Behind features of these names: `redis` (and `redis-tls`), the same limits on many machines; `config`, limits from a file, replaced while
//! requests are checked; `async`, waiting for a turn on any runtime; `metrics` and `tracing`, what an operator sees; `cli`, the commands.

#![deny(unsafe_code)]

pub mod algorithm;
pub mod clock;
#[cfg(feature = "config")]
pub mod config;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(all(loom, feature = "loom"))]
#[doc(hidden)]
pub mod model;
#[cfg(feature = "redis")]
pub mod redis;
pub mod store;

mod cell;
mod decision;
mod error;
mod key;
mod limiter;
mod limits;
mod log;
mod quota;
mod sync;
mod time;

pub use clock::{
    Clock, CoarseClock, CoarseClockError, DefaultClock, GuardedClock, ManualClock, StdClock, TscClock,
};
pub use decision::{Decision, Verdict};
pub use error::BuildError;
pub use key::{IpMask, IpPrefix, IpPrefixError};
#[cfg(feature = "async")]
pub use limiter::WaitTooLong;
pub use limiter::{
    DirectLimiter, DirectLimiterBuilder, Lease, Limiter, LimiterBuilder, Permit, Permits, Plan, Queue,
    Refused, Reservation,
};
pub use limits::{Bans, Counts, Denied, KeyOf, Limits, LimitsBuilder, Outcome, Rule, RuleRef, TopDenied};
pub use quota::{MAX_PERIOD, ParseQuotaError, ParseQuotaErrorKind, Quota, Rate};
pub use store::{Map, Overflow, Table};
pub use time::{MAX_NOW_NS, Now};

/// The README's code, as tests. Some of it is of Redis, and who copies it has no feature of that name in his own crate to ask for.
#[cfg(all(doctest, feature = "redis"))]
#[doc = include_str!("../README.md")]
struct Readme;
