//! What Redis refuses, and what nobody should have put there.

use tollgate::redis::{Failure, Mode, Outage, Redis, RedisLimiter, Source, charge_all};
use tollgate::{BuildError, Quota};

use crate::block_on;
use crate::server::Server;

const ALGORITHMS: [&str; 4] = ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"];

fn build(redis: &Redis, algorithm: &str, outage: Outage) -> RedisLimiter<[u8]> {
    let builder = RedisLimiter::builder("rule", Quota::per_minute(3)).algorithm(algorithm);
    builder.outage(outage).build(redis).unwrap()
}

#[test]
fn a_key_of_another_type_is_told_and_answered_by_the_policy() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ALGORITHMS {
            server.ask(&[b"FLUSHALL"]);
            let limiter = build(&redis, algorithm, Outage::Closed);
            assert!(limiter.check(b"key").await.is_allowed());
            let keys = server.ask(&[b"KEYS", b"*"]);
            let key = keys.lines().find(|line| line.starts_with("tollgate")).unwrap();
            let others: [&[&[u8]]; 4] = [
                &[b"SET", key.as_bytes(), b"hello"],
                &[b"LPUSH", key.as_bytes(), b"hello"],
                &[b"HSET", key.as_bytes(), b"a", b"1"],
                &[b"ZADD", key.as_bytes(), b"7", b"hello"],
            ];
            for other in others {
                server.ask(&[b"DEL", key.as_bytes()]);
                server.ask(other);
                let answer = limiter.check(b"key").await;
                assert_eq!(answer.failure(), Some(&Failure::WrongType), "{algorithm} {other:?}");
                assert_eq!(answer.source(), Source::Closed);
                assert!(answer.is_denied() && answer.is_unavailable());
                assert_eq!(limiter.peek_n(b"key", 1).await, Err(Failure::WrongType));
            }
            // It is the key's own trouble, and no outage.
            assert!(limiter.check(b"other").await.is_allowed());
            assert_eq!(redis.outages(), 0);
            limiter.reset(b"key").await.unwrap();
            assert!(limiter.check(b"key").await.is_allowed());
        }
    });
}

#[test]
fn scripts_that_are_flushed_are_sent_again() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let limiter = build(&redis, "gcra", Outage::Closed);
        for expected in [true, true, true, false, false] {
            server.ask(&[b"SCRIPT", b"FLUSH"]);
            let answer = limiter.check(b"key").await;
            assert_eq!((answer.is_allowed(), answer.source()), (expected, Source::Store));
        }
    });
}

#[test]
fn a_replica_a_wrong_password_and_a_full_server_are_told() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let limiter = build(&redis, "gcra", Outage::Closed);
        // Full: nothing can be written, and nothing may be evicted.
        assert!(limiter.check(b"key").await.is_allowed());
        server.ask(&[b"CONFIG", b"SET", b"maxmemory", b"1"]);
        let answer = limiter.check(b"fresh").await;
        assert_eq!((answer.failure(), answer.is_denied()), (Some(&Failure::OutOfMemory), true));
        server.ask(&[b"CONFIG", b"SET", b"maxmemory", b"0"]);
        assert!(limiter.check(b"fresh").await.is_allowed());
        // A replica cannot be written.
        server.ask(&[b"REPLICAOF", b"127.0.0.1", b"1"]);
        let answer = limiter.check(b"key").await;
        assert!(matches!(answer.failure(), Some(Failure::ReadOnly | Failure::NotReady(_))), "{answer:?}");
        assert!(answer.is_denied());
    });
    let locked = Server::with(&["--requirepass", "secret"]);
    block_on(async {
        for (login, is_right) in
            [("", false), (":wrong@", false), ("nobody:secret@", false), (":secret@", true)]
        {
            let url = format!("redis://{login}127.0.0.1:{}/", locked.port());
            let redis = Redis::single(&url).deadline(std::time::Duration::from_secs(10)).build().unwrap();
            let connected = redis.connect().await;
            assert_eq!(matches!(connected, Err(Failure::Login(_))), !is_right, "{login:?}: {connected:?}");
            let answer = build(&redis, "gcra", Outage::Closed).check(b"key").await;
            assert_eq!(answer.is_allowed(), is_right, "{login:?}: {answer:?}");
            if !is_right {
                assert!(matches!(answer.failure(), Some(Failure::Login(_))), "{login:?}: {answer:?}");
            }
        }
    });
}

