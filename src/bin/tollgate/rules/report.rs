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
