//! Rules as a file states them, checked.

use std::fmt;

use crate::algorithm::{SLIDING_WINDOW_LOG, Settings};
use crate::config::build::{DEFAULT, DENY, denied_by};
use crate::config::fields::Fields;
use crate::config::key::{MAX_PARTS, PARTS, Part, is_name};
use crate::config::matcher::Matcher;
use crate::config::networks::Networks;
use crate::config::node::Value;
use crate::error::BuildError;
use crate::limiter::Plan;
use crate::quota::Quota;
use crate::store::Overflow;

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

impl Spec {
    /// A rule of the list, whose name is none of `names` yet. `None` if it is not whole; what is wrong was noted.
    pub(super) fn read(mut fields: Fields<'_>, names: &mut Vec<String>) -> Option<Self> {
        let name = name(&mut fields, names);
        let matcher = Matcher::read(&mut fields);
        Self::read_limit(fields, name, matcher)
    }

    /// What any rule has, whichever requests it is for.
    pub(super) fn read_limit(mut fields: Fields<'_>, name: String, matcher: Matcher) -> Option<Self> {
        let parts = parts(&mut fields);
        let limit = limit(&mut fields);
        let cost = cost(&mut fields, limit.as_ref().map(|(quota, _)| *quota));
        let is_exact = limit.as_ref().is_some_and(|(_, algorithm)| algorithm == SLIDING_WINDOW_LOG);
        let (capacity, overflow) = room(&mut fields, is_exact);
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
    let Some((line, name)) = fields.text("name") else {
        fields.missing("name", "a rule without `name`: write one");
        return String::new();
    };
    // The name of a rule's own list comes by itself, too.
    let is_taken = [DENY, DEFAULT].contains(&&*name) || name.ends_with(&denied_by(""));
    if name.trim().is_empty() || name.contains(char::is_control) {
        fields.wrong(line, format!("`name` is `{name}`: write letters that can be read"));
    } else if is_taken {
        fields.wrong(line, format!("`{name}` is the name of what comes by itself: write another"));
    } else if names.contains(&name) {
        fields.wrong(line, format!("a second rule named `{name}`: write another name"));
    }
    names.push(name.clone());
    name
}

fn parts(fields: &mut Fields<'_>) -> Option<Vec<Part>> {
    let texts = fields.texts("key");
    if texts.is_empty() {
        fields.missing("key", &format!("no `key`: write what is counted together: all, or some of {PARTS}"));
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
            None if text == "all" => {
                fields.wrong(*line, "`all` is a key by itself: write it alone, or leave it out");
            }
            None => {
                fields.wrong(*line, format!("`{text}` is no part of a key: write all, or some of {PARTS}"));
            }
        }
    }
    (parts.len() == texts.len()).then_some(parts)
}

/// The quota and the algorithm, which fit each other.
fn limit(fields: &mut Fields<'_>) -> Option<(Quota, String)> {
    let quota = fields.text("quota");
    let algorithm = fields.text("algorithm");
    let Some((line, text)) = quota else {
        fields.missing("quota", "no `quota`: write one, as `100/min` or `10/s burst 20`");
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
    match Plan::new(quota, &algorithm, &Settings::default()) {
        Ok(_) => Some((quota, algorithm)),
        Err(error) => {
            let is_name = matches!(error, BuildError::UnknownAlgorithm { .. });
            fields.wrong(if is_name { algorithm_line } else { line }, error.to_string());
            None
        }
    }
}

fn cost(fields: &mut Fields<'_>, quota: Option<Quota>) -> Option<Cost> {
    let Some(node) = fields.take("cost") else { return Some(Cost::Fixed(1)) };
    let found = match node.value {
        Value::Number(units) if units > 0 => {
            let units = units.unsigned_abs();
            if let Some(rate) = quota.and_then(|quota| quota.rate()).filter(|rate| rate.capacity() < units) {
                let most = rate.capacity();
                let message = format!(
                    "`cost` is {units}, and the quota never has more than {most}: no request would be allowed; write at most {most}, or a larger quota"
                );
                fields.wrong(node.line, message);
                return None;
            }
            return Some(Cost::Fixed(units));
        }
        Value::Text(name) if is_name(&name) => return Some(Cost::Named(name)),
        Value::Text(text) => format!("the text `{text}`"),
        Value::Number(units) => units.to_string(),
        other => other.kind().to_owned(),
    };
    let wanted = "a whole number from 1, without quotes, or the name of a number of the request's";
    fields.wrong(node.line, format!("`cost` is {found}: write {wanted}"));
    None
}

/// The keys that have room, and what others meet. A log has no such bound, so who states one would be wrong about its memory.
fn room(fields: &mut Fields<'_>, is_exact: bool) -> (Option<u64>, Option<Overflow>) {
    if is_exact {
        for name in ["capacity", "overflow"] {
            if let Some(node) = fields.take(name) {
                let message = format!(
                    "`{name}` with {SLIDING_WINDOW_LOG}, which keeps all keys: leave it out, or write another algorithm"
                );
                fields.wrong(node.line, message);
            }
        }
    }
    (fields.count("capacity"), overflow(fields))
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
