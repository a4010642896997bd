//! Where Redis is, and how a connection to it is made.

use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterConfig};
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisResult,
    TlsMode, Value,
};
use tokio::sync::Mutex;

use crate::redis::failure::Failure;

/// What a URL begins with. The client knows them by Valkey's name, too.
const SCHEMES: [&str; 7] = ["redis", "rediss", "redis+unix", "unix", "valkey", "valkeys", "valkey+unix"];

/// A server, the master that sentinels name, or a cluster.
pub(super) enum Address {
    Single(Client),
    Sentinel(Mutex<SentinelClient>),
    Cluster(ClusterClient),
}

/// One connection that many calls share.
#[derive(Clone)]
pub(super) enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Address {
    pub(super) fn single(url: &str) -> Result<Self, Failure> {
        Ok(Self::Single(Client::open(server(url)?)?))
    }

    /// User, password and database of the first address are the master's, too.
    pub(super) fn sentinel(urls: &[&str], master: &str) -> Result<Self, Failure> {
        let sentinels = servers(urls)?;
        let mut node = SentinelNodeConnectionInfo::default();
        if let Some(first) = sentinels.first() {
            node = node.set_redis_connection_info(first.redis_settings().clone());
            if matches!(first.addr(), ConnectionAddr::TcpTls { .. }) {
                node = node.set_tls_mode(TlsMode::Secure);
            }
        }
        // A sentinel has no databases, and does not know the command that chooses one.
        let without_database = |sentinel: ConnectionInfo| {
            let login = sentinel.redis_settings().clone().set_db(0);
            sentinel.set_redis_settings(login)
        };
        let sentinels = sentinels.into_iter().map(without_database).collect();
        // What takes a name of either kind with TLS takes only this one without.
        let master = master.to_owned();
        let client = SentinelClient::build(sentinels, master, Some(node), SentinelServerType::Master)?;
        Ok(Self::Sentinel(Mutex::new(client)))
    }

    /// No call is repeated by the client: it does not know whether the first was made.
    pub(super) fn cluster(urls: &[&str]) -> Result<Self, Failure> {
        Ok(Self::Cluster(ClusterClient::builder(servers(urls)?).retries(0).build()?))
    }

    pub(super) const fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// A new connection. The caller has the deadline.
    pub(super) async fn connect(&self) -> RedisResult<Connection> {
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        Ok(match self {
            Self::Single(client) => {
                Connection::Single(client.get_multiplexed_async_connection_with_config(&config).await?)
            }
            Self::Sentinel(client) => {
                let mut client = client.lock().await;
                Connection::Single(client.get_async_connection_with_config(&config).await?)
            }
            Self::Cluster(client) => {
                let config = ClusterConfig::new();
                Connection::Cluster(client.get_async_connection_with_config(config).await?)
            }
        })
    }
}

impl Connection {
    pub(super) async fn call(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Single(connection) => command.query_async(connection).await,
            Self::Cluster(connection) => command.query_async(connection).await,
        }
    }
}

fn servers(urls: &[&str]) -> Result<Vec<ConnectionInfo>, Failure> {
    if urls.is_empty() {
        return Err(Failure::Other("no URL is given: write that of one server at least".to_owned()));
    }
    urls.iter().map(|url| server(url)).collect()
}

/// The URL is not repeated in errors: it may have a password in it.
fn server(url: &str) -> Result<ConnectionInfo, Failure> {
    let wrong = |why: &str| {
        Failure::Other(format!(
            "a URL of Redis is wrong: {why}: write redis://host:port/database, or redis://user:password@host:port/database \
             with a password's special characters as %40 for @"
        ))
    };
    match url.split_once("://") {
        Some((scheme, _)) if SCHEMES.contains(&scheme) => {}
        _ => return Err(wrong("it does not begin with redis://, rediss:// or redis+unix://")),
    }
    let is_tls = url.starts_with("rediss:") || url.starts_with("valkeys:");
    if is_tls && !cfg!(feature = "redis-tls") {
        return Err(Failure::Other("TLS is not built in: enable tollgate's feature redis-tls".to_owned()));
    }
    // Without the client's name for the kind of error.
    url.into_connection_info()
        .map_err(|error| wrong(&error.to_string().replace(" - InvalidClientConfig", "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(url: &str) -> String {
        Address::single(url).err().unwrap_or_else(|| panic!("{url} is taken")).to_string()
    }

    #[test]
    fn a_wrong_url_is_told_with_what_to_write_and_without_its_password() {
        for (url, why) in [
            ("", "does not begin with redis://"),
            ("localhost:6379", "does not begin with redis://"),
            ("http://:secret@localhost/", "does not begin with redis://"),
            ("redis://", "Missing hostname"),
            ("redis://localhost:99999/", "did not parse"),
            ("redis://:secret/@localhost/", "did not parse"),
            ("redis://:secret@localhost/zero", "Invalid database number"),
            ("redis://:secret@localhost/?protocol=resp9", "Invalid protocol version: resp9"),
        ] {
            let error = error(url);
            assert!(error.contains(why) && error.contains("write redis://host:port"), "{url}: {error}");
            assert!(!error.contains("secret") && !error.contains("InvalidClientConfig"), "{url}: {error}");
        }
    }

    #[test]
    fn what_the_client_takes_is_taken() {
        for url in ["redis://localhost", "redis://user:p%40ss@localhost:1/2", "valkey://[::1]/"] {
            assert!(Address::single(url).is_ok(), "{url}");
            assert!(Address::cluster(&[url]).is_ok() && Address::sentinel(&[url], "master").is_ok(), "{url}");
        }
        for urls in [&[][..], &["localhost:1"]] {
            assert!(Address::cluster(urls).is_err() && Address::sentinel(urls, "master").is_err());
        }
    }

    #[cfg(not(feature = "redis-tls"))]
    #[test]
    fn tls_that_is_not_built_in_is_told_with_its_feature() {
        assert!(error("rediss://localhost/").contains("redis-tls"));
    }
}
