//! The log in memory: for each key, when it asked and for how much.

use indexmap::IndexSet;

use super::Reading;
use crate::args::{Cost, LogArgs};
use crate::failure::Failure;
use crate::input::{Reason, Record};
use crate::key::KeySpec;

/// One request of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) time_ns: u64,
    pub(crate) cost: u64,
}

/// Everything that was read.
///
/// A request takes 16 bytes, its key being the list that it is in; growing lists may reserve as much again. So a log
/// of 100 million requests needs 1.6 to 3.2 GB, and each different key about 100 bytes and its text on top.
pub(crate) struct History {
    spec: KeySpec,
    cost: Cost,
    keys: IndexSet<Box<str>, ahash::RandomState>,
    /// By the key's index; in the order in which they were read.
    events: Vec<Vec<Event>>,
    reading: Reading,
}

impl History {
    pub(crate) fn new(spec: KeySpec, cost: Cost) -> Self {
        Self { spec, cost, keys: IndexSet::default(), events: Vec::new(), reading: Reading::default() }
    }

    /// All files as one log.
    pub(crate) fn of(spec: KeySpec, cost: Cost, args: &LogArgs) -> Result<Self, Failure> {
        let (mut history, mut key) = (Self::new(spec, cost), String::new());
        history.reading = Reading::of(args, |record| history.take(record, &mut key))?;
        Ok(history)
    }

    /// Keeps a request. `key` is there to be used again.
    fn take(&mut self, record: &Record<'_>, key: &mut String) -> Result<(), Reason> {
        let event = self.event(record, key)?;
        self.add(key, event);
        Ok(())
    }

    fn event(&self, record: &Record<'_>, key: &mut String) -> Result<Event, Reason> {
        self.spec.write(record, key)?;
        let cost = match self.cost {
            Cost::One => 1,
            Cost::Bytes => record.bytes.ok_or("no field with the bytes of the response")?,
        };
        Ok(Event { time_ns: record.time_ns, cost })
    }

    fn add(&mut self, key: &str, event: Event) {
        let index = match self.keys.get_index_of(key) {
            Some(index) => index,
            None => {
                self.events.push(Vec::with_capacity(1));
                self.keys.insert_full(key.into()).0
            }
        };
        self.events[index].push(event);
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys.len()
    }

    /// The text of the key with this index.
    pub(crate) fn key(&self, index: usize) -> &str {
        &self.keys[index]
    }

    /// The requests of every key, by the key's index.
    pub(crate) fn events(&self) -> &[Vec<Event>] {
        &self.events
    }

    pub(crate) fn events_mut(&mut self) -> &mut [Vec<Event>] {
        &mut self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(key: &str, cost: Cost, files: &[&[u8]]) -> History {
        let mut history = History::new(key.parse().expect("a good key"), cost);
        for (index, file) in files.iter().enumerate() {
            let (mut reading, mut key) = (std::mem::take(&mut history.reading), String::new());
            let take = |record: &Record<'_>| history.take(record, &mut key);
            reading.read(&format!("file{index}"), *file, None, take).expect("memory does not fail");
            history.reading = reading;
        }
        history
    }

    fn times(history: &History, key: &str) -> Vec<u64> {
        let index = history.keys.get_index_of(key).expect("a known key");
        history.events[index].iter().map(|event| event.time_ns / 1_000_000_000).collect()
    }

    #[test]
    fn requests_are_kept_by_key_in_the_order_of_lines_and_files() {
        let h = history("ip", Cost::One, &[b"3,a\n1,b\n2,a\n", b"1,a\r\n"]);
        assert_eq!((h.reading.requests, h.keys(), h.reading.unparsed), (4, 2, 0));
        assert_eq!(times(&h, "a"), [3, 2, 1]);
        assert_eq!(times(&h, "b"), [1]);
    }

    #[test]
    fn blank_lines_and_headers_do_not_count() {
        let h = history("ip", Cost::One, &["\u{feff}time,key\n\n1,a\n \t \r\n\n".as_bytes()]);
        assert_eq!((h.reading.requests, h.reading.unparsed), (1, 0));
    }

    #[test]
    fn bad_lines_are_counted_and_the_first_are_shown() {
        let bad = "x\x1b[31m\n".repeat(7);
        let h = history("ip", Cost::One, &[b"1,a\n\n", bad.as_bytes()]);
        assert_eq!((h.reading.requests, h.reading.unparsed), (1, 7));
        assert_eq!(h.reading.complaints.len(), 5);
        let shown = h.reading.complaints[1].to_string();
        assert!(shown.starts_with("file1:2: "), "{shown}");
        assert!(shown.contains(r"x\u{1b}[31m") && !shown.contains('\x1b'), "{shown}");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let line = b"h\xff - - [17/May/2015:10:05:03 +0000] \"GET /\xfe HTTP/1.1\" 200 5\n";
        let h = history("ip", Cost::One, &[line]);
        assert_eq!((h.reading.requests, h.key(0)), (1, "h\u{fffd}"));
    }

    #[test]
    fn a_line_without_the_bytes_is_bad_only_where_bytes_are_counted() {
        let log: &[u8] = b"1,a,5\n2,a\n3,a,0\n";
        assert_eq!(history("ip", Cost::One, &[log]).reading.unparsed, 0);
        let h = history("ip", Cost::Bytes, &[log]);
        assert_eq!((h.reading.requests, h.reading.unparsed), (2, 1));
        assert_eq!(h.events()[0].iter().map(|event| event.cost).collect::<Vec<_>>(), [5, 0]);
    }

    #[test]
    fn a_line_too_long_is_one_bad_line() {
        let mut log = b"1,a\n".to_vec();
        log.extend(vec![b'x'; 3 << 20]);
        log.extend(b"\n2,a\n");
        let h = history("ip", Cost::One, &[&log]);
        assert_eq!((h.reading.requests, h.reading.unparsed), (2, 1));
        assert_eq!(h.reading.complaints[0].to_string(), "file0:2: longer than a mebibyte");
    }
}
