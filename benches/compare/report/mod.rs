//! What came out, and where it is shown.

mod chart;
mod machine;
mod number;
mod outcome;
mod record;
pub(crate) mod table;

use std::fs;
use std::io;
use std::path::Path;

pub(crate) use outcome::{Outcome, Verdict};

use crate::args::Args;
use record::Record;

/// Writes the results beside cargo's other products, and into the repository when they are to be kept.
pub(crate) fn write(args: &Args, outcomes: &[Outcome]) -> io::Result<()> {
    let record = Record::new(args, outcomes);
    let kept = args
        .record
        .then(|| (Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/record"), record.machine.date.clone()));
    let scratch = (Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned(), "compare".to_owned());
    for (folder, name) in [scratch].into_iter().chain(kept) {
        fs::create_dir_all(&folder)?;
        for (extension, text) in [
            ("json", serde_json::to_string_pretty(&record)? + "\n"),
            ("md", record.markdown(&name)),
            ("svg", chart::draw(outcomes).map_err(io::Error::other)?),
        ] {
            let path = folder.join(&name).with_extension(extension);
            fs::write(&path, text)?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}
