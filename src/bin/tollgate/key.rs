//! Who is limited: `--key`.

use std::fmt::Write;
use std::net::IpAddr;
use std::str::FromStr;

use tollgate::IpPrefix;

use crate::input::{ABSENT, Reason, Record};

/// The fields that a key is made of, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeySpec(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// An address cut to as many bits; what `--key` leaves open is the library's default.
    Ip {
        v4_len: u8,
        v6_len: u8,
    },
    User,
    Method,
    Path,
}

const V4_BITS: u8 = 32;
const V6_BITS: u8 = 128;
/// As in [`IpPrefix::new`]: a client of IPv6 usually has a whole /64, and its addresses change.
const V6_DEFAULT: u8 = 64;

impl KeySpec {
    /// Writes the key of `record` into `key`.
    ///
    /// Two keys are equal only if all their parts are: where several are joined, a comma inside a part is escaped.
    pub(crate) fn write(&self, record: &Record<'_>, key: &mut String) -> Result<(), Reason> {
        key.clear();
        if let [part] = self.0[..] {
            return part.write(record, key);
        }
        if let (Some(ready), true) = (&record.key, self.0.iter().all(|part| part.field(record).is_none())) {
            key.push_str(ready);
            return Ok(());
        }
        let mut text = String::new();
        for (index, part) in self.0.iter().enumerate() {
            if index > 0 {
                key.push(',');
            }
            text.clear();
            part.write(record, &mut text)?;
            for c in text.chars() {
                if matches!(c, ',' | '\\') {
                    key.push('\\');
                }
                key.push(c);
            }
        }
        Ok(())
    }
}

impl Part {
    fn field<'a>(self, record: &'a Record<'_>) -> Option<&'a str> {
        match self {
            Self::Ip { .. } => record.ip.as_deref(),
            Self::User => record.user.as_deref(),
            Self::Method => record.method.as_deref(),
            Self::Path => record.path.as_deref(),
        }
    }

    fn write(self, record: &Record<'_>, key: &mut String) -> Result<(), Reason> {
        let own = self.field(record);
        let Some(text) = own.or(record.key.as_deref()) else { return self.missing(key) };
        match self {
            Self::Ip { v4_len, v6_len } => write_ip(text, v4_len, v6_len, key),
            Self::Path if own.is_some() => {
                key.push_str(text.split_once('?').map_or(text, |(path, _query)| path))
            }
            Self::Path | Self::User | Self::Method => key.push_str(text),
        }
        Ok(())
    }

    /// Logs leave the user out where there is none; to leave out any other field is to have no such log.
    fn missing(self, key: &mut String) -> Result<(), Reason> {
        match self {
            Self::User => {
                key.push_str(ABSENT);
                Ok(())
            }
            Self::Ip { .. } => Err("no field with the client's address"),
            Self::Method => Err("no field with the method"),
            Self::Path => Err("no field with the path"),
        }
    }
}

fn write_ip(text: &str, v4_len: u8, v6_len: u8, key: &mut String) {
    let prefix = text.parse::<IpAddr>().ok().and_then(|ip| IpPrefix::with_lengths(ip, v4_len, v6_len).ok());
    match prefix {
        Some(prefix) => write!(key, "{prefix}").expect("writing to a string"),
        None => key.push_str(text),
    }
}

impl FromStr for KeySpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(str::parse).collect::<Result<Vec<Part>, _>>().map(Self)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "ip" => Ok(Self::Ip { v4_len: V4_BITS, v6_len: V6_DEFAULT }),
            "user" => Ok(Self::User),
            "method" => Ok(Self::Method),
            "path" => Ok(Self::Path),
            other => other.strip_prefix("ip/").and_then(prefix).ok_or_else(|| {
                format!("no key is named {other:?}: write ip, ip/64, ip/128, ip/24, ip/24/64, user, method, path, or several as ip,path")
            }),
        }
    }
}

