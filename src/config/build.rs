//! From what a file states to rules that are asked.

use std::iter;
use std::sync::Arc;

use crate::config::Config;
use crate::config::key::{self, Key, Part};
use crate::config::matcher::Matcher;
use crate::config::networks::Networks;
use crate::config::request::Request;
use crate::config::spec::{Cost, Spec};
use crate::limits::Rule;
use crate::quota::Quota;

/// The name of the rule that the `deny` list is.
pub(super) const DENY: &str = "deny";

/// The name of the rule that a rule's own `deny` list is.
pub(super) fn denied_by(name: &str) -> String {
    format!("{name}: {DENY}")
}

/// The name of the rule for what no other is for.
pub(super) const DEFAULT: &str = "default";

/// What all rules of one file look at. A rule that stays when another file comes looks at that one's from then on, and
/// calls under way at this: no request falls between the two.
struct Shared {
    allow: Networks,
    deny: Networks,
    named: Vec<(Matcher, Vec<Part>)>,
}

impl Shared {
    fn of(config: &Config) -> Arc<Self> {
        let named = config.rules.iter().map(|spec| (spec.matcher.clone(), spec.parts.clone())).collect();
        Arc::new(Self { allow: config.allow.clone(), deny: config.deny.clone(), named })
    }

    /// Whether no named rule is for the request: none matches that finds in it what it counts by.
    fn is_left(&self, request: &(impl Request + ?Sized)) -> bool {
        let is_for = |(matcher, parts): &(Matcher, Vec<Part>)| {
            matcher.matches(request) && key::key(request, parts).is_some()
        };
        !self.named.iter().any(is_for)
    }
}

impl Cost {
    fn of(&self, request: &(impl Request + ?Sized)) -> u64 {
        match self {
            Self::Fixed(units) => *units,
            Self::Named(name) => request.number(name).unwrap_or(1),
        }
    }
}

/// The rules in the order in which they are asked.
pub(super) fn rules<R: Request + ?Sized + 'static>(config: &Config) -> Vec<Rule<R>> {
    let shared = Shared::of(config);
    let rules = config.specs().flat_map(|spec| {
        let requests = Requests::of(spec, shared.clone());
        [own_list(spec, requests.clone()), Some(rule(spec, requests))]
    });
    iter::once(denied(shared.clone())).chain(rules.flatten()).collect()
}

/// Refuses who is on the file's one list and not on the other.
fn denied<R: Request + ?Sized + 'static>(shared: Arc<Shared>) -> Rule<R> {
    refuse(DENY, move |request: &R| {
        let client = request.client();
        shared.deny.has(client) && !shared.allow.has(client)
    })
}

/// Refuses who is on a rule's own list.
fn own_list<R: Request + ?Sized + 'static>(spec: &Spec, requests: Requests) -> Option<Rule<R>> {
    let deny = spec.deny.clone();
    let name = denied_by(&spec.name);
    (!deny.is_empty())
        .then(|| refuse(&name, move |request: &R| deny.has(request.client()) && requests.include(request)))
}

fn refuse<R: ?Sized + 'static>(name: &str, whom: impl Fn(&R) -> bool + Send + Sync + 'static) -> Rule<R> {
    Rule::global(name, Quota::blocked()).only(whom)
}

/// The requests that one rule is for.
#[derive(Clone)]
struct Requests {
    /// `None`: the requests that no other rule is for.
    matcher: Option<Matcher>,
    allow: Networks,
    shared: Arc<Shared>,
}

impl Requests {
    fn of(spec: &Spec, shared: Arc<Shared>) -> Self {
        let matcher = (spec.name != DEFAULT).then(|| spec.matcher.clone());
        Self { matcher, allow: spec.allow.clone(), shared }
    }

    fn include(&self, request: &(impl Request + ?Sized)) -> bool {
        let is_match = match &self.matcher {
            Some(matcher) => matcher.matches(request),
            None => self.shared.is_left(request),
        };
        is_match && !self.allow.has(request.client()) && !self.shared.allow.has(request.client())
    }
}

/// Says of a closure that its key borrows from the request.
const fn borrowing<R: ?Sized, F>(find: F) -> F
where
    F: for<'r> Fn(&'r R) -> Option<Key<&'r str>>,
{
    find
}

fn rule<R: Request + ?Sized + 'static>(spec: &Spec, requests: Requests) -> Rule<R> {
    let (parts, cost) = (spec.parts.clone(), spec.cost.clone());
    let find = borrowing(move |request: &R| key::key(request, &parts));
    let rule = if spec.is_exact() {
        Rule::exact(&spec.name, spec.quota, move |request: &R| find(request).map(key::owned))
    } else {
        Rule::new(&spec.name, spec.quota, find)
    };
    let rule = rule.algorithm(&spec.algorithm).overflow(spec.overflow);
    let rule = match (spec.capacity, spec.parts.is_empty()) {
        (Some(keys), _) => rule.capacity(usize::try_from(keys).unwrap_or(usize::MAX)),
        (None, true) => rule.capacity(1),
        (None, false) => rule,
    };
    let rule = rule.only(move |request| requests.include(request)).cost(move |request| cost.of(request));
    if spec.is_shadow { rule.shadow() } else { rule }
}
