//! A file of rules: `tollgate check-rules`, and `tollgate replay --rules`.

mod log;
mod report;

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;

use tollgate::config::Config;
use tollgate::{Limits, ManualClock};

use crate::args::{CheckRulesArgs, Output, ReplayArgs};
use crate::failure::Failure;
use crate::input;
use crate::replay::Reading;
use crate::report::text::write_complaints;

use log::{Call, Log};
use report::{Report, RuleReport};

/// Runs `tollgate check-rules`.
pub(crate) fn check(args: &CheckRulesArgs) -> Result<(), Failure> {
    let config = read(&args.file)?;
    let mut out = io::stdout().lock();
    write!(out, "{config}")?;
    out.flush()?;
    Ok(())
}

/// Runs `tollgate replay --rules`: every request in the order of time, as rules may count all clients together.
pub(crate) fn replay(file: &Path, args: &ReplayArgs) -> Result<(), Failure> {
    let is_stdin = |path: &Path| path.as_os_str() == input::STDIN;
    if is_stdin(file) && args.log.files.iter().any(|log| is_stdin(log)) {
        return Err(Failure::Input("standard input is the rules or the log: name a file for one".to_owned()));
    }
    let config = read(file)?;
    let limits = config
        .add_to(Limits::builder().clock(ManualClock::new(0)))
        .build()
        .map_err(|error| Failure::Input(format!("cannot keep {}: {error}", file.display())))?;
    let mut log = Log::default();
    let reading = Reading::of(&args.log, |record| log.take(record))?;
    if !args.as_written {
        log.sort();
    }
    let report = decide(&limits, log, reading);
    match args.output {
        Output::Json => report.write_json(io::stdout().lock())?,
        Output::Text => {
            // Who has closed standard error still wants the report.
            let _ = write_complaints(&report.reading, io::stderr().lock());
            let _ = report.write_unasked(io::stderr().lock());
            report.write_text(anstream::stdout().lock())?;
        }
    }
    Ok(())
}

fn decide(limits: &Limits<Call, ManualClock>, log: Log, reading: Reading) -> Report {
    let mut denied = 0;
    // By the rule's name, whom it has denied.
    let mut denials: BTreeSet<(&str, Option<usize>)> = BTreeSet::new();
    for (time_ns, call) in log.calls() {
        let outcome = limits.check_at(&call, time_ns);
        if outcome.is_denied() {
            denied += 1;
            denials.insert((outcome.rule().unwrap_or_default(), call.client_index()));
        }
    }
    let rules = limits.rules().map(|rule| {
        let clients = denials.iter().filter(|&&(name, _)| name == rule.name()).count();
        RuleReport::new(rule.name(), rule.quota(), rule.counts().unwrap_or_default(), clients)
    });
    // A list that denied nobody, and may be empty, is not shown.
    let rules = rules.filter(|rule| !rule.is_list || rule.denied > 0).collect();
    Report { denied, rules, reading }
}

/// The rules of a file, or all that is wrong with it.
fn read(file: &Path) -> Result<Config, Failure> {
    let mut text = String::new();
    let done = if file.as_os_str() == input::STDIN {
        io::stdin().lock().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(file).map(|read| text = read)
    };
    let name = file.display();
    done.map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
    Config::from_named(file, &text).map_err(|error| {
        let lines =
            error.mistakes().iter().map(|mistake| format!("{name}:{}: {}", mistake.line, mistake.message));
        let lines: Vec<_> = lines.collect();
        Failure::Input(format!("{name} is not in force\n{}", lines.join("\n")))
    })
}
