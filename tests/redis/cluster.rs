//! A cluster of three, and a master that sentinels name.

use std::time::{Duration, Instant};

use tollgate::Quota;
use tollgate::redis::{Failure, Outage, Redis, RedisLimiter, Source, charge_all};

use crate::block_on;
use crate::server::Server;

const PATIENCE: Duration = Duration::from_secs(60);

/// Asks until it is so.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}: never");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Three masters, a third of the slots each.
fn cluster() -> [Server; 3] {
    let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
    let nodes = [(); 3].map(|()| Server::with(&options));
    for (node, (first, last)) in nodes.iter().zip([("0", "5460"), ("5461", "10922"), ("10923", "16383")]) {
        node.ask(&[b"CLUSTER", b"ADDSLOTSRANGE", first.as_bytes(), last.as_bytes()]);
        let port = nodes[0].port().to_string();
        node.ask(&[b"CLUSTER", b"MEET", b"127.0.0.1", port.as_bytes()]);
    }
    wait_until("the cluster is whole", || {
        nodes.iter().all(|node| {
            let info = node.ask(&[b"CLUSTER", b"INFO"]);
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
        })
    });
    nodes
}

#[test]
fn a_cluster_limits_each_key_on_its_node_and_rules_on_one_key_together() {
    let nodes = cluster();
    block_on(async {
        let urls = nodes.each_ref().map(Server::url);
        let redis = Redis::cluster(&[&urls[0]]).deadline(Duration::from_secs(10)).build().unwrap();
        let build = |name, limit| {
            let builder = RedisLimiter::<str>::builder(name, Quota::per_day(limit));
            builder.outage(Outage::Closed).build(&redis).unwrap()
        };
        let (short, long) = (build("short", 2), build("long", 3));
        let keys: Vec<_> = (0..30).map(|number| format!("user{number}")).collect();
        for expected in [true, true, false] {
            for key in &keys {
                // Both rules, as they are on the same key; `}` would end a tag early.
                for key in [key.clone(), format!("}}{key}")] {
                    let answers = charge_all(&[short.charge(&key, 1), long.charge(&key, 1)]).await.unwrap();
                    assert_eq!(answers.is_allowed(), expected, "{key} {answers:?}");
                }
            }
        }
        assert!(nodes.iter().all(|node| node.ask(&[b"DBSIZE"]) != "0"), "a node has no key");
        // Keys that cannot share a slot are refused, and nothing is charged.
        let apart = charge_all(&[long.charge("user1", 1), long.charge("user2", 1)]).await;
        assert_eq!(apart, Err(Failure::CrossSlot));
        assert_eq!(long.peek_n("user1", 0).await.unwrap().remaining(), 1);
        let tagged = |name, limit| {
            let builder = RedisLimiter::<str>::builder(name, Quota::per_day(limit)).hash_tag("tiers");
            builder.outage(Outage::Closed).build(&redis).unwrap()
        };
        let (user, all) = (tagged("user", 1), tagged("all", 10));
        for (name, expected) in [("alice", true), ("alice", false), ("bob", true)] {
            let answers = charge_all(&[user.charge(name, 1), all.charge("", 1)]).await.unwrap();
            assert_eq!(answers.is_allowed(), expected);
        }
        assert_eq!(all.peek_n("", 0).await.unwrap().remaining(), 8);
    });
}

