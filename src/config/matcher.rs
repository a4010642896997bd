//! Which requests a rule is for.

use wildmatch::WildMatch;

use crate::config::fields::Fields;
use crate::config::request::Request;

/// The requests that fit one of each list that is not empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matcher {
    paths: Vec<WildMatch>,
    methods: Vec<String>,
    plans: Vec<String>,
}

impl Matcher {
    /// What could fit no request is a mistake: a rule that is never asked limits nothing.
    pub(super) fn read(fields: &mut Fields<'_>) -> Self {
        let paths = fitting(fields, "path", wrong_with_path);
        Self {
            paths: paths.iter().map(|path| WildMatch::new(path)).collect(),
            methods: fitting(fields, "method", wrong_with_method),
            plans: fitting(fields, "plan", wrong_with_plan),
        }
    }

    pub(super) fn matches(&self, request: &(impl Request + ?Sized)) -> bool {
        // Nothing is two methods by its case only, and a client may write it as it likes.
        let is_method = |method: &String| method.eq_ignore_ascii_case(request.method());
        let is_plan = |plan: &String| request.plan() == Some(plan);
        (self.paths.is_empty() || self.paths.iter().any(|path| path.matches(request.path())))
            && (self.methods.is_empty() || self.methods.iter().any(is_method))
            && (self.plans.is_empty() || self.plans.iter().any(is_plan))
    }
}

/// The texts of a setting; `wrong` says of one that could fit nothing what to write instead.
fn fitting(
    fields: &mut Fields<'_>,
    name: &'static str,
    wrong: impl Fn(&str) -> Option<&'static str>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (line, text) in fields.texts(name) {
        match wrong(&text) {
            Some(advice) => fields.wrong(line, format!("`{name}` is `{text}`: {advice}")),
            None => found.push(text),
        }
    }
    found
}

fn wrong_with_path(path: &str) -> Option<&'static str> {
    if !path.starts_with(['/', '*']) {
        Some("write a path from its `/` on, or begin with `*`")
    } else if path.contains(['?', '#']) {
        Some("a path comes without its query: end before it, or write `*` for what may be any")
    } else if is_loose(path) {
        Some("leave out the white space")
    } else {
        None
    }
}

fn wrong_with_method(method: &str) -> Option<&'static str> {
    let is_several = method.contains(|letter: char| letter.is_whitespace() || ",|*".contains(letter));
    (method.is_empty() || is_several || is_loose(method))
        .then_some("write one method, or a list of them, or leave it out for all")
}

fn wrong_with_plan(plan: &str) -> Option<&'static str> {
    (plan.is_empty() || plan.contains('*') || is_loose(plan))
        .then_some("write the name of a plan, or a list of them, or leave it out for all")
}

/// Whether there is at an end what is hard to see.
fn is_loose(text: &str) -> bool {
    text.trim() != text || text.contains(char::is_control)
}
