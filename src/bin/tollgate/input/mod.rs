//! From the bytes of access logs to records: one line, one request.

mod clf;
mod csv;
mod detect;
mod json;
mod lines;
mod open;
mod time;

use std::borrow::Cow;

pub(crate) use detect::{Format, Line, LineParser};
pub(crate) use lines::{Lines, RawLine};
pub(crate) use open::{STDIN, open, size};

/// Why a line could not be read, for people.
pub(crate) type Reason = &'static str;

/// How an access log writes a field that has no value.
pub(crate) const ABSENT: &str = "-";

/// What a line says about one request. `None` is a field that the format, or this line, does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Nanoseconds since the Unix epoch, at most `tollgate::MAX_NOW_NS`.
    pub(crate) time_ns: u64,
    /// The client's address, or its host name.
    pub(crate) ip: Option<Cow<'a, str>>,
    pub(crate) user: Option<Cow<'a, str>>,
    pub(crate) method: Option<Cow<'a, str>>,
    /// The request's target with its query.
    pub(crate) path: Option<Cow<'a, str>>,
    /// A key that somebody chose already; it stands in for every field that is `None`.
    pub(crate) key: Option<Cow<'a, str>>,
    pub(crate) bytes: Option<u64>,
}

/// Method and target of a request line. What is not a request, such as the bytes of a TLS handshake, has
/// neither.
fn request_line(request: &str) -> (&str, &str) {
    let Some((method, rest)) = request.split_once(' ') else { return (ABSENT, ABSENT) };
    let target = match rest.rsplit_once(' ') {
        Some((target, version)) if version.starts_with("HTTP/") => target,
        // HTTP/0.9 has no version.
        _ => rest,
    };
    if method.is_empty() || target.is_empty() { (ABSENT, ABSENT) } else { (method, target) }
}

/// A number of bytes, or `-` for none.
fn byte_count(text: &str) -> Option<u64> {
    if text == ABSENT { Some(0) } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_line_has_a_method_and_a_target() {
        assert_eq!(request_line("GET /a HTTP/1.1"), ("GET", "/a"));
        assert_eq!(request_line("GET /a b HTTP/1.1"), ("GET", "/a b"));
        assert_eq!(request_line("GET /a"), ("GET", "/a"));
        for junk in ["", "-", "GET", " / HTTP/1.1", "\\x16\\x03\\x01"] {
            assert_eq!(request_line(junk), (ABSENT, ABSENT), "{junk:?}");
        }
    }

    #[test]
    fn bytes_are_whole_numbers() {
        assert_eq!(byte_count("-"), Some(0));
        assert_eq!(byte_count("18446744073709551615"), Some(u64::MAX));
        for junk in ["", "-1", "1.5", "18446744073709551616", "1k"] {
            assert_eq!(byte_count(junk), None, "{junk:?}");
        }
    }
}
