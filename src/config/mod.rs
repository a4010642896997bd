//! Limits from a file.
//!
//! ```
//! use std::net::IpAddr;
//! use tollgate::config::{Config, Request};
//!
//! let config = Config::from_toml(r#"
//!     [[rules]]
//!     name = "login"
//!     path = "/login"
//!     method = "POST"
//!     key = "client"
//!     quota = "5/min"
//!
//!     [[rules]]
//!     name = "search"
//!     path = ["/search", "/api/*/search"]
//!     key = ["user", "path"]
//!     quota = "10/s burst 20"
//!     shadow = true
//! "#)?;
//!
//! struct Call { client: IpAddr, method: &'static str, path: &'static str }
//! impl Request for Call {
//!     fn path(&self) -> &str { self.path }
//!     fn method(&self) -> &str { self.method }
//!     fn client(&self) -> Option<IpAddr> { Some(self.client) }
//! }
//! let limits = config.limits::<Call>()?;
//! let login = Call { client: [203, 0, 113, 7].into(), method: "POST", path: "/login" };
//! assert!((0..5).all(|_| limits.check(&login).is_allowed()));
//! assert_eq!(limits.check(&login).rule(), Some("login"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A file
//!
//! | setting | of a rule | says |
//! |---|---|---|
//! | `name` | must be | by what the rule is known |
//! | `path` | | one pattern or several: a path from its `/` on, with `*` for any characters, `/` too |
//! | `method` | | one or several, in either case |
//! | `plan` | | one or several, as they are written |
//! | `key` | must be | whose requests are counted together: `all`, or up to four of `client` (an IPv4 address or an IPv6 /64), `user`, `path`, `method`, `plan`, `attribute:NAME` |
//! | `quota` | must be | `10/s burst 20`, `unlimited`, `blocked`: see [`Quota`](crate::Quota) |
//! | `algorithm` | | `gcra` when nothing is said: see [`algorithm`](crate::algorithm). `sliding_window_log` keeps exact keys, in memory that grows, so `capacity` and `overflow` are refused beside it |
//! | `cost` | | units of a request, 1 when nothing is said; or the [name of a number](Request::number) of the request's, and then 1 where it has none |
//! | `capacity` | | keys that may be live at once |
//! | `overflow` | | `share`, `deny` or `allow`: what a new key meets when so many are |
//! | `shadow` | | `true`: it counts what it would refuse, and refuses nothing |
//! | `allow`, `deny` | | networks that do not meet this rule; those that it refuses, as a rule of its own named `NAME: deny` |
//!
//! Every rule that is for a request is charged, in the order of the file, or none. A rule is for those that fit `path`, `method` and
//! `plan`, and have all that its `key` asks for: `key = "user"` is for nobody who is not logged in.
//!
//! Beside `rules`, which is a list of them, a file may have `default`, a rule without name and pattern for what no other rule is for
//! (whom a rule's own `allow` lets through, it was for); `allow` and `deny`, lists of networks that meet no rule at all, or nothing but a refusal (`allow` is asked first);
//! and `first_refusal_answers = true`, with which the first rule that refuses is the answer, as tiers want. What no rule is for is allowed.
//!
//! # What a file cannot see
//!
//! What could fit no request is a mistake, and so is a file without `rules`, `default` and `deny`. But which plans, attributes and
//! numbers a service has, and how it spells its paths, is not in the file:
//!
//! * Patterns are compared with [`Request::path`] letter by letter. `/login` is not for `/login/`, `//login`, `/Login` or `/%6Cogin`. If
//!   your router takes these for one, let `path` give what it makes of them.
//! * A plan, attribute or number with a name that no request knows is one that no request has. [`Counts`](crate::Counts) show a rule
//!   that is never asked.
//! * Whoever makes up paths or methods has a fresh quota for each when they are parts of a `key`: let another rule count by `client`.

mod build;
mod fields;
mod key;
mod live;
mod matcher;
mod mistake;
mod networks;
mod node;
mod request;
mod spec;

pub use live::{Changes, LiveLimits, Loaded};
pub use mistake::{ConfigError, Mistake};
pub use request::Request;

use std::fmt;
use std::path::Path;

use crate::error::BuildError;
use crate::limits::{Limits, LimitsBuilder};

