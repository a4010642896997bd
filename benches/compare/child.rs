//! Measurements that need a process of their own, lest the memory of one contender become that of the next.

use std::process::{Command, Stdio};

use clap::ValueEnum;

use crate::effort::{Effort, Sample, Samples};
use crate::rows::{inserts, memory};

/// What a child measures.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Task {
    Inserts,
    MemoryOfNumbers,
    MemoryOfTexts,
}

/// In the child: measures, and prints what was measured.
pub(crate) fn run(task: Task, contender: &str, effort: &Effort) {
    let sample = match task {
        Task::Inserts => inserts::measure_here(contender, effort),
        Task::MemoryOfNumbers => memory::measure_numbers_here(contender, effort),
        Task::MemoryOfTexts => memory::measure_texts_here(contender, effort),
    };
    println!("{}", serde_json::to_string(&(sample.values, sample.share)).unwrap());
}

/// In the parent: two figures of each contender, by figure.
pub(crate) fn compare(task: Task, contenders: &[&str], effort: &Effort) -> Vec<Vec<Samples>> {
    let names: Vec<_> = contenders.iter().map(|&name| name.to_owned()).collect();
    effort.interleave(&names, |contender, _| ask(task, contenders[contender], effort))
}

fn ask(task: Task, contender: &str, effort: &Effort) -> Sample<2> {
    let task = task.to_possible_value().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--child", task.get_name(), "--contender", contender]).stderr(Stdio::inherit());
    if effort.quick {
        command.arg("--quick");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "the child for {contender} failed: {}", output.status);
    let (values, share) = serde_json::from_slice(&output.stdout).unwrap();
    Sample { values, share }
}
