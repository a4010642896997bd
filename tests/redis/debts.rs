//! What the local policy knows of Redis's answers, and what Redis is told of its own.

use std::time::{Duration, Instant};

use tollgate::Quota;
use tollgate::redis::{Failure, Mode, Outage, RedisLimiter, RedisLimiterBuilder, Source};

use crate::block_on;
use crate::server::Server;

fn local(quota: Quota) -> RedisLimiterBuilder<str> {
    RedisLimiter::builder("rule", quota).outage(Outage::Local { share: 1.0 })
}

/// Decides on another key until it is so: a decision by Redis is what has debts paid.
async fn until(limiter: &RedisLimiter<str>, is_so: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < Duration::from_secs(20), "never");
        _ = limiter.check_n("another", 0).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn what_is_more_than_the_local_share_still_leaves_no_fresh_burst() {
    for mode in [Mode::Exact, Mode::Leased { max_units: 50 }] {
        let mut server = Server::start();
        block_on(async {
            let redis = server.patient();
            let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(100)).mode(mode);
            let rule = builder.outage(Outage::Local { share: 0.2 }).build(&redis).unwrap();
            // More than the share of 20, so that it does not fit there.
            assert_eq!(rule.check_n("key", 40).await.source(), Source::Store, "{mode:?}");
            rule.give_back().await;
            server.kill();
            let mut admitted = 0;
            for _ in 0..50 {
                let answer = rule.check("key").await;
                assert_eq!(answer.source(), Source::Local, "{mode:?}");
                admitted += u64::from(answer.is_allowed());
            }
            assert_eq!(admitted, 0, "{mode:?}");
        });
    }
}

#[test]
fn a_debt_on_a_key_of_another_type_is_paid_once_the_key_is_free() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let rule = local(Quota::per_day(100)).build(&redis).unwrap();
        let key: &[u8] = b"tollgate:rule:a86400000000{:key}";
        server.ask(&[b"SET", key, b"hello"]);
        let answer = rule.check_n("key", 7).await;
        assert_eq!((answer.source(), answer.failure()), (Source::Local, Some(&Failure::WrongType)));
        // Tried, and refused.
        let tried = async || !server.ask(&[b"INFO", b"errorstats"]).contains("errorstat_WRONGTYPE:count=1\r");
        until(&rule, tried).await;
        assert_eq!(server.ask(&[b"KEYS", b"*:paid:*"]), "", "marked as paid, and not charged");
        server.ask(&[b"DEL", key]);
        until(&rule, async || rule.peek_n("key", 0).await.unwrap().remaining() == 93).await;
        for _ in 0..50 {
            _ = rule.check_n("another", 0).await;
        }
        assert_eq!(rule.peek_n("key", 0).await.unwrap().remaining(), 93);
    });
}

#[test]
fn a_debt_that_cannot_be_paid_is_not_tried_at_each_decision() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let rule = local(Quota::per_day(1_000)).build(&redis).unwrap();
        server.ask(&[b"SET", b"tollgate:rule:a86400000000{:key}", b"hello"]);
        let decisions = 400;
        for _ in 0..decisions {
            assert_eq!(rule.check("key").await.source(), Source::Local);
            assert_eq!(rule.check_n("another", 0).await.source(), Source::Store);
        }
        let stats = server.ask(&[b"INFO", b"errorstats"]);
        let count = stats.split_once("errorstat_WRONGTYPE:count=").unwrap().1;
        let refused: u64 = count.lines().next().unwrap().trim().parse().unwrap();
        assert!(refused <= decisions + 20, "{refused} refusals for {decisions} decisions");
    });
}

/// Ten processes admit a limit each: Redis is told of ten limits, and is full, not blocked for ten periods.
#[test]
fn debts_above_the_limit_fill_it_and_no_more() {
    for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
        let mut server = Server::start();
        server.kill();
        block_on(async {
            let (limit, mut rules) = (10, Vec::new());
            for _ in 0..10 {
                let builder = local(Quota::per_day(limit)).algorithm(algorithm);
                rules.push(builder.build(&server.patient()).unwrap());
            }
            for rule in &rules {
                assert!(rule.check_n("key", limit).await.is_allowed());
            }
            server.restart();
            // One after another, as each pays after a decision of its own.
            for (paid, rule) in (1..).zip(&rules) {
                let marks =
                    || server.ask(&[b"KEYS", b"*:paid:*"]).lines().filter(|mark| !mark.is_empty()).count();
                until(rule, async || marks() == paid).await;
            }
            let peeked = rules[0].peek_n("key", 1).await.unwrap();
            assert_eq!(peeked.remaining(), 0, "{algorithm}");
            // To the window's end, and a tenth of the next where that counts.
            let day = Duration::from_secs(86_400);
            assert!(peeked.retry_after() <= day + day / 10, "{algorithm}: {:?}", peeked.retry_after());
        });
    }
}
