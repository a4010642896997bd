//! Rates and windows by the server's own clock, and what is left behind in it.

use std::time::Duration;

use tollgate::Quota;
use tollgate::redis::{Outage, Redis, RedisLimiter};

use crate::block_on;
use crate::server::Server;

fn limiter(name: &str, quota: Quota, algorithm: &str, redis: &Redis) -> RedisLimiter<str> {
    let builder = RedisLimiter::builder(name, quota).algorithm(algorithm).outage(Outage::Closed);
    builder.build(redis).unwrap()
}

/// How many of so many calls at one instant are admitted.
async fn admitted_at(limiter: &RedisLimiter<str>, calls: u64, now: Duration) -> u64 {
    let mut admitted = 0;
    for _ in 0..calls {
        let answer = limiter.check_n_at("key", 1, now).await;
        assert_eq!(answer.failure(), None);
        admitted += u64::from(answer.is_allowed());
    }
    admitted
}

const NOW: Duration = Duration::from_micros(1_780_000_000_123_457);

#[test]
fn fine_intervals_admit_their_burst_at_once_and_no_more() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for interval_us in [10, 49, 60, 1_000] {
            let quota = Quota::new(1, Duration::from_micros(interval_us)).burst(10);
            let limiter = limiter(&format!("each{interval_us}"), quota, "gcra", &redis);
            assert_eq!(admitted_at(&limiter, 1_000, NOW).await, 10, "one each {interval_us} us");
            // One comes back at its microsecond, not before.
            let early = NOW + Duration::from_micros(interval_us - 1);
            assert_eq!(admitted_at(&limiter, 2, early).await, 0);
            assert_eq!(admitted_at(&limiter, 2, NOW + Duration::from_micros(interval_us)).await, 1);
        }
    });
}

#[test]
fn odd_rates_admit_all_that_they_say_from_fresh() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let quotas =
            [(Quota::per_second(93), 93), (Quota::per_second(7_000), 7_000), (Quota::per_minute(29), 29)];
        for (quota, limit) in quotas {
            for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
                let limiter = limiter(&format!("{algorithm}{limit}"), quota, algorithm, &redis);
                // At once, and unit by unit.
                assert!(limiter.check_n_at("whole", limit, NOW).await.is_allowed(), "{algorithm} {quota}");
                assert!(limiter.check_n_at("whole", 1, NOW).await.is_denied());
                assert_eq!(admitted_at(&limiter, limit + 50, NOW).await, limit, "{algorithm} {quota}");
            }
        }
    });
}

#[test]
fn windows_expire_when_they_should() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for (period_us, algorithm) in [
            (500_000, "fixed_window"),
            (1_900_000, "fixed_window"),
            (500_000, "sliding_window_log"),
            (1_900_000, "sliding_window_log"),
        ] {
            let quota = Quota::new(5, Duration::from_micros(period_us));
            let limiter = limiter(&format!("{algorithm}{period_us}"), quota, algorithm, &redis);
            // The start of a window of either length.
            let start = Duration::from_micros(1_780_000_000_000_000 / 9_500_000 * 9_500_000);
            assert_eq!(admitted_at(&limiter, 9, start).await, 5);
            let last = start + Duration::from_micros(period_us - 1);
            assert_eq!(admitted_at(&limiter, 9, last).await, 0, "{algorithm} {period_us}");
            assert_eq!(admitted_at(&limiter, 9, start + Duration::from_micros(period_us)).await, 5);
        }
    });
}

#[test]
fn the_server_s_own_clock_admits_what_a_fresh_key_holds() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        // So slow that nothing comes back within the test.
        let slow = limiter("slow", Quota::per_day(100), "gcra", &redis);
        let mut admitted = 0;
        for _ in 0..150 {
            admitted += u64::from(slow.check("key").await.is_allowed());
        }
        assert_eq!(admitted, 100);
        let denied = slow.check("key").await.decision().unwrap();
        let wait = denied.retry_after();
        assert!(wait > Duration::from_secs(600) && wait <= Duration::from_secs(864), "{wait:?}");
    });
}

#[test]
fn no_key_without_expiry_is_left_and_a_refusal_writes_nothing() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
            let limiter = limiter(algorithm, Quota::per_minute(5), algorithm, &redis);
            for cost in [1, 3, 0, 9, u64::MAX, 1, 1] {
                _ = limiter.check_n("key", cost).await;
            }
            let before = server.ask(&[b"DUMP", key_of(&server, algorithm).as_bytes()]);
            for cost in [1, 2, 6, u64::MAX] {
                assert!(limiter.check_n("key", cost).await.is_denied());
            }
            assert_eq!(server.ask(&[b"DUMP", key_of(&server, algorithm).as_bytes()]), before, "{algorithm}");
            limiter.refund("key", 2).await.unwrap();
            _ = limiter.peek_n("key", 1).await.unwrap();
            _ = limiter.peek_n("nobody", 1).await.unwrap();
            limiter.refund("nobody", 3).await.unwrap();
            limiter.reset("nobody").await.unwrap();
        }
    });
    let keys = server.ask(&[b"KEYS", b"*"]);
    let keys: Vec<_> = keys.lines().filter(|line| line.starts_with("tollgate")).collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    for key in keys {
        let ttl_ms: i64 = server.ask(&[b"PTTL", key.as_bytes()]).parse().unwrap();
        assert!(ttl_ms > 0 && ttl_ms <= 120_001, "{key}: {ttl_ms}");
    }
}

/// The one key of a rule.
fn key_of(server: &Server, rule: &str) -> String {
    let keys = server.ask(&[b"KEYS", format!("tollgate:{rule}:*").as_bytes()]);
    keys.lines().find(|line| line.starts_with("tollgate")).unwrap().to_owned()
}
