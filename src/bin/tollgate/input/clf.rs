//! Common and combined log format.
//!
//! `host ident user [time] "request" status bytes`, and in combined format `"referer" "agent"`; what comes after the
//! bytes is not read. Written by hand because the parsers on crates.io want an IP address for a host and a user
//! without spaces, and refuse the lines that have neither.

use std::borrow::Cow;
use std::net::IpAddr;

use super::{ABSENT, Reason, Record, byte_count, request_line, time};

/// Reads one line.
pub(super) fn parse(line: &str) -> Result<Record<'_>, Reason> {
    // A user may hold spaces and brackets, but servers escape its quotes: the first `] "` ends the time.
    let (head, tail) = line.split_once("] \"").ok_or("no [time] followed by a quoted request")?;
    let (client, stamp) = head.rsplit_once(" [").ok_or("no [time] followed by a quoted request")?;
    let time_ns =
        time::parse_clf(stamp).ok_or("the time is not like 17/May/2015:10:05:03 +0000, or out of range")?;
    let (host, user) = host_and_user(client)?;
    let (request, rest) = split_quoted(tail).ok_or("the request's closing quote is missing")?;
    let (method, path) = request_line(request);
    Ok(Record {
        time_ns,
        ip: Some(Cow::Borrowed(host)),
        user: Some(Cow::Borrowed(user)),
        method: Some(Cow::Borrowed(method)),
        path: Some(Cow::Borrowed(path)),
        key: None,
        bytes: Some(bytes_sent(rest)?),
    })
}

/// `host ident user`, after a virtual host if there is one.
fn host_and_user(client: &str) -> Result<(&str, &str), Reason> {
    const EXPECTED: Reason = "not three fields (host ident user) before the time";
    let (mut host, mut rest) = client.split_once(' ').ok_or(EXPECTED)?;
    // Apache's vhost_combined writes `example.com:80` in front, and no ident is an address.
    if let Some((second, after)) = rest.split_once(' ')
        && has_port(host)
        && second.parse::<IpAddr>().is_ok()
    {
        (host, rest) = (second, after);
    }
    let (_ident, user) = rest.split_once(' ').ok_or(EXPECTED)?;
    if host.is_empty() { Err(EXPECTED) } else { Ok((host, if user.is_empty() { ABSENT } else { user })) }
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

/// The text up to the first quote that no backslash escapes, and what follows it.
fn split_quoted(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })?;
    Some((&text[..end], &text[end + 1..]))
}

