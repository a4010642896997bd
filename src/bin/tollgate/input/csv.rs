//! `timestamp,key[,cost]`, with or without a header that names the columns in any order.

use std::borrow::Cow;

use csv_core::{ReadRecordResult, Reader};

use super::{Line, Reason, Record, byte_count, json::TIME_NAMES, time};

const KEY_NAMES: [&str; 4] = ["key", "ip", "remote_addr", "client_ip"];
const COST_NAMES: [&str; 4] = ["cost", "bytes", "body_bytes_sent", "size"];

/// The columns of a file, and the buffers that its lines are taken apart in.
///
/// A line is a row: a line break inside quotes is not supported, because it would let one stray quote swallow the
/// rest of a log.
pub(super) struct CsvParser {
    columns: Columns,
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    time: usize,
    key: usize,
    cost: Option<usize>,
}

impl CsvParser {
    pub(super) fn new() -> Self {
        Self {
            columns: Columns { time: 0, key: 1, cost: Some(2) },
            reader: Reader::new(),
            text: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Reads one line: a request, or a header.
    pub(super) fn parse(&mut self, line: &str) -> Result<Line<'static>, Reason> {
        let Columns { time, key, cost } = self.columns;
        let row = self.split(line)?;
        let first = row.get(time).ok_or("no timestamp column")?;
        let Some(time_ns) = time::parse(first) else {
            self.columns =
                header(&row).ok_or("the timestamp is neither RFC 3339 nor a Unix number in range")?;
            return Ok(Line::Header);
        };
        let key = row.get(key).ok_or("no key column")?;
        let bytes = match cost.and_then(|column| row.get(column)) {
            Some(text) => Some(byte_count(text.trim()).ok_or("the cost is not a whole number")?),
            None => None,
        };
        let key = Some(Cow::Owned(key.to_owned()));
        Ok(Line::Request(Record { time_ns, key, bytes, ..Record::default() }))
    }

    fn split(&mut self, line: &str) -> Result<Row<'_>, Reason> {
        // What comes out is never longer than what goes in, and a field takes at least its comma.
        self.text.resize(line.len() + 1, 0);
        self.ends.resize(line.len() + 1, 0);
        self.reader.reset();
        let (mut read, mut written, mut fields) = (0, 0, 0);
        // Twice: an empty input is how the reader is told that the line is over.
        for _ in 0..2 {
            let (result, r, w, f) = self.reader.read_record(
                &line.as_bytes()[read..],
                &mut self.text[written..],
                &mut self.ends[fields..],
            );
            (read, written, fields) = (read + r, written + w, fields + f);
            match result {
                // A carriage return in the middle would end the row early.
                ReadRecordResult::Record if read < line.len() => break,
                ReadRecordResult::Record => {
                    let text =
                        std::str::from_utf8(&self.text[..written]).map_err(|_| "not one row of CSV")?;
                    return Ok(Row { text, ends: &self.ends[..fields] });
                }
                _ => {}
            }
        }
        Err("not one row of CSV")
    }
}

/// The fields of a line.
struct Row<'a> {
    text: &'a str,
    ends: &'a [usize],
}

impl<'a> Row<'a> {
    fn get(&self, column: usize) -> Option<&'a str> {
        let end = *self.ends.get(column)?;
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        Some(&self.text[start..end])
    }

    /// The column whose name is the first of `names` that any has.
    fn named(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            (0..self.ends.len())
                .find(|&column| self.get(column).is_some_and(|text| text.trim().eq_ignore_ascii_case(name)))
        })
    }
}

fn header(row: &Row<'_>) -> Option<Columns> {
    Some(Columns { time: row.named(&TIME_NAMES)?, key: row.named(&KEY_NAMES)?, cost: row.named(&COST_NAMES) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const T: u64 = 1_431_857_103_000_000_000;

    fn request(parser: &mut CsvParser, line: &str) -> (u64, String, Option<u64>) {
        match parser.parse(line) {
            Ok(Line::Request(r)) => (r.time_ns, r.key.expect("a row has a key").into_owned(), r.bytes),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn rows_without_a_header() {
        let mut parser = CsvParser::new();
        assert_eq!(request(&mut parser, "1431857103,10.0.0.1"), (T, "10.0.0.1".into(), None));
        assert_eq!(request(&mut parser, "2015-05-17T10:05:03Z,b,12"), (T, "b".into(), Some(12)));
        assert_eq!(request(&mut parser, "1431857103000,,-"), (T, String::new(), Some(0)));
        assert_eq!(request(&mut parser, r#"1431857103,"a, ""b""","3""#), (T, r#"a, "b""#.into(), Some(3)));
        assert_eq!(request(&mut parser, "1431857103,é€, 4 ,more"), (T, "é€".into(), Some(4)));
    }

    #[test]
    fn a_header_names_the_columns() {
        let mut parser = CsvParser::new();
        assert_eq!(parser.parse("timestamp,key,cost"), Ok(Line::Header));
        assert_eq!(request(&mut parser, "1431857103,a,2"), (T, "a".into(), Some(2)));
        assert_eq!(parser.parse("Bytes,other, IP ,Time"), Ok(Line::Header));
        assert_eq!(request(&mut parser, "7,x,a,1431857103"), (T, "a".into(), Some(7)));
        assert_eq!(parser.parse("other,key,x,timestamp"), Ok(Line::Header));
        assert_eq!(request(&mut parser, "9,a,9,1431857103"), (T, "a".into(), None), "no cost column");
    }

    #[test]
    fn lines_that_are_no_rows() {
        let mut parser = CsvParser::new();
        for junk in [
            "",
            ",",
            "1431857103",
            "now,a",
            "key,timestamp2",
            "1431857103,a,-1",
            "1431857103,a,b",
            "-5,a",
            "1431857103,a\rb,c\r",
        ] {
            assert!(parser.parse(junk).is_err(), "{junk:?}");
        }
        assert_eq!(request(&mut parser, "1431857103,a"), (T, "a".into(), None), "a bad line changes nothing");
        assert_eq!(request(&mut parser, r#"1431857103,"open"#), (T, "open".into(), None));
        assert_eq!(request(&mut parser, "1431857103,a"), (T, "a".into(), None), "nor does an open quote");
    }

    proptest! {
        #[test]
        fn never_panics(lines in prop::collection::vec(any::<String>(), 0..4)) {
            let mut parser = CsvParser::new();
            for line in lines {
                let _ = parser.parse(&line);
            }
        }

        #[test]
        fn never_panics_near_the_format(line in "[0-9]{0,3}([,\"\r\n é]|1431857103|key|time){0,12}") {
            let _ = CsvParser::new().parse(&line);
        }

        #[test]
        fn what_is_written_is_read(key in "[^\r\n\0]{0,12}", cost in any::<u64>()) {
            let line = format!("1431857103,\"{}\",{cost}", key.replace('"', "\"\""));
            prop_assert_eq!(request(&mut CsvParser::new(), &line), (T, key, Some(cost)));
        }
    }
}
