//! The models. `README.md` says what each is for.
#![cfg(loom)]

mod cell;
mod clock;
#[cfg(not(feature = "shuttle"))]
mod hole;
#[cfg(feature = "shuttle")]
mod large;
mod leases;
mod log_admit;
mod log_give_back;
mod log_rings;
mod permits;
mod refusal;
mod reservations;
mod table_abandoned;
mod table_full;
mod table_insert;
mod table_reclaim;
mod table_refund;
mod table_spread;
mod table_windows;