#[test]
fn hostile_keys_are_keys_of_their_own() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let every_byte: Vec<u8> = (0..=255).collect();
        let long = vec![b'x'; 1 << 20];
        let keys: [&[u8]; 12] = [
            b"",
            b"}",
            b"{",
            b"{}",
            b"a}b",
            b"\r\n",
            b"\0",
            b"*",
            b"\r\n*1\r\n$8\r\nFLUSHALL\r\n",
            b"'; redis.call('FLUSHALL')",
            &every_byte,
            &long,
        ];
        for algorithm in ALGORITHMS {
            let limiter = build(&redis, algorithm, Outage::Closed);
            for round in [true, true, true, false] {
                for key in keys {
                    let answer = limiter.check(key).await;
                    assert_eq!(answer.failure(), None);
                    assert_eq!(answer.is_allowed(), round, "{:?}", String::from_utf8_lossy(key));
                }
            }
        }
    });
}

#[test]
fn two_rules_and_typed_keys_never_share() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let quota = Quota::per_minute(1);
        let pairs = RedisLimiter::<(&str, &str)>::builder("pairs", quota)
            .outage(Outage::Closed)
            .build(&redis)
            .unwrap();
        assert!(pairs.check(&("a", "b:c")).await.is_allowed());
        assert!(pairs.check(&("a:b", "c")).await.is_allowed());
        assert!(pairs.check(&("a", "b:c")).await.is_denied());
        let tagged =
            |name: &str| RedisLimiter::<str>::builder(name, quota).hash_tag("t").build(&redis).unwrap();
        assert!(tagged("one").check("key").await.is_allowed());
        assert!(tagged("two").check("key").await.is_allowed());
        assert!(tagged("one").check("key").await.is_denied());
    });
}

#[test]
fn bad_settings_are_refused_with_what_to_write() {
    let server = Server::start();
    let redis = server.patient();
    let build = |name: &str, quota| RedisLimiter::<str>::builder(name, quota).build(&redis).map(drop);
    assert_eq!(build("rule", Quota::per_second(0)), Err(BuildError::LimitZero));
    for name in ["", "a:b", "a{b", "}"] {
        let error = build(name, Quota::per_second(1)).unwrap_err().to_string();
        assert!(error.contains("write one or more characters other than { } :"), "{error}");
    }
    let with = |algorithm: &str, quota| {
        RedisLimiter::<str>::builder("rule", quota)
            .algorithm(algorithm)
            .build(&redis)
            .unwrap_err()
            .to_string()
    };
    let odd = Quota::new(5, std::time::Duration::from_nanos(1_500));
    assert!(with("fixed_window", odd).contains("write a whole number of microseconds, or use gcra"));
    assert!(with("fixed_window", Quota::per_second(5).burst(2)).contains("leave out burst 2"));
    assert!(with("sliding_window_counter", Quota::per_second(1 << 27)).contains("write at most 67108864"));
    assert!(with("sliding_window_log", Quota::per_second(1 << 27)).contains("write at most 16777216"));
    assert!(with("nothing", Quota::per_second(1)).contains("write token_bucket, gcra"));
    let none = RedisLimiter::<str>::builder("rule", Quota::per_second(1)).mode(Mode::Leased { max_units: 0 });
    assert!(none.build(&redis).unwrap_err().to_string().contains("write 1 or more"));
    for share in [0.0, -1.0, 1.5, f64::NAN] {
        let builder =
            RedisLimiter::<str>::builder("rule", Quota::per_second(1)).outage(Outage::Local { share });
        assert!(builder.build(&redis).unwrap_err().to_string().contains("above 0 and up to 1"));
    }
    assert!(Redis::open("http://127.0.0.1/").is_err());
    assert!(Redis::single("redis://127.0.0.1/").prefix("a{b").build().is_err());
    assert!(Redis::cluster(&[]).build().is_err());
}

#[test]
fn rules_without_a_rate_ask_nobody() {
    block_on(async {
        let nowhere = Redis::open("redis://127.0.0.1:1/").unwrap();
        let build = |name, quota| {
            RedisLimiter::<str>::builder(name, quota).outage(Outage::Closed).build(&nowhere).unwrap()
        };
        let (open, shut) = (build("open", Quota::unlimited()), build("shut", Quota::blocked()));
        assert!(open.check_n("key", u64::MAX).await.is_allowed());
        assert!(shut.check("key").await.is_denied());
        assert!(shut.check_n("key", 0).await.is_allowed());
        assert!(charge_all(&[open.charge("key", 1), shut.charge("key", 1)]).await.unwrap().is_denied());
        assert!(charge_all(&[open.charge("key", 1)]).await.unwrap().is_allowed());
        assert!(charge_all(&[]).await.unwrap().is_allowed());
    });
}
