//! What a rule counts by.

use std::net::IpAddr;

use crate::config::request::Request;
use crate::key::IpPrefix;

/// Parts of one key, at most.
pub(super) const MAX_PARTS: usize = 4;

/// One part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Client,
    User,
    Path,
    Method,
    Plan,
    Attribute(String),
}

pub(super) const PARTS: &str = "client, user, path, method, plan, attribute:NAME";

/// Whether this could be what a service calls an attribute or a number.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) && text.trim() == text
}

impl Part {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "client" => Self::Client,
            "user" => Self::User,
            "path" => Self::Path,
            "method" => Self::Method,
            "plan" => Self::Plan,
            _ => Self::Attribute(text.strip_prefix("attribute:").filter(|name| is_name(name))?.to_owned()),
        })
    }

    fn value<'r>(&self, request: &'r (impl Request + ?Sized)) -> Option<Value<&'r str>> {
        let text = match self {
            Self::Client => return request.client().map(|addr: IpAddr| Value::Client(IpPrefix::new(addr))),
            Self::User => request.user(),
            Self::Path => Some(request.path()),
            Self::Method => Some(request.method()),
            Self::Plan => request.plan(),
            Self::Attribute(name) => request.attribute(name),
        };
        text.map(Value::Text)
    }
}

/// What a request has of a part. Each value is hashed by itself, and a text with its end, so two different keys never are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Value<T> {
    Client(IpPrefix),
    Text(T),
}

/// A key, borrowed from its request or not.
pub(super) type Key<T> = [Option<Value<T>>; MAX_PARTS];

/// The key of a request, if it has all parts.
pub(super) fn key<'r>(request: &'r (impl Request + ?Sized), parts: &[Part]) -> Option<Key<&'r str>> {
    let mut key = [const { None }; MAX_PARTS];
    for (place, part) in key.iter_mut().zip(parts) {
        *place = Some(part.value(request)?);
    }
    Some(key)
}

/// The same to be kept.
pub(super) fn owned(key: Key<&str>) -> Key<Box<str>> {
    key.map(|value| {
        value.map(|value| match value {
            Value::Client(prefix) => Value::Client(prefix),
            Value::Text(text) => Value::Text(text.into()),
        })
    })
}
