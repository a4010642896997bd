//! Which format a file is in.

use super::csv::CsvParser;
use super::{Reason, Record, clf, json};

/// The formats there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Common or combined log format.
    Clf,
    Json,
    Csv,
}

/// What a line turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Request(Record<'a>),
    /// The names of a CSV file's columns: no request, and nothing wrong.
    Header,
}

/// Reads the lines of one file.
///
/// The first line that can be read in any format decides for the rest of the file. That is safe because no line is
/// of two formats: one has its time in brackets, one starts with a brace, one with a time.
pub(crate) struct LineParser {
    format: Option<Format>,
    csv: CsvParser,
}

impl LineParser {
    /// Reads lines of `format`, or finds out which it is.
    pub(crate) fn new(format: Option<Format>) -> Self {
        Self { format, csv: CsvParser::new() }
    }

    /// Reads one line.
    pub(crate) fn parse<'a>(&mut self, line: &'a str) -> Result<Line<'a>, Reason> {
        match self.format {
            Some(format) => self.parse_as(format, line),
            None => self.detect(line),
        }
    }

    fn detect<'a>(&mut self, line: &'a str) -> Result<Line<'a>, Reason> {
        for format in [Format::Clf, Format::Json, Format::Csv] {
            if let Ok(parsed) = self.parse_as(format, line) {
                self.format = Some(format);
                return Ok(parsed);
            }
        }
        // What the format that it looks most like has to say.
        let looks_like = match line.trim_start().as_bytes().first() {
            Some(b'{') => Format::Json,
            _ if line.contains("] \"") => Format::Clf,
            _ => return Err("not combined or common log format, not JSON, not timestamp,key[,cost]"),
        };
        self.parse_as(looks_like, line)
    }

    fn parse_as<'a>(&mut self, format: Format, line: &'a str) -> Result<Line<'a>, Reason> {
        match format {
            Format::Clf => clf::parse(line).map(Line::Request),
            Format::Json => json::parse(line).map(Line::Request),
            Format::Csv => self.csv.parse(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLF: &str = r#"h - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5"#;
    const JSON: &str = r#"{"ts":1431857103,"ip":"a"}"#;
    const CSV: &str = "1431857103,a";

    #[test]
    fn the_first_line_that_can_be_read_decides() {
        for (line, others) in [(CLF, [JSON, CSV]), (JSON, [CLF, CSV]), (CSV, [CLF, JSON])] {
            let mut parser = LineParser::new(None);
            assert!(parser.parse("# a comment").is_err());
            assert!(parser.parse(line).is_ok(), "{line}");
            for other in others {
                assert!(parser.parse(other).is_err(), "{other} after {line}");
            }
            assert!(parser.parse(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_header_decides_too() {
        let mut parser = LineParser::new(None);
        assert_eq!(parser.parse("time,ip"), Ok(Line::Header));
        assert!(parser.parse(CLF).is_err());
        assert!(parser.parse(CSV).is_ok());
    }

    #[test]
    fn a_forced_format_is_the_only_one() {
        for (format, line) in [(Format::Clf, CLF), (Format::Json, JSON), (Format::Csv, CSV)] {
            for candidate in [CLF, JSON, CSV] {
                assert_eq!(
                    LineParser::new(Some(format)).parse(candidate).is_ok(),
                    candidate == line,
                    "{candidate}"
                );
            }
        }
    }

    #[test]
    fn the_reason_is_that_of_the_likely_format() {
        let reason = |line: &str| LineParser::new(None).parse(line).expect_err("a bad line");
        assert_eq!(reason("{}"), json::parse("{}").expect_err("no time"));
        assert_eq!(reason("h [x] \"y\""), clf::parse("h [x] \"y\"").expect_err("no time"));
        assert!(reason("hello").contains("timestamp,key[,cost]"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..5)) {
            let mut parser = LineParser::new(None);
            for line in lines {
                let _ = parser.parse(&String::from_utf8_lossy(&line));
            }
        }
    }
}
