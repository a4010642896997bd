//! Any bytes are an access log: each line is a request with a time that a limiter tells apart, or a complaint that can be
//! shown.
//!
//! The readers are modules of the command line, which is a binary and exports nothing. They are included as files: at the
//! root of this crate `input`, `key` and `printable` find each other as they do there, and the library's API stays as it is.
//! `read` goes as `Reading::read` of the command line does, which needs more of it than can be included.

#![no_main]

#[allow(dead_code, unused_imports, reason = "the command line uses the rest")]
#[path = "../../src/bin/tollgate/input/mod.rs"]
mod input;
#[path = "../../src/bin/tollgate/key.rs"]
mod key;
#[path = "../../src/bin/tollgate/printable.rs"]
mod printable;

use std::io::{BufRead, BufReader};

use libfuzzer_sys::fuzz_target;
use unicode_width::UnicodeWidthStr;

use input::{Format, Line, LineParser, Lines, RawLine};
use key::KeySpec;

const FORMATS: [Option<Format>; 4] = [None, Some(Format::Clf), Some(Format::Json), Some(Format::Csv)];
const KEYS: [&str; 4] = ["ip/24", "ip,path", "user", "method,user,ip/0/56,path"];
const EXCERPT_CHARS: usize = 60;

fn read(reader: impl BufRead, format: Option<Format>, spec: &KeySpec) {
    let (mut lines, mut parser, mut key) = (Lines::new(reader), LineParser::new(format), String::new());
    while let Some((_, raw)) = lines.next_line().expect("memory does not fail") {
        let RawLine::Text(bytes) = raw else { continue };
        let text = String::from_utf8_lossy(bytes);
        match parser.parse(&text) {
            Ok(Line::Header) => {}
            Ok(Line::Request(record)) => {
                assert!(record.time_ns <= tollgate::MAX_NOW_NS);
                if let Err(reason) = spec.write(&record, &mut key) {
                    assert!(!reason.is_empty());
                }
            }
            Err(reason) => {
                assert!(!reason.is_empty());
                let shown = printable::printable(text.trim(), EXCERPT_CHARS);
                assert!(shown.width() <= EXCERPT_CHARS && !shown.chars().any(char::is_control));
            }
        }
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, log) = input;
    let (format, spec) = (FORMATS[usize::from(choice % 4)], KEYS[usize::from(choice / 4 % 4)]);
    // A small buffer, so that lines cross its end.
    read(
        BufReader::with_capacity(16, log),
        format,
        &spec.parse().expect("a key that the command line knows"),
    );
});
