//! From what a file states to rules that are asked.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use arc_swap::ArcSwap;

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

/// What all rules of a file look at. It is swapped when another file takes its place, as a rule that stays goes on looking at it.
pub(super) struct Shared {
    allow: Networks,
    deny: Networks,
    named: Vec<(Matcher, Vec<Part>)>,
}

impl Shared {
    pub(super) fn of(config: &Config) -> Arc<Self> {
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

/// What one rule looks at besides. It is swapped when a rule stays whose match, list or cost is another.
#[derive(Debug)]
pub(super) struct Own {
    /// `None`: the requests that no other rule is for.
    matcher: Option<Matcher>,
    allow: Networks,
    cost: Cost,
}

/// By the rule's name.
pub(super) type Owns = BTreeMap<String, Arc<ArcSwap<Own>>>;

impl Own {
    pub(super) fn of(spec: &Spec) -> Arc<Self> {
        let matcher = (spec.name != DEFAULT).then(|| spec.matcher.clone());
        Arc::new(Self { matcher, allow: spec.allow.clone(), cost: spec.cost.clone() })
    }

    fn cost(&self, request: &(impl Request + ?Sized)) -> u64 {
        match &self.cost {
            Cost::Fixed(units) => *units,
            Cost::Named(name) => request.number(name).unwrap_or(1),
        }
    }
}

/// The rules in the order in which they are asked, each looking at its own.
pub(super) fn rules<R: Request + ?Sized + 'static>(
    config: &Config,
    shared: &Arc<ArcSwap<Shared>>,
    owns: &Owns,
) -> Vec<Rule<R>> {
    let rules = config.specs().flat_map(|spec| {
        let own = owns.get(&spec.name).cloned().unwrap_or_else(|| Arc::new(ArcSwap::new(Own::of(spec))));
        let requests = Requests { own, shared: shared.clone() };
        [own_list(spec, requests.clone()), Some(rule(spec, requests))]
    });
    iter::once(denied(shared.clone())).chain(rules.flatten()).collect()
}

/// Refuses who is on the file's one list and not on the other.
fn denied<R: Request + ?Sized + 'static>(shared: Arc<ArcSwap<Shared>>) -> Rule<R> {
    refuse(DENY, move |request: &R| {
        let (shared, client) = (shared.load(), request.client());
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
    Rule::new(name, Quota::blocked(), move |request: &R| whom(request).then_some(())).capacity(1)
}

/// The requests that one rule is for.
#[derive(Clone)]
struct Requests {
    own: Arc<ArcSwap<Own>>,
    shared: Arc<ArcSwap<Shared>>,
}

impl Requests {
    fn include(&self, request: &(impl Request + ?Sized)) -> bool {
        let (own, shared) = (self.own.load(), self.shared.load());
        let is_match = match &own.matcher {
            Some(matcher) => matcher.matches(request),
            None => shared.is_left(request),
        };
        is_match && !own.allow.has(request.client()) && !shared.allow.has(request.client())
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
    let (parts, own) = (spec.parts.clone(), requests.own.clone());
    let find = borrowing(
        move |request: &R| {
            if requests.include(request) { key::key(request, &parts) } else { None }
        },
    );
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
    let rule = rule.cost(move |request| own.load().cost(request));
    if spec.is_shadow { rule.shadow() } else { rule }
}
