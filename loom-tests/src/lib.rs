//! Models of tollgate's lock-free code, checked by loom. `README.md` says how, how far, and what they do not show.

#[cfg(not(loom))]
compile_error!("without --cfg loom nothing would be checked: use scripts/loom, or cargo in this folder");

#[cfg(loom)]
pub mod cell;
#[cfg(loom)]
mod explore;
#[cfg(loom)]
pub mod held;
#[cfg(loom)]
pub mod log;
#[cfg(loom)]
pub mod merge;
#[cfg(loom)]
pub mod rule;
#[cfg(loom)]
mod spec;
#[cfg(loom)]
pub mod table;

#[cfg(loom)]
pub use explore::{Bounds, explore, explore_orders, run_threads};
