//! One limit on many machines, by Redis or Valkey. Behind the feature `redis`.
//!
//! * [`Redis`] is the server, [`RedisLimiter`] a rule, [`Answer`] what it says and who said it.
//! * [`charge_all`] takes units of several limiters, all or none.
//! * [`Mode`] says whether Redis decides each time, or this process of units taken in advance.
//! * [`Blocking`] asks without `await`.
//! * [`Outage`] is what answers while Redis does not.

mod address;
mod answer;
mod blocking;
mod builder;
mod charge;
mod core;
mod counts;
mod events;
mod failure;
mod key;
mod lease;
mod limiter;
mod link;
mod outage;
mod reply;
mod rule;
mod script;
mod store;

pub use answer::{Answer, Source};
pub use blocking::{Blocking, BlockingRedisLimiter};
pub use builder::{Mode, RedisLimiterBuilder};
pub use charge::{Answers, Charge, charge_all};
pub use counts::Counts;
pub use failure::Failure;
pub use key::RedisKey;
pub use limiter::RedisLimiter;
pub use outage::Outage;
pub use store::{Redis, RedisBuilder};
