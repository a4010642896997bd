//! The arguments of the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;
use tollgate::Quota;

use crate::input::Format;
use crate::key::KeySpec;

const EXAMPLES: &str = "\
Examples:
  tollgate replay --limit 100/min access.log
  tollgate replay --limit 10/s --limit '10/s burst 50' --key ip/24/56 access.log.1.gz access.log
  tollgate replay --rules rules.toml access.log
  zcat logs/*.gz | tollgate replay --limit 1000000/min --cost bytes --output json -
  tollgate synth --lines 10000 --seed 7 | tollgate replay --limit 30/min -";

const REPLAY_HELP: &str = "\
Formats (the first line that can be read decides, for each file):
  combined, common   host ident user [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 123 ...
                     further fields are ignored; a virtual host in front (host:port) is skipped
  json               one object a line; of several names the first one present counts:
                       time    timestamp, time, ts, @timestamp, time_iso8601, time_local, msec
                       ip      ip, remote_addr, client_ip; else key
                       user    user, remote_user
                       method  method, request_method; else the first word of request
                       path    path, uri, request_uri; else the second word of request
                       bytes   bytes, body_bytes_sent, size, cost
  csv                timestamp,key[,cost], with or without a header; its key serves any --key
Times are RFC 3339 (2015-05-17T10:05:03Z) or Unix numbers: seconds, or milli-, micro- or
nanoseconds, told apart by their size; a fraction is kept to the nanosecond.
A line that cannot be read, or has no field that --key or --cost needs, is counted as unparsed and
the first few are shown; without a user, the user is -. Blank lines do not count.

Exit codes: 0 the log was replayed; 1 the report could not be written; 2 an argument is wrong, a
file could not be read whole, or no line of the log could be read.";

const RULES_EXAMPLES: &str = "\
Examples:
  tollgate check-rules rules.toml
  tollgate replay --rules rules.toml access.log

Exit codes: 0 the rules are right; 1 they could not be written out; 2 they are not right, or could not be
read: then nothing of the file is in force.";

const SYNTH_EXAMPLES: &str = "\
Examples:
  tollgate synth --lines 100000 --clients 5000 --rate 200 > made-up.log
  tollgate synth --seed 7 | tollgate replay --limit 30/min -";

const BENCH_HELP: &str = "\
Rows:
  one key, 1,000 keys, ...  one at a time, in random order, each admitted
  in batches                the same, 32 keys at a time
  denials of one key        each refused
  without keys              one limit for all callers
  without keys, leased      the same, each thread on a lease of its own
Columns:
  ns                        of a decision in one of the threads: the median of
                            several samples; on one thread without the times at
                            which the system interrupted it, on several with them
  floor ns                  what such a decision cannot do without, measured in
                            the same way: a clock read (one for each batch, none
                            for a lease), a hash of the key if there is one, and
                            a line of memory read and, unless refused, written
The floor checks nothing, and each thread writes plain memory of its own. The
memory of a limiter is shared and written by atomic operations, which wait for
each other even on one thread: batches show it most.
Let nothing else run meanwhile. `cargo bench` compares with other limiters.";

const BENCH_EXAMPLES: &str = "\
Examples:
  tollgate bench
  tollgate bench --seconds 20 --json";

/// The longest measurement, within which no quota of it is used up.
const SECONDS_MAX: f64 = 600.0;

/// Replay access logs against rate limits, make up logs to try them on, and measure decisions.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Replay(ReplayArgs),
    CheckRules(CheckRulesArgs),
    Synth(SynthArgs),
    Bench(BenchArgs),
}

/// Report what limits would have allowed and denied of the requests in access logs.
///
/// Every request is decided by the real limiter, at the time that the log gives it. Several limits
/// and algorithms are compared in one pass: each limit with each algorithm.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{REPLAY_HELP}\n\n{EXAMPLES}"))]
pub(crate) struct ReplayArgs {
    /// A limit to try, such as 10/min, '10/s burst 20', 5/10s; may be given several times.
    #[arg(
        long = "limit",
        short = 'l',
        value_name = "QUOTA",
        required_unless_present = "rules",
        allow_hyphen_values = true
    )]
    pub(crate) limits: Vec<Quota>,

    /// A file of rules to try instead, as `check-rules` takes it: all of them on every request.
    ///
    /// Paths are matched as the log spells them, without their query. `bytes` is the only number that a rule may take for
    /// its cost. A log names no plan and no attribute, so rules that ask for one are not asked, and are named.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["limits", "algorithms", "key", "cost"])]
    pub(crate) rules: Option<PathBuf>,

    /// An algorithm to try, by name; may be given several times.
    #[arg(long = "algorithm", short = 'a', value_name = "NAME", default_value = "gcra")]
    pub(crate) algorithms: Vec<String>,

    /// Who is limited: ip, ip/64, ip/24, user, path, method, or several joined (ip,path).
    ///
    /// `ip` is one client, as the library's IpPrefix: the IPv4 address, or the first 64 bits of the IPv6
    /// address; an IPv4-mapped IPv6 address is the IPv4 one. `ip/48` and `ip/128` cut IPv6 addresses
    /// elsewhere, `ip/24` cuts IPv4 addresses (up to 32 means IPv4, more means IPv6), `ip/24/48` does both.
    /// A host name is taken as it is, and a path is cut before its `?`. In a joined key, a comma or a
    /// backslash within a part has a backslash in front.
    #[arg(long, short = 'k', value_name = "KEY", default_value = "ip")]
    pub(crate) key: KeySpec,

    /// What a request costs: 1, or the bytes of its response (in CSV, the cost column).
    ///
    /// A request of 0 bytes is allowed and charges nothing; one that costs more than the limit can ever
    /// hold is denied.
    #[arg(long, value_enum, default_value = "1")]
    pub(crate) cost: Cost,

    /// A report to read, or one JSON object with the same numbers.
    #[arg(long, short = 'o', value_enum, default_value = "text")]
    pub(crate) output: Output,

    /// Decide in the order of the files' lines, not of their times.
    #[arg(long)]
    pub(crate) as_written: bool,

    /// Threads to use [default: one per core]. At most 256 are started. The result is the same for any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Check a file of rules, and say what is in it.
///
/// All that is wrong is told, by line.
#[derive(Debug, Args)]
#[command(after_help = RULES_EXAMPLES)]
pub(crate) struct CheckRulesArgs {
    /// TOML, or by its ending YAML or JSON; - is TOML from standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// The log to read.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// How the lines are written; auto looks at each file.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) format: FormatArg,

    /// Access logs, plain, gzip or zstd; - is standard input. Several files are one log.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Write a made-up access log in combined format to standard output.
///
/// Few of the clients make most of the requests (Zipf's law), there is one burst of traffic, and one
/// client is abusive. The same arguments give the same bytes on every machine.
#[derive(Debug, Args)]
#[command(after_help = SYNTH_EXAMPLES)]
pub(crate) struct SynthArgs {
    /// How many requests to write.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) lines: u64,

    /// Another seed is another log.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many clients make them, from 1 to 1000000.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) clients: u32,

    /// The time of the first request; all of them must lie between 1970 and 2043.
    #[arg(long, value_name = "RFC3339", default_value = "2026-01-01T00:00:00Z")]
    pub(crate) start: Timestamp,

    /// Requests per second outside the burst, on average, from 1 to 1000000.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate: u32,
}

/// Measure how fast decisions are on this machine, beside what it could do at best.
///
/// Decisions per second with few and many keys, one by one and in batches, admitted and refused, on one
/// thread and on as many as there are cores.
#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLES, after_long_help = format!("{BENCH_HELP}\n\n{BENCH_EXAMPLES}"))]
pub(crate) struct BenchArgs {
    /// How long to measure in all, up to 600 seconds. Making and filling the limiters comes on top.
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds)]
    pub(crate) seconds: Duration,

    /// One JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds, such as 5 or 0.5".to_owned())?;
    if !(number > 0.0 && number <= SECONDS_MAX) {
        return Err(format!("more than 0 and at most {SECONDS_MAX} seconds can be measured"));
    }
    Ok(Duration::from_secs_f64(number))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cost {
    /// Every request costs one unit.
    #[value(name = "1")]
    One,
    /// Every request costs the bytes of its response.
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    Auto,
    Combined,
    Common,
    Json,
    Csv,
}

impl FormatArg {
    /// The format that is forced, if one is.
    pub(crate) fn forced(self) -> Option<Format> {
        match self {
            Self::Auto => None,
            // Combined only adds fields at the end, which are not read.
            Self::Combined | Self::Common => Some(Format::Clf),
            Self::Json => Some(Format::Json),
            Self::Csv => Some(Format::Csv),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Text,
    Json,
}
