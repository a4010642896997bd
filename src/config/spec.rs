//! Rules as a file states them, checked.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use wildmatch::WildMatch;

use crate::algorithm::{SLIDING_WINDOW_LOG, Settings, names};
use crate::config::build::{DEFAULT, DENY};
use crate::config::fields::Fields;
use crate::config::key::{MAX_PARTS, PARTS, Part};
use crate::config::node::Value;
use crate::config::request::Request;
use crate::error::BuildError;
use crate::limiter::Plan;
use crate::quota::Quota;
use crate::store::Overflow;

/// Which requests a rule is for: those that fit one of each list that is not empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matcher {
    pub(super) paths: Vec<WildMatch>,
    pub(super) methods: Vec<String>,
    pub(super) plans: Vec<String>,
}

impl Matcher {
    pub(super) fn matches(&self, request: &(impl Request + ?Sized)) -> bool {
        let is_one = |list: &[String], value: Option<&str>| {
            list.is_empty() || value.is_some_and(|value| list.iter().any(|one| one == value))
        };
        (self.paths.is_empty() || self.paths.iter().any(|path| path.matches(request.path())))
            && is_one(&self.methods, Some(request.method()))
            && is_one(&self.plans, request.plan())
    }
}

/// The units that a request costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    Fixed(u64),
    /// A number of the request's; 1 where it has none.
    Named(String),
}

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) matcher: Matcher,
    pub(super) parts: Vec<Part>,
    pub(super) quota: Quota,
    pub(super) algorithm: String,
    pub(super) cost: Cost,
    pub(super) capacity: Option<u64>,
    pub(super) overflow: Overflow,
    pub(super) is_shadow: bool,
    pub(super) allow: Networks,
    pub(super) deny: Networks,
}

/// Networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Networks(Vec<IpNet>);

impl Networks {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, client: Option<IpAddr>) -> bool {
        // An IPv4 address is one, whichever way it is written.
        client.is_some_and(|addr| self.0.iter().any(|net| net.contains(&addr.to_canonical())))
    }

    /// Networks, or single addresses.
    pub(super) fn read(fields: &mut Fields<'_>, name: &'static str) -> Self {
        let mut networks = Vec::new();
        for (line, text) in fields.texts(name) {
            match text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)) {
                Ok(network) => networks.push(network),
                Err(_) => {
                    fields.wrong(
                        line,
                        format!(
                            "`{text}` is no network: write an address, or one with a length, as 10.0.0.0/8"
                        ),
                    );
                }
            }
        }
        Self(networks)
    }
}

impl Spec {
    /// A rule of the list, whose name is none of `names` yet. `None` if it is not whole; what is wrong was noted.
    pub(super) fn read(mut fields: Fields<'_>, names: &mut Vec<String>) -> Option<Self> {
        let name = name(&mut fields, names);
        let matcher = Matcher {
            paths: fields.texts("path").iter().map(|(_, path)| WildMatch::new(path)).collect(),
            methods: fields.texts("method").into_iter().map(|(_, method)| method).collect(),
            plans: fields.texts("plan").into_iter().map(|(_, plan)| plan).collect(),
        };
        Self::read_limit(fields, name, matcher)
    }

    /// What any rule has, whichever requests it is for.
    pub(super) fn read_limit(mut fields: Fields<'_>, name: String, matcher: Matcher) -> Option<Self> {
        let parts = parts(&mut fields);
        let limit = limit(&mut fields);
        let cost = cost(&mut fields);
        let capacity = fields.count("capacity");
        let overflow = overflow(&mut fields);
        let is_shadow = fields.flag("shadow");
        let (allow, deny) = (Networks::read(&mut fields, "allow"), Networks::read(&mut fields, "deny"));
        fields.end();
        let (quota, algorithm) = limit?;
        Some(Self {
            name,
            matcher,
            parts: parts?,
            quota,
            algorithm,
            cost: cost?,
            capacity,
            overflow: overflow?,
            is_shadow,
            allow,
            deny,
        })
    }

    /// Whether the rule counts whole keys: a log cannot share its memory.
    pub(super) fn is_exact(&self) -> bool {
        self.algorithm == SLIDING_WINDOW_LOG
    }
}