use fields::Fields;
use matcher::Matcher;
use networks::Networks;
use node::{Node, Value};
use spec::Spec;

/// The rules of a file, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    rules: Vec<Spec>,
    default: Option<Spec>,
    allow: Networks,
    deny: Networks,
    stops_at_first: bool,
}

impl Config {
    /// Reads TOML.
    ///
    /// # Errors
    /// All that is wrong with it, by line.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        Self::read(node::from_toml(text))
    }

    /// Reads YAML.
    ///
    /// # Errors
    /// All that is wrong with it, by line; of its syntax the first thing.
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        Self::read(node::from_yaml(text))
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// All that is wrong with it, by line; of its syntax the first thing.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        // Which is YAML, too.
        Self::from_yaml(text)
    }

    /// Reads what the name's ending says: `.yaml` and `.yml`, `.json`, or else TOML.
    ///
    /// # Errors
    /// All that is wrong with it, by line.
    pub fn from_named(name: &Path, text: &str) -> Result<Self, ConfigError> {
        let ending = name.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match &*ending.to_ascii_lowercase() {
            "yaml" | "yml" => Self::from_yaml(text),
            "json" => Self::from_json(text),
            _ => Self::from_toml(text),
        }
    }

    fn read(parsed: Result<Node, Vec<Mistake>>) -> Result<Self, ConfigError> {
        let mut mistakes = Vec::new();
        let config = parsed.map_err(ConfigError::new).map(|node| Self::read_file(node, &mut mistakes))?;
        if mistakes.is_empty() { Ok(config) } else { Err(ConfigError::new(mistakes)) }
    }

    fn read_file(node: Node, mistakes: &mut Vec<Mistake>) -> Self {
        let mut fields = Fields::of(node, "the file", mistakes);
        let (rules, default) = (fields.take("rules"), fields.take("default"));
        let allow = Networks::read(&mut fields, "allow");
        let deny = Networks::read(&mut fields, "deny");
        let stops_at_first = fields.flag("first_refusal_answers");
        if default.is_none() && !fields.is_given("deny") {
            // As a file is while an editor writes it: nothing of it must come into force.
            fields.missing("rules", "the file limits nothing: write `rules`, an empty list if that is meant");
        }
        fields.end();
        let rules = rules.map(|node| read_rules(node, mistakes)).unwrap_or_default();
        let default = default.and_then(|node| {
            let fields = Fields::of(node, "`default`", mistakes);
            Spec::read_limit(fields, build::DEFAULT.to_owned(), Matcher::default())
        });
        Self { rules, default, allow, deny, stops_at_first }
    }

    /// The limits, with [counters](LimitsBuilder::counters).
    ///
    /// # Errors
    /// When there is no memory for a capacity.
    pub fn limits<R: Request + ?Sized + 'static>(&self) -> Result<Limits<R>, BuildError> {
        self.add_to(Limits::builder()).build()
    }

    /// The same rules in a builder of your own, with another clock for example.
    pub fn add_to<R: Request + ?Sized + 'static, C>(
        &self,
        builder: LimitsBuilder<R, C>,
    ) -> LimitsBuilder<R, C> {
        self.settings(build::rules(self).into_iter().fold(builder, LimitsBuilder::rule))
    }

    fn settings<R: ?Sized, C>(&self, builder: LimitsBuilder<R, C>) -> LimitsBuilder<R, C> {
        let builder = builder.counters();
        if self.stops_at_first { builder.first_refusal_answers() } else { builder }
    }

    /// The rules that requests are charged by, `default` last.
    fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.rules.iter().chain(&self.default)
    }
}

/// A rule to a line.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.specs().try_for_each(|spec| writeln!(f, "{spec}"))
    }
}

/// The rules of the list, in order.
fn read_rules(node: Node, mistakes: &mut Vec<Mistake>) -> Vec<Spec> {
    let items = match node.value {
        Value::List(items) => items,
        other => {
            let message = format!("`rules` is {}: write a list of tables", other.kind());
            mistakes.push(Mistake::new(node.line, message));
            Vec::new()
        }
    };
    let mut names = Vec::new();
    let read = |item| Spec::read(Fields::of(item, "a rule", mistakes), &mut names);
    items.into_iter().filter_map(read).collect()
}