/// `24` (IPv4), `64` (IPv6), or `24/64`.
fn prefix(lengths: &str) -> Option<Part> {
    let length = |text: &str| text.parse::<u8>().ok().filter(|&bits| bits <= V6_BITS);
    let (v4_len, v6_len) = match lengths.split_once('/') {
        Some((v4, v6)) => (length(v4)?, length(v6)?),
        None => match length(lengths)? {
            bits @ 0..=V4_BITS => (bits, V6_DEFAULT),
            bits => (V4_BITS, bits),
        },
    };
    (v4_len <= V4_BITS).then_some(Part::Ip { v4_len, v6_len })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn key(spec: &str, record: &Record<'_>) -> Result<String, Reason> {
        let spec: KeySpec = spec.parse().expect("a good spec");
        let mut key = "left over".to_owned();
        spec.write(record, &mut key).map(|()| key)
    }

    fn record(ip: &'static str, user: &'static str, path: &'static str) -> Record<'static> {
        Record {
            ip: Some(Cow::Borrowed(ip)),
            user: Some(Cow::Borrowed(user)),
            method: Some(Cow::Borrowed("GET")),
            path: Some(Cow::Borrowed(path)),
            ..Record::default()
        }
    }

    #[test]
    fn addresses_are_cut_and_normalised() {
        for (spec, ip, expected) in [
            ("ip", "10.1.2.3", "10.1.2.3"),
            ("ip", "::ffff:10.1.2.3", "10.1.2.3"),
            ("ip", "2001:DB8:0:0::1", "2001:db8::/64"),
            ("ip/128", "2001:DB8:0:0::1", "2001:db8::1/128"),
            ("ip/128", "10.1.2.3", "10.1.2.3"),
            ("ip", "Host.Example", "Host.Example"),
            ("ip", "-", "-"),
            ("ip/64", "10.1.2.3", "10.1.2.3"),
            ("ip/64", "::ffff:10.1.2.3", "10.1.2.3"),
            ("ip/64", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
            ("ip/24", "10.1.2.3", "10.1.2.0/24"),
            ("ip/24", "::ffff:10.1.2.3", "10.1.2.0/24"),
            ("ip/24", "2001:db8::1", "2001:db8::/64"),
            ("ip/24/48", "10.1.2.3", "10.1.2.0/24"),
            ("ip/24/48", "2001:db8:1:2::1", "2001:db8:1::/48"),
            ("ip/32/128", "2001:db8:1:2::1", "2001:db8:1:2::1/128"),
            ("ip/64", "host.example", "host.example"),
        ] {
            assert_eq!(key(spec, &record(ip, "-", "/")), Ok(expected.to_owned()), "{spec} {ip}");
        }
    }

    #[test]
    fn ip_alone_is_the_key_of_the_library() {
        for text in ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8:1:2:3::4", "::1", "0.0.0.0"] {
            let ip: IpAddr = text.parse().expect("an address");
            assert_eq!(key("ip", &record(text, "-", "/")), Ok(IpPrefix::new(ip).to_string()), "{text}");
        }
    }

    #[test]
    fn fields_by_name() {
        let r = record("10.0.0.1", "joe", "/a?b=c?d");
        assert_eq!(key("user", &r), Ok("joe".into()));
        assert_eq!(key("method", &r), Ok("GET".into()));
        assert_eq!(key("path", &r), Ok("/a".into()));
        assert_eq!(key("ip,path", &r), Ok("10.0.0.1,/a".into()));
        assert_eq!(key(" path , user", &r), Ok("/a,joe".into()));
    }

    #[test]
    fn joined_keys_never_run_together() {
        let one = key("user,path", &record("h", "a", "b,c"));
        let two = key("user,path", &record("h", "a,b", "c"));
        let three = key("user,path", &record("h", "a\\", "b,c"));
        assert_eq!(one, Ok("a,b\\,c".into()));
        assert_eq!(two, Ok("a\\,b,c".into()));
        assert_eq!(three, Ok("a\\\\,b\\,c".into()));
        assert_eq!(key("user", &record("h", "a,b", "c")), Ok("a,b".into()), "one part stays as it is");
    }

    #[test]
    fn a_ready_key_stands_in_for_what_is_missing() {
        let ready = Record { key: Some(Cow::Borrowed("2001:db8::1?x")), ..Record::default() };
        for spec in ["ip", "user", "path", "method", "ip,path"] {
            assert_eq!(key(spec, &ready), Ok("2001:db8::1?x".into()), "{spec}");
        }
        let address = Record { key: Some(Cow::Borrowed("2001:db8::1")), ..Record::default() };
        assert_eq!(key("ip/64", &address), Ok("2001:db8::/64".into()));
        let both = Record { key: Some(Cow::Borrowed("k")), ..record("10.0.0.1", "-", "/") };
        assert_eq!(key("ip", &both), Ok("10.0.0.1".into()));
        let empty = Record { key: Some(Cow::Borrowed("")), ..Record::default() };
        assert_eq!(key("ip", &empty), Ok(String::new()), "the empty key is a key");
    }

    #[test]
    fn only_a_missing_user_is_a_key() {
        let nothing = Record::default();
        assert_eq!(key("user", &nothing), Ok("-".into()));
        for spec in ["ip", "ip/64", "method", "path", "user,ip"] {
            assert!(key(spec, &nothing).is_err(), "{spec}");
        }
    }

    #[test]
    fn wrong_names_are_refused_with_the_right_ones() {
        for spec in ["", "ip,", "IP", "ip/", "ip/129", "ip/33/64", "ip/24/129", "ip/24/64/1", "ip/-1", "host"]
        {
            let refused = spec.parse::<KeySpec>().expect_err(spec);
            assert!(refused.contains("ip/24/64"), "{refused}");
        }
    }
}
