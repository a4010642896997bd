//! What a file's rules ask of a request.

use std::net::IpAddr;

/// What rules may match and count by. Implement it for the requests that you have, so that a check copies nothing.
///
/// A rule whose key asks for what a request does not have does not apply to it.
pub trait Request {
    /// The path from its `/` on, without the query, as your router reads it: decoded, and with one spelling for what it takes for
    /// one. Who can reach an endpoint by another spelling is not limited by rules for the first.
    fn path(&self) -> &str;

    /// The method: `GET`.
    fn method(&self) -> &str;

    /// The client's address, as it is known after proxies that are trusted.
    fn client(&self) -> Option<IpAddr> {
        None
    }

    /// Who is logged in.
    fn user(&self) -> Option<&str> {
        None
    }

    /// The plan that is paid for.
    fn plan(&self) -> Option<&str> {
        None
    }

    /// Anything else that a rule counts by, such as a header or a tenant: `key = "attribute:NAME"`.
    fn attribute(&self, _name: &str) -> Option<&str> {
        None
    }

    /// A number that a rule may take for its cost, such as the bytes of a body: `cost = "NAME"`.
    fn number(&self, _name: &str) -> Option<u64> {
        None
    }
}
