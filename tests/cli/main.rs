//! The command line from outside: arguments in, text and exit codes out.

mod bench;
mod errors;
mod formats;
mod keys;
mod order;
mod report;
mod rules;
mod support;
mod synth;
