//! Where and with what it was measured.

use std::process::Command;
use std::{env, fs, thread};

use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

/// The crates whose versions matter.
const CRATES: [&str; 13] = [
    "ahash",
    "dashmap",
    "flurry",
    "governor",
    "hdrhistogram",
    "leaky-bucket",
    "papaya",
    "pingora-limits",
    "quanta",
    "ratelimit",
    "scc",
    "throttlecrab",
    "tollgate",
];

#[derive(Debug, Serialize)]
pub(super) struct Machine {
    /// In UTC.
    pub(super) date: String,
    pub(super) cpu: String,
    pub(super) cores: usize,
    pub(super) memory: String,
    pub(super) os: String,
    pub(super) rustc: String,
    /// Of the lock file that this was built with; more than one where there is more than one.
    pub(super) crates: Vec<(&'static str, String)>,
}

impl Machine {
    pub(super) fn here() -> Self {
        let unknown = || "unknown".to_owned();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            date: TimeZone::UTC.to_datetime(Timestamp::now()).date().to_string(),
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(unknown),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory: field("/proc/meminfo", "MemTotal").unwrap_or_else(unknown),
            os: format!("{} {} {}", env::consts::OS, kernel.trim(), env::consts::ARCH),
            rustc: rustc().unwrap_or_else(unknown),
            crates: CRATES.iter().map(|&name| (name, versions(name))).collect(),
        }
    }
}

/// What a file of Linux's says under a name.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The compiler that cargo would take now, which is the one that has just built this.
fn rustc() -> Option<String> {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn versions(name: &str) -> String {
    let lock = include_str!("../../../Cargo.lock");
    let header = format!("name = \"{name}\"\nversion = \"");
    let of = |package: &str| Some(package.strip_prefix(&header)?.split_once('"')?.0.to_owned());
    lock.split("[[package]]\n").filter_map(of).collect::<Vec<_>>().join(" and ")
}
