//! JSON lines: one object a line, with the field names that servers and log shippers use.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{ABSENT, Reason, Record, byte_count, request_line, time};

/// The names of a time stamp, the best first; a CSV header uses them too.
pub(super) const TIME_NAMES: [&str; 7] =
    ["timestamp", "time", "ts", "@timestamp", "time_iso8601", "time_local", "msec"];

/// The names of each field, the best first.
const NAMES: [&[&str]; FIELDS] = [
    &TIME_NAMES,
    &["ip", "remote_addr", "client_ip"],
    &["key"],
    &["user", "remote_user"],
    &["method", "request_method"],
    &["path", "uri", "request_uri"],
    &["request"],
    &["bytes", "body_bytes_sent", "size", "cost"],
];
const FIELDS: usize = 8;
const TIME: usize = 0;
const IP: usize = 1;
const KEY: usize = 2;
const USER: usize = 3;
const METHOD: usize = 4;
const PATH: usize = 5;
const REQUEST: usize = 6;
const BYTES: usize = 7;

/// Reads one line.
pub(super) fn parse(line: &str) -> Result<Record<'_>, Reason> {
    let object: Object<'_> = serde_json::from_str(line).map_err(|_| "not a JSON object")?;
    let stamp = object.text(TIME)?.ok_or("no field with the time (timestamp, time, ts or @timestamp)")?;
    let time_ns = time::parse(&stamp)
        .or_else(|| time::parse_clf(&stamp))
        .ok_or("the time is neither RFC 3339 nor a Unix number in range")?;
    let bytes = match object.text(BYTES)? {
        Some(text) => Some(byte_count(&text).ok_or("the bytes are not a whole number")?),
        None => None,
    };
    let request = object.text(REQUEST)?;
    let (from_request, target) = match &request {
        Some(request) => match request_line(request) {
            // `request` may be the target alone.
            (ABSENT, ABSENT) if request.starts_with('/') => (None, Some(request.as_ref())),
            (method, target) => (Some(method), Some(target)),
        },
        None => (None, None),
    };
    Ok(Record {
        time_ns,
        ip: object.text(IP)?,
        user: object.text(USER)?,
        method: object.text(METHOD)?.or_else(|| from_request.map(|text| Cow::Owned(text.to_owned()))),
        path: object.text(PATH)?.or_else(|| target.map(|text| Cow::Owned(text.to_owned()))),
        key: object.text(KEY)?,
        bytes,
    })
}

/// The values of the known fields, as they are written: only those that are needed are decoded.
struct Object<'a>([Option<Value<'a>>; FIELDS]);

#[derive(Clone, Copy)]
struct Value<'a> {
    rank: usize,
    raw: &'a RawValue,
}

impl<'a> Object<'a> {
    /// A field as text: a string's contents, a number or a boolean as written, `-` for null.
    fn text(&self, field: usize) -> Result<Option<Cow<'a, str>>, Reason> {
        let Some(Value { raw, .. }) = self.0[field] else { return Ok(None) };
        let raw = raw.get();
        match raw.as_bytes().first() {
            Some(b'"') if raw.contains('\\') => serde_json::from_str(raw)
                .map(|text: String| Some(Cow::Owned(text)))
                .map_err(|_| "a string is broken"),
            Some(b'"') => Ok(Some(Cow::Borrowed(&raw[1..raw.len() - 1]))),
            Some(b'{' | b'[') => Err("a field that is needed is an object or an array"),
            _ if raw == "null" => Ok(Some(Cow::Borrowed(ABSENT))),
            _ => Ok(Some(Cow::Borrowed(raw))),
        }
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; FIELDS];
        while let Some(name) = map.next_key::<Name>()? {
            let Name(Some((field, rank))) = name else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let raw = map.next_value()?;
            if values[field].is_none_or(|old: Value<'_>| rank < old.rank) {
                values[field] = Some(Value { rank, raw });
            }
        }
        Ok(Object(values))
    }
}