#[test]
fn a_slot_that_moves_is_found_again() {
    let nodes = cluster();
    block_on(async {
        let redis = Redis::cluster(&[&nodes[0].url()]).deadline(Duration::from_secs(10)).build().unwrap();
        let rule = RedisLimiter::<str>::builder("rule", Quota::per_day(100)).outage(Outage::Closed);
        let rule = rule.build(&redis).unwrap();
        assert!(rule.check("key").await.is_allowed());
        // An empty slot, of a key that nobody has asked for, changes hands.
        let slot = nodes[0].ask(&[b"CLUSTER", b"KEYSLOT", b"tollgate:rule:a86400000000{:other}"]);
        let owner = nodes.iter().position(|node| {
            !node.ask(&[b"GET", b"tollgate:rule:a86400000000{:other}"]).to_lowercase().contains("moved")
        });
        let next = &nodes[(owner.unwrap() + 1) % 3];
        let id = next.ask(&[b"CLUSTER", b"MYID"]);
        for node in &nodes {
            node.ask(&[b"CLUSTER", b"SETSLOT", slot.as_bytes(), b"NODE", id.as_bytes()]);
        }
        let mut answer = rule.check("other").await;
        let started = Instant::now();
        while answer.source() != Source::Store {
            assert!(started.elapsed() < PATIENCE, "{answer:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
            answer = rule.check("other").await;
        }
        assert!(answer.is_allowed());
        assert!(rule.check("key").await.is_allowed());
    });
}

#[test]
fn after_a_failover_the_sentinels_are_asked_again() {
    let mut master = Server::start();
    let port = master.port().to_string();
    let replica = Server::with(&["--replicaof", "127.0.0.1", &port]);
    wait_until("the replica follows", || {
        replica.ask(&[b"INFO", b"replication"]).contains("master_link_status:up")
    });
    let monitor = format!("mymaster 127.0.0.1 {port} 1");
    let sentinel = Server::sentinel(&format!(
        "sentinel monitor {monitor}\nsentinel down-after-milliseconds mymaster 300\nsentinel failover-timeout mymaster 3000\n"
    ));
    wait_until("the sentinel knows the replica", || {
        sentinel.ask(&[b"SENTINEL", b"REPLICAS", b"mymaster"]).contains(&replica.port().to_string())
    });
    block_on(async {
        let redis = Redis::sentinel(&[&sentinel.url()], "mymaster").deadline(Duration::from_secs(2));
        let redis = redis.build().unwrap();
        let rule = RedisLimiter::<str>::builder("rule", Quota::per_day(10)).outage(Outage::Closed);
        let rule = rule.build(&redis).unwrap();
        assert!(rule.check("key").await.is_allowed());
        master.kill();
        let started = Instant::now();
        while rule.check("key").await.source() != Source::Store {
            assert!(started.elapsed() < PATIENCE, "no answer after the failover");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(replica.ask(&[b"INFO", b"replication"]).contains("role:master"));
    });
}

/// The master's database is in the URL of a sentinel, which has none itself.
#[test]
fn the_database_in_a_sentinel_s_url_is_the_master_s() {
    let master = Server::start();
    let monitor = format!("mymaster 127.0.0.1 {} 1", master.port());
    let sentinel = Server::sentinel(&format!("sentinel monitor {monitor}\n"));
    block_on(async {
        let url = format!("{}3", sentinel.url());
        let redis = Redis::sentinel(&[&url], "mymaster").deadline(Duration::from_secs(10)).build().unwrap();
        let rule = RedisLimiter::<str>::builder("rule", Quota::per_day(10)).outage(Outage::Closed);
        let answer = rule.build(&redis).unwrap().check("key").await;
        assert!(answer.is_allowed(), "{answer:?}");
        assert!(master.ask(&[b"INFO", b"keyspace"]).contains("db3:keys=1"));
    });
}

#[test]
fn a_database_of_a_server_is_kept_apart() {
    let server = Server::start();
    block_on(async {
        for (database, expected) in [("0", true), ("5", true), ("5", false), ("99", false)] {
            let url = format!("{}{database}", server.url());
            let redis = Redis::single(&url).deadline(Duration::from_secs(10)).build().unwrap();
            let rule = RedisLimiter::<str>::builder("rule", Quota::per_day(1)).outage(Outage::Closed);
            let answer = rule.build(&redis).unwrap().check("key").await;
            assert_eq!(answer.is_allowed(), expected, "{database}: {answer:?}");
            assert_eq!(answer.failure().is_some(), database == "99");
        }
    });
}
