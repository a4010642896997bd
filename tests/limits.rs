//! Several rules on one request: all are charged, or none.

mod oracle;

#[path = "limits/cases.rs"]
mod cases;
#[path = "limits/model.rs"]
mod model;
#[path = "limits/operating.rs"]
mod operating;
#[path = "limits/racing.rs"]
mod racing;
#[path = "limits/undo.rs"]
mod undo;

use tollgate::{Limits, LimitsBuilder, ManualClock, Rule};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// Who asks, where, and for how much.
#[derive(Clone, Copy, Debug)]
struct Request {
    user: Option<u64>,
    endpoint: &'static str,
    cost: u64,
}

fn user(user: u64) -> Request {
    Request { user: Some(user), endpoint: "/", cost: 1 }
}

fn by_user(request: &Request) -> Option<u64> {
    request.user
}

fn builder() -> LimitsBuilder<Request, ManualClock> {
    Limits::builder().clock(ManualClock::new(0))
}

fn limits(rules: impl IntoIterator<Item = Rule<Request>>) -> Limits<Request, ManualClock> {
    rules.into_iter().fold(builder(), LimitsBuilder::rule).build().unwrap()
}

/// Units that a rule has left for a request.
fn left(limits: &Limits<Request, ManualClock>, rule: &str, request: &Request, now_ns: u64) -> u64 {
    limits.rule(rule).unwrap().peek_at(request, now_ns).unwrap().remaining()
}
