//! What a file's rules did to a log.

use std::io::{self, Write};

use serde::Serialize;
use tollgate::{Counts, Quota};

use crate::replay::Reading;
use crate::report::text::{count, plural, table};

pub(crate) struct Report {
    pub(crate) denied: u64,
    pub(crate) rules: Vec<RuleReport>,
    pub(crate) reading: Reading,
}

#[derive(Serialize)]
pub(crate) struct RuleReport {
    pub(crate) name: String,
    /// Refuses whom a list names, and is asked about nobody else.
    #[serde(skip)]
    pub(crate) is_list: bool,
    quota: String,
    /// Requests that the rule is for and that reached it.
    asked: u64,
    allowed: u64,
    pub(crate) denied: u64,
    shadow_denied: u64,
    /// Clients that this rule's refusal was told.
    denied_clients: usize,
}

impl RuleReport {
    pub(crate) fn new(name: &str, quota: Quota, counts: Counts, denied_clients: usize) -> Self {
        let Counts { allowed, denied, shadow_denied, .. } = counts;
        Self {
            name: name.to_owned(),
            is_list: name == "deny" || name.ends_with(": deny"),
            quota: quota.to_string(),
            asked: allowed + denied + shadow_denied,
            allowed,
            denied,
            shadow_denied,
            denied_clients,
        }
    }
}

#[derive(Serialize)]
struct Whole<'a> {
    requests: u64,
    unparsed: u64,
    allowed: u64,
    denied: u64,
    rules: &'a [RuleReport],
}

impl Report {
    /// One JSON object on one line.
    pub(crate) fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        let Reading { requests, unparsed, .. } = self.reading;
        let whole = Whole {
            requests,
            unparsed,
            allowed: requests - self.denied,
            denied: self.denied,
            rules: &self.rules,
        };
        serde_json::to_writer(&mut out, &whole)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// Names the rules that were for no request: whoever wrote one expects it to do something.
    pub(crate) fn write_unasked(&self, mut out: impl Write) -> io::Result<()> {
        let unasked = self.rules.iter().filter(|rule| rule.asked == 0 && !rule.is_list);
        let names: Vec<_> = unasked.map(|rule| format!("`{}`", rule.name)).collect();
        if names.is_empty() {
            return Ok(());
        }
        writeln!(out, "no request of the log met {}", names.join(", "))?;
        writeln!(
            out,
            "(a log names no plan and no attribute, and perhaps no user; a host name is no client's address)"
        )
    }

    /// For people.
    pub(crate) fn write_text(&self, mut out: impl Write) -> io::Result<()> {
        let Reading { requests, unparsed, .. } = self.reading;
        writeln!(out, "{}, {} unparsed", plural(requests, "request"), plural(unparsed, "line"))?;
        writeln!(out, "{} allowed, {} denied\n", count(requests - self.denied), count(self.denied))?;
        let row = |rule: &RuleReport| {
            let figures =
                [rule.asked, rule.allowed, rule.denied, rule.shadow_denied, rule.denied_clients as u64];
            (format!("{}, {}", rule.name, rule.quota), figures.map(count))
        };
        let rows: Vec<_> = self.rules.iter().map(row).collect();
        let heads = ["asked", "allowed", "denied", "shadow", "clients denied"];
        out.write_all(table("", heads, &rows).as_bytes())?;
        out.flush()
    }
}
