//! Logs read line by line: what can be read is handed on, and what cannot is counted.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::LogArgs;
use crate::failure::Failure;
use crate::input::{self, Format, Line, LineParser, Lines, RawLine, Reason, Record};
use crate::printable::printable;
use crate::report;

/// Smaller logs are read before a progress bar could be looked at.
const PROGRESS_MIN_BYTES: u64 = 64 << 20;
/// As many bad lines are shown.
const COMPLAINTS_MAX: usize = 5;
/// As much of a bad line is shown.
const EXCERPT_CHARS: usize = 60;

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    file: String,
    line: u64,
    reason: Reason,
    excerpt: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)?;
        if self.excerpt.is_empty() { Ok(()) } else { write!(f, ": {}", self.excerpt) }
    }
}

/// How many requests were read, and which lines were none.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) requests: u64,
    pub(crate) unparsed: u64,
    /// The first ones.
    pub(crate) complaints: Vec<Complaint>,
}

impl Reading {
    /// Reads all files as one log. `take` keeps a request, or says what is missing.
    pub(crate) fn of(
        args: &LogArgs,
        mut take: impl FnMut(&Record<'_>) -> Result<(), Reason>,
    ) -> Result<Self, Failure> {
        let failed = |path: &Path, error: io::Error| {
            Failure::Input(format!("cannot read {}: {error}", path.display()))
        };
        if args.files.iter().filter(|path| path.as_os_str() == input::STDIN).count() > 1 {
            return Err(Failure::Input("standard input (-) can be read only once".into()));
        }
        let mut total_bytes = 0_u64;
        for path in &args.files {
            total_bytes = total_bytes.saturating_add(input::size(path).map_err(|error| failed(path, error))?);
        }
        let progress = progress_bar(total_bytes);
        let mut reading = Self::default();
        for path in &args.files {
            let name = if path.as_os_str() == input::STDIN {
                "standard input".into()
            } else {
                path.display().to_string()
            };
            let reader = input::open(path, &progress).map_err(|error| failed(path, error))?;
            reading
                .read(&name, reader, args.format.forced(), &mut take)
                .map_err(|error| failed(path, error))?;
        }
        progress.finish_and_clear();
        if reading.requests > 0 { Ok(reading) } else { Err(reading.nothing()) }
    }

    /// Adds the requests of one file. Blank lines are neither requests nor unparsed.
    pub(super) fn read(
        &mut self,
        file: &str,
        reader: impl BufRead,
        format: Option<Format>,
        mut take: impl FnMut(&Record<'_>) -> Result<(), Reason>,
    ) -> io::Result<()> {
        let mut lines = Lines::new(reader);
        let mut parser = LineParser::new(format);
        while let Some((number, raw)) = lines.next_line()? {
            let RawLine::Text(bytes) = raw else {
                self.complain(file, number, "longer than a mebibyte", "");
                continue;
            };
            let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
            // Editors of some systems put a byte order mark first.
            let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { &text };
            if text.trim().is_empty() {
                continue;
            }
            let taken = parser.parse(text).and_then(|line| match line {
                Line::Header => Ok(0),
                Line::Request(record) => take(&record).map(|()| 1),
            });
            match taken {
                Ok(requests) => self.requests += requests,
                Err(reason) => self.complain(file, number, reason, text),
            }
        }
        Ok(())
    }

    fn complain(&mut self, file: &str, line: u64, reason: Reason, text: &str) {
        self.unparsed += 1;
        if self.complaints.len() < COMPLAINTS_MAX {
            let excerpt = printable(text.trim(), EXCERPT_CHARS);
            self.complaints.push(Complaint { file: file.to_owned(), line, reason, excerpt });
        }
    }

    fn nothing(&self) -> Failure {
        let mut message = String::from("no line of the log could be read as a request\n");
        for complaint in &self.complaints {
            message.push_str(&format!("  {complaint}\n"));
        }
        message.push_str(report::text::EXPECTED);
        Failure::Input(message)
    }
}

fn progress_bar(total_bytes: u64) -> ProgressBar {
    if total_bytes < PROGRESS_MIN_BYTES || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {eta}")
        .expect("a template of known words");
    ProgressBar::new(total_bytes).with_style(style)
}
