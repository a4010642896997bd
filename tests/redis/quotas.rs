//! Processes whose quotas differ, as while a new version is rolled out, and times and quotas at their ends.

use std::time::Duration;

use tollgate::Quota;
use tollgate::redis::{Outage, Redis, RedisLimiter, Source};

use crate::block_on;
use crate::server::Server;

fn build(redis: &Redis, name: &str, quota: Quota, algorithm: &str) -> RedisLimiter<str> {
    let builder = RedisLimiter::builder(name, quota).algorithm(algorithm);
    builder.outage(Outage::Closed).build(redis).unwrap()
}

/// A minute that begins with a window.
const START: Duration = Duration::from_secs(1_780_000_020);

#[test]
fn windows_of_another_length_do_not_begin_each_other_anew() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ["fixed_window", "sliding_window_counter", "sliding_window_log"] {
            let old = build(&redis, algorithm, Quota::per_minute(100), algorithm);
            let new = build(&redis, algorithm, Quota::per_second(5), algorithm);
            let mut admitted = 0;
            for tick in 0..590 {
                let now = START + tick * Duration::from_millis(100);
                _ = new.check_n_at("key", 1, now).await;
                admitted += u64::from(old.check_n_at("key", 1, now).await.is_allowed());
            }
            assert_eq!(admitted, 100, "{algorithm}");
        }
    });
}

#[test]
fn windows_that_start_at_another_time_do_not_begin_each_other_anew() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ["fixed_window", "sliding_window_counter"] {
            let old = build(&redis, algorithm, Quota::per_minute(100), algorithm);
            let new = RedisLimiter::<str>::builder(algorithm, Quota::per_minute(100)).algorithm(algorithm);
            let new = new.window_offset(Duration::from_secs(30)).build(&redis).unwrap();
            let mut admitted = 0;
            for tick in 0..590 {
                let now = START + tick * Duration::from_millis(100);
                // In the second half, where a window of its begins.
                if tick >= 300 {
                    _ = new.check_n_at("key", 1, now).await;
                }
                admitted += u64::from(old.check_n_at("key", 1, now).await.is_allowed());
            }
            assert_eq!(admitted, 100, "{algorithm}");
        }
    });
}

/// Also where no script is asked: the quota may get a rate one day.
#[test]
fn an_unknown_algorithm_is_refused_under_every_quota() {
    let nowhere = Redis::open("redis://127.0.0.1:1/").unwrap();
    for quota in [Quota::per_second(1), Quota::unlimited(), Quota::blocked()] {
        let builder = |name| RedisLimiter::<str>::builder("rule", quota).algorithm(name).build(&nowhere);
        assert!(builder("cool-down").unwrap_err().to_string().contains("sliding_window_counter"), "{quota}");
        assert!(builder("sliding_window_counter").is_ok(), "{quota}");
    }
}

#[test]
fn a_limit_is_a_limit_at_both_ends_of_time() {
    let server = Server::start();
    let fine = Quota::new(1, Duration::from_micros(1)).burst(10);
    let finest = Quota::new(1, Duration::from_nanos(1)).burst(10);
    let decade = Quota::new(7, tollgate::MAX_PERIOD);
    block_on(async {
        let redis = server.patient();
        let times = [
            Duration::ZERO,
            Duration::from_micros(1),
            Duration::from_secs(4_102_444_800),
            Duration::from_micros(1 << 53),
            Duration::from_micros(u64::MAX / 1_000),
            Duration::MAX,
        ];
        for (at, now) in times.into_iter().enumerate() {
            for (name, quota, limit) in [("fine", fine, 10), ("finest", finest, 10), ("decade", decade, 7)] {
                for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
                    if algorithm != "gcra" && name != "decade" {
                        continue;
                    }
                    let rule = build(&redis, &format!("{name}{at}{algorithm}"), quota, algorithm);
                    let mut admitted = 0;
                    for _ in 0..30 {
                        let answer = rule.check_n_at("key", 1, now).await;
                        assert_eq!(answer.failure(), None);
                        admitted += u64::from(answer.is_allowed());
                    }
                    assert_eq!(admitted, limit, "{name} by {algorithm} at {now:?}");
                    let retry_after = rule.check_n_at("key", 1, now).await.decision().unwrap().retry_after();
                    assert!(
                        retry_after <= 2 * tollgate::MAX_PERIOD,
                        "{name} by {algorithm}: {retry_after:?}"
                    );
                    rule.refund_at("key", u64::MAX, now).await.unwrap();
                    assert!(rule.check_n_at("key", limit, now).await.is_allowed(), "{name} by {algorithm}");
                }
            }
        }
    });
}

#[test]
fn the_local_policy_has_the_windows_of_redis() {
    let mut server = Server::start();
    block_on(async {
        for algorithm in ["fixed_window", "sliding_window_counter"] {
            let redis = server.patient();
            let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(10)).algorithm(algorithm);
            let builder = builder.window_offset(Duration::from_secs(6 * 3_600 + 7));
            let rule = builder.outage(Outage::Local { share: 1.0 }).build(&redis).unwrap();
            let by_redis = rule.check("key").await;
            assert_eq!(by_redis.source(), Source::Store);
            server.kill();
            let local = rule.check("key").await;
            assert_eq!(local.source(), Source::Local);
            let [by_redis, local] = [by_redis, local].map(|answer| answer.decision().unwrap().reset_after());
            let apart = by_redis.abs_diff(local);
            // At the very end of a window both look at the next one.
            assert!(apart < Duration::from_secs(300), "{algorithm}: {by_redis:?} and {local:?}");
            server.restart();
        }
    });
}

/// A burst that is lowered, or raised, while both are in use.
#[test]
fn bursts_that_differ_keep_to_both() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let old = build(&redis, "rule", Quota::per_minute(60).burst(60), "gcra");
        let new = build(&redis, "rule", Quota::per_minute(60).burst(5), "gcra");
        let mut admitted = 0;
        for tick in 0..600 {
            let now = START + tick * Duration::from_millis(10);
            admitted += u64::from(new.check_n_at("key", 1, now).await.is_allowed());
            admitted += u64::from(old.check_n_at("key", 1, now).await.is_allowed());
        }
        assert!(admitted <= (60 + 6) + (5 + 6), "{admitted}");
    });
}