/// A field and how good this name of it is; `None` for every other name.
struct Name(Option<(usize, usize)>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Name, E> {
        let known = NAMES.iter().enumerate().find_map(|(field, names)| {
            names.iter().position(|&known| known == name).map(|rank| (field, rank))
        });
        Ok(Name(known))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const T: u64 = 1_431_857_103_000_000_000;

    #[test]
    fn every_name_is_read() {
        for (field, value) in [
            (TIME, r#""2015-05-17T10:05:03Z""#),
            (TIME, r#""17/May/2015:10:05:03 +0000""#),
            (TIME, "1431857103.0"),
            (TIME, r#""1431857103""#),
        ] {
            for name in NAMES[field] {
                let line = format!(r#"{{"{name}":{value}}}"#);
                assert_eq!(parse(&line).map(|r| r.time_ns), Ok(T), "{line}");
            }
        }
        let read = |field: usize| {
            NAMES[field].iter().map(move |name| {
                let line = format!(r#"{{"ts":1431857103,"{name}":"7","other":{{"ip":[1]}}}}"#);
                let r = parse(&line).expect("a good line");
                [r.ip, r.key, r.user, r.method, r.path, r.bytes.map(|b| b.to_string().into())]
                    .map(|text| text.map(Cow::into_owned))
            })
        };
        for (column, field) in [IP, KEY, USER, METHOD, PATH, BYTES].into_iter().enumerate() {
            for columns in read(field) {
                let expected: [Option<String>; 6] =
                    std::array::from_fn(|c| (c == column).then(|| "7".into()));
                assert_eq!(columns, expected, "field {field}");
            }
        }
    }

    #[test]
    fn the_best_name_counts_wherever_it_stands() {
        for line in [
            r#"{"ts":1431857103,"ip":"a","remote_addr":"b","client_ip":"c"}"#,
            r#"{"client_ip":"c","remote_addr":"b","ip":"a","ts":1431857103}"#,
            r#"{"ts":1431857103,"ip":"a","ip":"b"}"#,
        ] {
            assert_eq!(parse(line).expect("a good line").ip.as_deref(), Some("a"), "{line}");
        }
    }

    #[test]
    fn values_of_other_types() {
        let r = parse(r#" {"time" : 1431857103 , "user":42,"ip":null,"path":"\/\u00e9\"","bytes":null} "#)
            .expect("a good line");
        assert_eq!(r.user.as_deref(), Some("42"));
        assert_eq!(r.ip.as_deref(), Some("-"));
        assert_eq!(r.path.as_deref(), Some("/é\""));
        assert_eq!(r.bytes, Some(0));
    }

    #[test]
    fn a_request_gives_what_is_not_said_elsewhere() {
        let both = |line: &str| {
            let r = parse(line).expect("a good line");
            (r.method.map(Cow::into_owned), r.path.map(Cow::into_owned))
        };
        let some = |a: &str, b: &str| (Some(a.to_owned()), Some(b.to_owned()));
        assert_eq!(both(r#"{"ts":1,"request":"GET /a HTTP/1.1"}"#), some("GET", "/a"));
        assert_eq!(
            both(r#"{"ts":1,"request":"GET /a HTTP/1.1","method":"PUT","uri":"/b"}"#),
            some("PUT", "/b")
        );
        assert_eq!(both(r#"{"ts":1,"request":"/a?b"}"#), (None, Some("/a?b".into())));
        assert_eq!(both(r#"{"ts":1,"request":"-"}"#), some("-", "-"));
        assert_eq!(both(r#"{"ts":1}"#), (None, None));
    }

    #[test]
    fn lines_that_are_no_records() {
        for junk in [
            "",
            "{}",
            "[]",
            "7",
            "null",
            r#"{"ts":1431857103"#,
            r#"{"ts":1431857103} x"#,
            r#"{"ts":true}"#,
            r#"{"ts":{}}"#,
            r#"{"ts":-1}"#,
            r#"{"ts":1431857103,"bytes":1.5}"#,
            r#"{"ts":1431857103,"ip":["a"]}"#,
        ] {
            assert!(parse(junk).is_err(), "{junk}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        let line = format!(r#"{{"ts":1,"x":{}"#, "[".repeat(100_000));
        assert!(parse(&line).is_err());
    }

    proptest! {
        #[test]
        fn never_panics(line in any::<String>()) {
            let _ = parse(&line);
        }

        #[test]
        fn never_panics_near_the_format(line in r#"\{("(ts|ip|request|bytes)"|:|,|1431857103|null|"\\u00|"a\\"|[{}\[\]" é]){0,14}\}"#) {
            let _ = parse(&line);
        }

        #[test]
        fn what_is_written_is_read(user in any::<String>(), bytes in any::<u64>()) {
            let line = serde_json::json!({ "ts": 1_431_857_103, "user": user, "bytes": bytes }).to_string();
            let r = parse(&line).expect("a good line");
            prop_assert_eq!(r.user.as_deref(), Some(user.as_str()));
            prop_assert_eq!(r.bytes, Some(bytes));
        }
    }
}
