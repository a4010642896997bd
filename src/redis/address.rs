//! Where Redis is, and how a connection to it is made.

use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterConfig};
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, IntoConnectionInfo, RedisResult, TlsMode, Value,
};
use tokio::sync::Mutex;

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
    pub(super) fn single(url: &str) -> RedisResult<Self> {
        Ok(Self::Single(Client::open(url)?))
    }

    /// User, password and database of the first address are the master's, too.
    pub(super) fn sentinel(urls: &[&str], master: &str) -> RedisResult<Self> {
        let mut node = SentinelNodeConnectionInfo::default();
        if let Some(first) = urls.first() {
            let first = first.into_connection_info()?;
            node = node.set_redis_connection_info(first.redis_settings().clone());
            if matches!(first.addr(), ConnectionAddr::TcpTls { .. }) {
                node = node.set_tls_mode(TlsMode::Secure);
            }
        }
        let (urls, master) = (urls.to_vec(), master.to_owned());
        let client = SentinelClient::build(urls, master, Some(node), SentinelServerType::Master)?;
        Ok(Self::Sentinel(Mutex::new(client)))
    }

    /// No call is repeated by the client: it does not know whether the first was made.
    pub(super) fn cluster(urls: &[&str]) -> RedisResult<Self> {
        Ok(Self::Cluster(ClusterClient::builder(urls.iter().copied()).retries(0).build()?))
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
