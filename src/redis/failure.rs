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
    /// The key's slot of a cluster is on another node, or on its way there.
    SlotMoves(String),
    /// The server's memory is full, and its policy is to evict nothing.
    OutOfMemory,
    /// The key holds what was not written here.
    WrongType,
    /// The keys of one call are in different slots of a cluster: give the limiters one
    /// [`hash_tag`](super::RedisLimiterBuilder::hash_tag).
    CrossSlot,
    /// Limiters of one call have different [`Redis`](super::Redis) handles, be they of one server.
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
                | Self::SlotMoves(_)
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

impl Failure {
    /// An error of a command within a script: before Redis 7 it is wrapped in another, and one for want of rights is to this day.
    fn of_script(text: String) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["WRONGTYPE"]) {
            Self::WrongType
        } else if has(&["OOM command not allowed"]) {
            Self::OutOfMemory
        } else if has(&["READONLY"]) {
            Self::ReadOnly
        } else if has(&["ACL failure in script", "The user executing the script"]) {
            Self::Login(text)
        } else if has(&["MISCONF", "NOREPLICAS"]) {
            Self::NotReady(text)
        } else {
            Self::Other(text)
        }
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
                ServerErrorKind::BusyLoading | ServerErrorKind::MasterDown | ServerErrorKind::ClusterDown,
            ) => Self::NotReady(text()),
            // Of this key: the client looks for the slot anew by itself.
            ErrorKind::Server(ServerErrorKind::TryAgain | ServerErrorKind::Moved | ServerErrorKind::Ask) => {
                Self::SlotMoves(text())
            }
            ErrorKind::Io
            | ErrorKind::ClusterConnectionNotFound
            | ErrorKind::MasterNameNotFoundBySentinel => Self::Unreachable(text()),
            _ => match error.code() {
                Some("WRONGTYPE") => Self::WrongType,
                Some("OOM") => Self::OutOfMemory,
                Some("NOAUTH" | "WRONGPASS") => Self::Login(text()),
                Some("MISCONF" | "NOREPLICAS" | "BUSY") => Self::NotReady(text()),
                _ => Self::of_script(text()),
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
            Self::SlotMoves(why) => write!(f, "the key's slot is on another node: {why}"),
            Self::OutOfMemory => f.write_str("Redis is out of memory, and evicts nothing"),
            Self::WrongType => {
                f.write_str("the key holds what was not written by tollgate: choose another prefix")
            }
            Self::CrossSlot => {
                f.write_str("the keys are in different slots of the cluster: give the limiters one hash tag")
            }
            Self::ManyStores => f.write_str(
                "the limiters are built on different handles: build them on one Redis, or check them one by one where it is many servers",
            ),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it comes from the server.
    fn failure(reply: &str) -> Failure {
        match redis::parse_redis_value(format!("-{reply}\r\n").as_bytes()) {
            Ok(redis::Value::ServerError(error)) => RedisError::from(error).into(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_servers_say_old_and_new_is_told_apart() {
        for (reply, is_expected) in [
            (
                "BUSY Redis is busy running a script.",
                (|it| matches!(it, Failure::NotReady(_))) as fn(&Failure) -> bool,
            ),
            ("LOADING Redis is loading the dataset in memory", |it| matches!(it, Failure::NotReady(_))),
            ("MISCONF Redis is configured to save RDB snapshots", |it| matches!(it, Failure::NotReady(_))),
            ("CLUSTERDOWN Hash slot not served", |it| matches!(it, Failure::NotReady(_))),
            ("MOVED 7 127.0.0.1:7000", |it| matches!(it, Failure::SlotMoves(_))),
            ("ASK 7 127.0.0.1:7000", |it| matches!(it, Failure::SlotMoves(_))),
            ("TRYAGAIN Multiple keys request during rehashing of slot", |it| {
                matches!(it, Failure::SlotMoves(_))
            }),
            ("NOAUTH Authentication required.", |it| matches!(it, Failure::Login(_))),
            ("NOPERM this user has no permissions to run the 'evalsha' command", |it| {
                matches!(it, Failure::Login(_))
            }),
            ("ERR ACL failure in script: User bob has no permissions to run the 'time' command", |it| {
                matches!(it, Failure::Login(_))
            }),
            (
                "ERR Error running script (call to f_1): @user_script:2: @user_script: 2: The user executing the script can't run this command or subcommand",
                |it| matches!(it, Failure::Login(_)),
            ),
            (
                "ERR Error running script (call to f_1): @user_script:2: WRONGTYPE Operation against a key holding the wrong kind of value",
                |it| *it == Failure::WrongType,
            ),
            (
                "ERR Error running script (call to f_1): @user_script:2: @user_script: 2: -MISCONF Redis is configured to save RDB snapshots",
                |it| matches!(it, Failure::NotReady(_)),
            ),
            ("OOM command not allowed when used memory > 'maxmemory'. script: 1, on @user_script:2.", |it| {
                *it == Failure::OutOfMemory
            }),
            (
                "ERR Error running script (call to f_1): @user_script:2: @user_script: 2: -READONLY You can't write against a read only replica.",
                |it| *it == Failure::ReadOnly,
            ),
            ("ERR max number of clients reached", |it| matches!(it, Failure::Other(_))),
        ] {
            let found = failure(reply);
            assert!(is_expected(&found), "{reply}: {found:?}");
        }
    }

    /// Nobody's connection is given up for a slot on its way: that may take an hour, and all other slots are where they were.
    #[test]
    fn a_key_s_own_trouble_is_no_outage() {
        for reply in ["MOVED 7 127.0.0.1:7000", "ASK 7 127.0.0.1:7000", "TRYAGAIN x", "WRONGTYPE x", "OOM x"]
        {
            assert!(!failure(reply).is_outage(), "{reply}");
        }
    }
}
