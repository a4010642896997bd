//! Lines of any length and any bytes, in bounded memory.

use std::io::{self, BufRead, Read};

/// Longer lines are not kept: a binary file may have no line break for gigabytes. Servers allow requests of some
/// 8 to 64 kB.
const MAX_LINE_BYTES: usize = 1 << 20;

/// One line as it was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RawLine<'a> {
    /// The bytes without the line break, `\n` or `\r\n`.
    Text(&'a [u8]),
    /// More than a mebibyte, skipped.
    TooLong,
}

/// Takes a reader apart into lines.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), number: 0 }
    }

    /// The next line and its number, from 1; `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<(u64, RawLine<'_>)>> {
        self.buffer.clear();
        let limit = MAX_LINE_BYTES as u64 + 2;
        if self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.buffer.last() != Some(&b'\n') && self.buffer.len() as u64 == limit {
            self.reader.skip_until(b'\n')?;
            return Ok(Some((self.number, RawLine::TooLong)));
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let raw = if line.len() > MAX_LINE_BYTES { RawLine::TooLong } else { RawLine::Text(line) };
        Ok(Some((self.number, raw)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8]) -> Vec<(u64, Option<Vec<u8>>)> {
        // A tiny buffer, so that every line crosses its end.
        let mut lines = Lines::new(io::BufReader::with_capacity(3, input));
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next_line().expect("memory does not fail") {
            found.push(match line {
                RawLine::Text(text) => (number, Some(text.to_vec())),
                RawLine::TooLong => (number, None),
            });
        }
        found
    }

    #[test]
    fn line_breaks_of_both_kinds() {
        let text = |t: &str| Some(t.as_bytes().to_vec());
        assert_eq!(all(b""), []);
        assert_eq!(
            all(b"a\nb\r\n\n\r\nc\rd"),
            [(1, text("a")), (2, text("b")), (3, text("")), (4, text("")), (5, text("c\rd"))]
        );
        assert_eq!(all(b"a\n"), [(1, text("a"))]);
        assert_eq!(all(b"\xff\0\n"), [(1, Some(vec![0xff, 0]))]);
    }

    #[test]
    fn a_line_is_kept_up_to_the_limit() {
        for (length, ending, kept) in [
            (MAX_LINE_BYTES, "\n", true),
            (MAX_LINE_BYTES, "\r\n", true),
            (MAX_LINE_BYTES, "", true),
            (MAX_LINE_BYTES + 1, "\n", false),
            (MAX_LINE_BYTES + 1, "\r\n", false),
            (MAX_LINE_BYTES + 1, "", false),
            (3 * MAX_LINE_BYTES, "\n", false),
            (3 * MAX_LINE_BYTES, "", false),
        ] {
            let mut input = vec![b'x'; length];
            input.extend_from_slice(ending.as_bytes());
            let mut expected = vec![(1, kept.then(|| vec![b'x'; length]))];
            if !ending.is_empty() {
                input.extend_from_slice(b"next\n");
                expected.push((2, Some(b"next".to_vec())));
            }
            assert!(all(&input) == expected, "{length} {ending:?}");
        }
    }
}
