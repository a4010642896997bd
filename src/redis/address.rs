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
        let sentinels = urls.iter().map(|url| url.into_connection_info());
        let sentinels = sentinels.collect::<RedisResult<Vec<_>>>()?;
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
