//! Limits across machines, with real servers: each test starts its own on a free port, and stops it.

mod anywhere;
mod bad_input;
mod blocking;
mod breaker;
mod clock;
mod cluster;
mod debts;
#[cfg(feature = "tracing")]
mod events;
mod fleet;
mod leases;
#[cfg(feature = "tracing")]
#[path = "../lines/mod.rs"]
mod lines;
mod lost_reply;
mod outage;
mod precision;
mod quotas;
mod server;
mod together;
mod vectors;

use std::future::Future;

/// As a service has one.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Runs a test's future to its end.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    runtime().block_on(future)
}
