//! The face: limiters by key and without, reservations, leases, plans.

mod builder;
mod core;
mod direct;
mod keyed;
mod lease;
mod permits;
mod plan;
mod queue;
#[cfg(feature = "async")]
mod ready;
mod reservation;

pub(crate) use self::core::Core;
pub use builder::{DirectLimiterBuilder, LimiterBuilder};
pub use direct::DirectLimiter;
pub use keyed::Limiter;
pub use lease::Lease;
pub use permits::{Permit, Permits, Refused};
pub use plan::Plan;
pub use queue::Queue;
#[cfg(feature = "async")]
pub use ready::WaitTooLong;
pub use reservation::Reservation;