/// The bytes of ` status bytes`, and checks the status.
fn bytes_sent(rest: &str) -> Result<u64, Reason> {
    let mut fields = rest.strip_prefix(' ').ok_or("no status after the request")?.split(' ');
    let status = fields.next().unwrap_or_default();
    if status != ABSENT && (status.is_empty() || !status.bytes().all(|b| b.is_ascii_digit())) {
        return Err("the status is not a number");
    }
    byte_count(fields.next().ok_or("no bytes after the status")?).ok_or("the bytes are not a number")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const T: u64 = 1_431_857_103_000_000_000;

    fn fields(line: &str) -> (String, String, String, String, u64) {
        let r = parse(line).unwrap_or_else(|reason| panic!("{line}: {reason}"));
        assert_eq!(r.time_ns, T, "{line}");
        let text = |field: Option<Cow<'_, str>>| field.expect("the format has this field").into_owned();
        (text(r.ip), text(r.user), text(r.method), text(r.path), r.bytes.expect("the format has bytes"))
    }

    fn owned(f: (&str, &str, &str, &str, u64)) -> (String, String, String, String, u64) {
        (f.0.into(), f.1.into(), f.2.into(), f.3.into(), f.4)
    }

    #[test]
    fn lines_that_servers_write() {
        let stamp = "[17/May/2015:10:05:03 +0000]";
        for (line, expected) in [
            (
                format!(r#"10.0.0.1 - - {stamp} "GET /a?b HTTP/1.1" 200 12"#),
                ("10.0.0.1", "-", "GET", "/a?b", 12),
            ),
            (
                format!(r#"10.0.0.1 - eve {stamp} "POST / HTTP/2.0" 302 - "http://a/" "Mozilla/5.0 (X)""#),
                ("10.0.0.1", "eve", "POST", "/", 0),
            ),
            (
                format!(r#"::ffff:10.0.0.1 - - {stamp} "GET / HTTP/1.1" 200 0"#),
                ("::ffff:10.0.0.1", "-", "GET", "/", 0),
            ),
            (
                format!(r#"2001:db8::1 - - {stamp} "GET / HTTP/1.1" 200 5"#),
                ("2001:db8::1", "-", "GET", "/", 5),
            ),
            (
                format!(r#"host.example - - {stamp} "GET / HTTP/1.1" 200 5"#),
                ("host.example", "-", "GET", "/", 5),
            ),
            // Extra fields, as many set-ups append them.
            (format!(r#"h - - {stamp} "GET / HTTP/1.1" 200 5 "-" "-" 0.012 "x""#), ("h", "-", "GET", "/", 5)),
            (
                format!(r#"example.com:443 10.0.0.1 - joe {stamp} "GET / HTTP/1.1" 200 5"#),
                ("10.0.0.1", "joe", "GET", "/", 5),
            ),
            (format!(r#"h - - {stamp} "-" 408 - "-" "-""#), ("h", "-", "-", "-", 0)),
            (format!(r#"h - - {stamp} "" 400 0"#), ("h", "-", "-", "-", 0)),
            (format!(r#"h - - {stamp} "\x16\x03\x01" 400 226"#), ("h", "-", "-", "-", 226)),
            (format!(r#"h -  {stamp} "GET / HTTP/1.1" 200 5"#), ("h", "-", "GET", "/", 5)),
        ] {
            assert_eq!(fields(&line), owned(expected), "{line}");
        }
    }

    #[test]
    fn quotes_and_brackets_inside_fields() {
        // An escaped backslash does not escape the quote behind it.
        let line = r#"h - - [17/May/2015:10:05:03 +0000] "GET /a\\" 200 5 "-" "-""#;
        assert_eq!(fields(line), owned(("h", "-", "GET", r"/a\\", 5)));
        let line = r#"h - john doe [x] [17/May/2015:10:05:03 +0000] "GET /\"a\\ HTTP/1.1" 200 5 "\"" "\\""#;
        assert_eq!(fields(line), owned(("h", "john doe [x]", "GET", r#"/\"a\\"#, 5)));
        let line = r#"h - a] \" [b [17/May/2015:10:05:03 +0000] "GET /] " HTTP/1.1" 200 5"#;
        // The quote inside the target is not escaped, so the request ends there and the status is wrong.
        assert!(parse(line).is_err());
    }

    #[test]
    fn an_offset_moves_the_time() {
        fields(r#"h - - [17/May/2015:06:05:03 -0400] "GET / HTTP/1.1" 200 5"#);
    }

    #[test]
    fn lines_that_are_cut_or_are_no_requests() {
        let whole = r#"10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 12"#;
        assert!(parse(whole).is_ok());
        // Cut anywhere before the bytes, it is refused; the bytes are its last two characters.
        for end in 0..whole.len() - 2 {
            assert!(parse(&whole[..end]).is_err(), "{}", &whole[..end]);
        }
        for junk in [
            r#"10.0.0.1 - - [17/May/2015:10:05:03] "GET / HTTP/1.1" 200 12"#,
            r#" - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 12"#,
            r#"10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1"200 12"#,
            r#"10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" OK 12"#,
            r#"10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 -12"#,
            r#"10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1\" 200 12"#,
        ] {
            assert!(parse(junk).is_err(), "{junk}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(line in any::<String>()) {
            let _ = parse(&line);
        }

        #[test]
        fn never_panics_near_the_format(line in r#"[ -]{0,3}[a:1]{0,4}( (-|\[|\]|"|\\|é|17/May/2015:10:05:03 \+0000|GET|200|-)){0,9}\] "[" \\a]{0,9}"#) {
            let _ = parse(&line);
        }

        #[test]
        fn what_is_written_is_read(user in "[a-z\\[\\]]([a-z \\[\\]]{0,8}[a-z\\[\\]])?", path in r#"/([a-z]|\\"|\\\\){0,9}"#, bytes in any::<u64>()) {
            let line = format!(r#"10.0.0.1 - {user} [17/May/2015:10:05:03 +0000] "GET {path} HTTP/1.1" 200 {bytes}"#);
            prop_assert_eq!(fields(&line), ("10.0.0.1".into(), user, "GET".into(), path, bytes));
        }
    }
}
