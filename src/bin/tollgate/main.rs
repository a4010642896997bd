//! The `tollgate` command: what a limit would have done to the traffic in an access log, and how fast decisions are here.

mod args;
mod bench;
mod failure;
mod input;
mod key;
mod printable;
mod replay;
mod report;
mod rules;
mod synth;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Replay(args) => replay::command(&args),
        Command::CheckRules(args) => rules::check(&args),
        Command::Synth(args) => synth::command(&args),
        Command::Bench(args) => bench::command(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
