//! Who is limited.
//!
//! A key is any value that is `Hash + Eq`: a user's name, a number, a tuple of both. Looking one up borrows it, so a
//! limiter by `String` is asked with a `&str`. What lives here are key types that are easily got wrong when every
//! program writes its own.

mod ip_prefix;

pub use ip_prefix::{IpMask, IpPrefix, IpPrefixError};
