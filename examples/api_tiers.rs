//! Tiers for an API: the user's own limit, the endpoint's, and one for all; and what an operator does meanwhile.
//! `cargo run --example api_tiers`

use std::sync::Arc;
use std::time::Duration;

use tollgate::{Bans, Clock, Limits, ManualClock, Quota, Rule};

struct Request {
    /// None: not logged in, so the user's tier is absent.
    user: Option<u64>,
    method: &'static str,
    path: &'static str,
}

/// Borrowed from the request, so nothing is allocated.
fn endpoint(request: &Request) -> Option<(&str, &str)> {
    // Everything but uploads is unlimited by endpoint.
    (request.path == "/upload").then_some((request.method, request.path))
}

fn main() -> Result<(), tollgate::BuildError> {
    let user = |request: &Request| request.user;
    let bans = Arc::new(Bans::<u64>::new(10_000)?);
    let limits = Limits::builder()
        .rule(Rule::banned("banned", bans.clone(), user))
        .rule(Rule::new("user", Quota::per_second(3), user))
        .rule(Rule::new("endpoint", Quota::per_second(4), endpoint))
        .rule(Rule::global("global", Quota::per_second(100)))
        // What is to become a rule one day: it refuses nothing yet.
        .rule(Rule::new("user, day", Quota::per_day(2), user).shadow())
        .first_refusal_answers()
        .counters()
        .clock(ManualClock::new(0))
        .build()?;

    let ask = |user, path| {
        let outcome = limits.check(&Request { user, method: "PUT", path });
        let who = user.map_or("nobody".to_owned(), |id| format!("user {id}"));
        match outcome.rule() {
            Some(rule) if outcome.is_denied() => {
                println!("{who} {path}: 429 by {rule}, retry after {:?}", outcome.retry_after());
            }
            _ => println!("{who} {path}: 200, {} left", outcome.remaining()),
        }
    };
    (0..4).for_each(|_| ask(Some(7), "/upload"));
    (0..2).for_each(|_| ask(Some(8), "/upload"));
    ask(Some(8), "/");
    ask(None, "/");

    // User 8 has signed in with a wrong password, and user 7 is shut out for an hour.
    let per_user = limits.rule("user").expect("it was added above");
    per_user.penalize(&Request { user: Some(8), method: "POST", path: "/login" }, 4);
    ask(Some(8), "/");
    bans.ban_at(&7, Duration::from_secs(3_600), limits.clock().now_ns());
    ask(Some(7), "/");

    // Ten times as much for everybody, from now on.
    per_user.set_quota(Quota::per_second(30))?;
    println!(
        "user 8 is now told to wait {:?}",
        limits.peek(&Request { user: Some(8), method: "GET", path: "/" }).retry_after()
    );

    for rule in limits.rules() {
        println!("{}: {:?}", rule.name(), rule.counts().expect("they were asked for above"));
    }
    Ok(())
}

// user 7 /upload: 200, 2 left
// user 7 /upload: 200, 1 left
// user 7 /upload: 200, 0 left
// user 7 /upload: 429 by user, retry after 333.333334ms
// user 8 /upload: 200, 0 left
// user 8 /upload: 429 by endpoint, retry after 250ms
// user 8 /: 200, 1 left
// nobody /: 200, 94 left
// user 8 /: 429 by user, retry after 1.333333334s
// user 7 /: 429 by banned, retry after 3600s
// user 8 is now told to wait 1.033333316s
// banned: Counts { allowed: 0, denied: 1, shadow_denied: 0 }
// user: Counts { allowed: 5, denied: 2, shadow_denied: 0 }
// endpoint: Counts { allowed: 4, denied: 1, shadow_denied: 0 }
// global: Counts { allowed: 6, denied: 0, shadow_denied: 0 }
// user, day: Counts { allowed: 4, denied: 0, shadow_denied: 1 }
