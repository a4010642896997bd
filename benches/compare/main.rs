//! How tollgate compares with what one would use instead: speed, memory and stalls, measured in one run.
//!
//! `benches/README.md` says how to run it and how to read it.

mod alloc;
mod args;
mod child;
mod contender;
mod effort;
mod keys;
mod peers;
mod processor;
mod report;
mod rows;

use clap::Parser;

use args::Args;
use effort::Effort;
use report::Outcome;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() {
    let args = Args::parse();
    let effort = Effort { rounds: args.rounds(), quick: args.is_quick() };
    if let Some(task) = args.child {
        return child::run(task, &args.contender, &effort);
    }
    if args.list {
        return args.chosen().for_each(|row| println!("{}: benchmark", row.name));
    }
    let mut outcomes = Vec::new();
    for row in args.chosen() {
        eprintln!("measuring {} ...", row.name);
        let samples = (row.measure)(&effort);
        assert_eq!(row.figures.len(), samples.len(), "figures of the row {}", row.name);
        for (figure, samples) in row.figures.iter().zip(samples) {
            let outcome = Outcome::new(row, figure, &samples);
            println!("\n{}\n{}\n{}", outcome.title(), row.what, report::table::contenders(&outcome));
            outcomes.push(outcome);
        }
    }
    if outcomes.is_empty() {
        return;
    }
    println!("\n{}", report::table::figures(&outcomes));
    if effort.quick {
        println!("Tiny sizes: it runs, but the figures say nothing.");
    } else {
        println!("{}", report::table::verdicts(&outcomes));
    }
    if let Err(error) = report::write(&args, &outcomes) {
        eprintln!("compare: the report was not written: {error}");
        std::process::exit(1);
    }
}