/// The rule in a line.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shadow = if self.is_shadow { ", shadow" } else { "" };
        write!(f, "{}: {} by {}{shadow}", self.name, self.quota, self.algorithm)
    }
}

fn name(fields: &mut Fields<'_>, names: &mut Vec<String>) -> String {
    let rule_line = fields.line();
    let Some((line, name)) = fields.text("name") else {
        fields.wrong(rule_line, "a rule without `name`: write one");
        return String::new();
    };
    if [DENY, DEFAULT].contains(&&*name) {
        fields.wrong(line, format!("`{name}` is the name of what comes by itself: write another"));
    } else if names.contains(&name) {
        fields.wrong(line, format!("a second rule named `{name}`: write another name"));
    }
    names.push(name.clone());
    name
}

fn parts(fields: &mut Fields<'_>) -> Option<Vec<Part>> {
    let line = fields.line();
    let texts = fields.texts("key");
    if texts.is_empty() {
        fields.wrong(line, format!("no `key`: write what is counted together, some of {PARTS}"));
        return None;
    }
    if let [(_, text)] = &texts[..]
        && text == "all"
    {
        return Some(Vec::new());
    }
    if texts.len() > MAX_PARTS {
        fields
            .wrong(texts[MAX_PARTS].0, format!("a key of {} parts: write at most {MAX_PARTS}", texts.len()));
        return None;
    }
    let mut parts = Vec::new();
    for (line, text) in &texts {
        match Part::parse(text) {
            Some(part) => parts.push(part),
            None => fields.wrong(*line, format!("`{text}` is no part of a key: write some of {PARTS}")),
        }
    }
    (parts.len() == texts.len()).then_some(parts)
}

/// The quota and the algorithm, which fit each other.
fn limit(fields: &mut Fields<'_>) -> Option<(Quota, String)> {
    let line = fields.line();
    let quota = fields.text("quota");
    let algorithm = fields.text("algorithm");
    let Some((line, text)) = quota else {
        fields.wrong(line, "no `quota`: write one, as `100/min` or `10/s burst 20`");
        return None;
    };
    let quota: Quota = match text.parse() {
        Ok(quota) => quota,
        Err(error) => {
            fields.wrong(line, error.to_string());
            return None;
        }
    };
    let (algorithm_line, algorithm) = algorithm.unwrap_or((line, "gcra".to_owned()));
    // A quota without a rate asks no algorithm, so the name is looked for besides.
    let checked = Plan::new(quota, &algorithm, &Settings::default()).and_then(|_| {
        let known = names();
        let is_known = known.contains(&algorithm);
        if is_known { Ok(()) } else { Err(BuildError::UnknownAlgorithm { name: algorithm.clone(), known }) }
    });
    match checked {
        Ok(()) => Some((quota, algorithm)),
        Err(error) => {
            let is_name = matches!(error, BuildError::UnknownAlgorithm { .. });
            fields.wrong(if is_name { algorithm_line } else { line }, error.to_string());
            None
        }
    }
}

fn cost(fields: &mut Fields<'_>) -> Option<Cost> {
    let Some(node) = fields.take("cost") else { return Some(Cost::Fixed(1)) };
    let found = match node.value {
        Value::Number(units) if units > 0 => return Some(Cost::Fixed(units.unsigned_abs())),
        Value::Text(name) if !name.is_empty() => return Some(Cost::Named(name)),
        Value::Number(units) => units.to_string(),
        other => other.kind().to_owned(),
    };
    let wanted = "a whole number from 1, or the name of a number of the request's";
    fields.wrong(node.line, format!("`cost` is {found}: write {wanted}"));
    None
}

fn overflow(fields: &mut Fields<'_>) -> Option<Overflow> {
    let Some((line, text)) = fields.text("overflow") else { return Some(Overflow::default()) };
    match &*text {
        "share" => Some(Overflow::Share),
        "deny" => Some(Overflow::Deny),
        "allow" => Some(Overflow::Allow),
        _ => {
            fields.wrong(line, format!("`overflow` is `{text}`: write share, deny or allow"));
            None
        }
    }
}
