//! Why Redis did not decide.

use std::fmt;

use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Why Redis did not answer, or not with a decision. What was asked may have been charged none the less if the failure is a
/// [`Deadline`](Self::Deadline) or [`Unreachable`](Self::Unreachable): it is never asked a second time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// No reply within the deadline.
    Deadline,
    /// There is no connection: it was refused, broke, or has not been made yet.
    Unreachable(String),
    /// The user or the password is wrong, or the user may not run the scripts.
    Login(String),
    /// The server is a replica.
    ReadOnly,
    /// The server is loading its data, or its cluster is down, or it cannot write.
    NotReady(String),
    /// The server's memory is full, and its policy is to evict nothing.
    OutOfMemory,
    /// The key holds what was not written here.
    WrongType,
    /// The keys of one call are in different slots of a cluster: give the limiters one
    /// [`hash_tag`](super::RedisLimiterBuilder::hash_tag).
    CrossSlot,
    /// Limiters of one call are on different servers.
    ManyStores,
    /// Anything else that the server or the client says.
    Other(String),
}

impl Failure {
    /// The connection is of no use any more, or the server behind it.
    pub(super) const fn is_outage(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Login(_) | Self::ReadOnly | Self::NotReady(_))
    }

    /// There is no runtime, or not any more.
    pub(super) fn no_runtime() -> Self {
        Self::Other("this needs a tokio runtime: await it in one, or use the blocking face".to_owned())
    }

    /// The server has said no, so nothing was done.
    pub(super) const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Login(_)
                | Self::ReadOnly
                | Self::NotReady(_)
                | Self::OutOfMemory
                | Self::WrongType
                | Self::CrossSlot
        )
    }

    /// The script has to be sent in full.
    pub(super) fn is_unknown_script(error: &RedisError) -> bool {
        error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
    }
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        let text = || error.to_string();
        match error.kind() {
            ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => {
                Self::Login(text())
            }
            ErrorKind::Server(ServerErrorKind::ReadOnly) => Self::ReadOnly,
            ErrorKind::Server(ServerErrorKind::CrossSlot) => Self::CrossSlot,
            ErrorKind::Server(
                ServerErrorKind::BusyLoading
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::TryAgain
                | ServerErrorKind::Moved
                | ServerErrorKind::Ask,
            ) => Self::NotReady(text()),
            ErrorKind::Io
            | ErrorKind::ClusterConnectionNotFound
            | ErrorKind::MasterNameNotFoundBySentinel => Self::Unreachable(text()),
            _ => match error.code() {
                Some("WRONGTYPE") => Self::WrongType,
                Some("OOM") => Self::OutOfMemory,
                Some("NOAUTH" | "WRONGPASS") => Self::Login(text()),
                Some("MISCONF" | "NOREPLICAS") => Self::NotReady(text()),
                // Before Redis 7 an error within a script is wrapped in another.
                _ if text().contains("WRONGTYPE") => Self::WrongType,
                _ if text().contains("OOM command not allowed") => Self::OutOfMemory,
                _ if text().contains("READONLY") => Self::ReadOnly,
                _ => Self::Other(text()),
            },
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline => f.write_str("Redis did not reply in time"),
            Self::Unreachable(why) => write!(f, "no connection to Redis: {why}"),
            Self::Login(why) => write!(f, "Redis refuses the user: {why}"),
            Self::ReadOnly => f.write_str("Redis is a replica, and cannot be written: connect to its master"),
            Self::NotReady(why) => write!(f, "Redis is not ready: {why}"),
            Self::OutOfMemory => f.write_str("Redis is out of memory, and evicts nothing"),
            Self::WrongType => {
                f.write_str("the key holds what was not written by tollgate: choose another prefix")
            }
            Self::CrossSlot => {
                f.write_str("the keys are in different slots of the cluster: give the limiters one hash tag")
            }
            Self::ManyStores => f.write_str("the limiters are on different servers: check them one by one"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failure {}
