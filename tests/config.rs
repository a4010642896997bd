//! Limits from a file.

#[path = "config/hostile.rs"]
mod hostile;
#[path = "config/live.rs"]
mod live;
#[path = "config/matching.rs"]
mod matching;
#[path = "config/mistakes.rs"]
mod mistakes;
#[path = "config/rules.rs"]
mod rules;

use std::net::IpAddr;

use tollgate::config::{Config, Request};
use tollgate::{Limits, ManualClock};

/// A request with what a test says of it.
#[derive(Clone, Debug)]
struct Call {
    path: &'static str,
    method: &'static str,
    client: Option<IpAddr>,
    user: Option<&'static str>,
    plan: Option<&'static str>,
    tenant: Option<&'static str>,
    bytes: Option<u64>,
}

impl Call {
    fn to(path: &'static str) -> Self {
        Self { path, method: "GET", client: None, user: None, plan: None, tenant: None, bytes: None }
    }

    fn from(client: &str) -> Self {
        Self { client: Some(client.parse().unwrap()), ..Self::to("/") }
    }

    fn by(user: &'static str) -> Self {
        Self { user: Some(user), ..Self::to("/") }
    }
}

impl Request for Call {
    fn path(&self) -> &str {
        self.path
    }

    fn method(&self) -> &str {
        self.method
    }

    fn client(&self) -> Option<IpAddr> {
        self.client
    }

    fn user(&self) -> Option<&str> {
        self.user
    }

    fn plan(&self) -> Option<&str> {
        self.plan
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.tenant.filter(|_| name == "tenant")
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.bytes.filter(|_| name == "bytes")
    }
}

fn limits(toml: &str) -> Limits<Call, ManualClock> {
    let config = Config::from_toml(toml).unwrap();
    config.add_to(Limits::builder().clock(ManualClock::new(0))).build().unwrap()
}

/// How many of so many calls are allowed.
fn allowed(limits: &Limits<Call, ManualClock>, call: &Call, calls: usize) -> usize {
    (0..calls).filter(|_| limits.check(call).is_allowed()).count()
}
