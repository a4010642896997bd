//! Redis that dies, hangs, and comes back, under load.

use std::time::{Duration, Instant};

use tollgate::redis::{Answer, Failure, Outage, Redis, RedisLimiter, Source};
use tollgate::{Quota, Verdict};

use crate::block_on;
use crate::server::Server;

/// Asks until the answer is as wanted; how many were asked, that one not counted.
async fn until(limiter: &RedisLimiter<str>, key: &str, wanted: impl Fn(&Answer) -> bool) -> u64 {
    let started = Instant::now();
    for asked in 0.. {
        if wanted(&limiter.check_n(key, 0).await) {
            return asked;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "never");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    unreachable!()
}

fn from(source: Source) -> impl Fn(&Answer) -> bool {
    move |answer| answer.source() == source
}

fn rule(redis: &Redis, name: &str, quota: Quota, outage: Outage) -> RedisLimiter<str> {
    RedisLimiter::builder(name, quota).outage(outage).build(redis).unwrap()
}

#[test]
fn a_program_starts_with_redis_down_and_each_policy_answers() {
    block_on(async {
        let redis = Redis::open("redis://127.0.0.1:1/").unwrap();
        let quota = Quota::per_day(8);
        let open = rule(&redis, "open", quota, Outage::Open).check("key").await;
        assert_eq!((open.is_allowed(), open.source(), open.decision()), (true, Source::Open, None));
        assert!(matches!(open.failure(), Some(Failure::Unreachable(_) | Failure::Deadline)), "{open:?}");
        let closed = rule(&redis, "closed", quota, Outage::Closed).check("key").await;
        assert_eq!((closed.is_allowed(), closed.source(), closed.decision()), (false, Source::Closed, None));
        let local = rule(&redis, "local", quota, Outage::Local { share: 0.25 });
        let mut admitted = 0;
        for _ in 0..10 {
            let answer = local.check("key").await;
            assert_eq!(answer.source(), Source::Local);
            assert_eq!(answer.decision().unwrap().limit(), 2);
            admitted += u64::from(answer.is_allowed());
        }
        assert_eq!(admitted, 2);
        assert_eq!(local.check_n("key", 3).await.decision().unwrap().verdict(), Verdict::NeverFits);
        let counts = local.counts();
        assert_eq!((counts.local, counts.allowed, counts.denied), (11, 2, 9));
    });
}

#[test]
fn an_outage_grants_no_fresh_burst_and_what_it_admits_is_charged_once() {
    let mut server = Server::start();
    block_on(async {
        let redis = server.patient();
        let rule = rule(&redis, "rule", Quota::per_day(100), Outage::Local { share: 1.0 });
        for _ in 0..60 {
            assert_eq!(rule.check("key").await.source(), Source::Store);
        }
        server.kill();
        until(&rule, "key", from(Source::Local)).await;
        // The local bucket was warm: 60 of its 100 are gone.
        let mut admitted = 0;
        for _ in 0..100 {
            admitted += u64::from(rule.check("key").await.is_allowed());
        }
        assert_eq!(admitted, 40);
        // Empty, as nothing was saved; then the debt is paid, once.
        server.restart();
        until(&rule, "key", from(Source::Store)).await;
        let remaining = || async { rule.peek_n("key", 0).await.unwrap().remaining() };
        let started = Instant::now();
        while remaining().await != 60 {
            assert!(started.elapsed() < Duration::from_secs(20), "{} left", remaining().await);
            // A decision by Redis is what has debts paid.
            _ = rule.check_n("key", 0).await;
        }
        for _ in 0..20 {
            _ = rule.check_n("key", 0).await;
        }
        assert_eq!(remaining().await, 60);
        assert_eq!((redis.outages(), redis.recoveries()), (1, 1));
    });
}

#[test]
fn killed_and_restarted_under_load_it_stays_within_the_bound() {
    let mut server = Server::start();
    block_on(async {
        let redis = server.handle().deadline(Duration::from_millis(20)).build().unwrap();
        let limit = 200;
        let rule = rule(&redis, "rule", Quota::per_day(limit), Outage::Local { share: 1.0 });
        let (mut admitted, mut longest) = (0, Duration::ZERO);
        for round in 0..3 {
            for _ in 0..60 {
                let started = Instant::now();
                admitted += u64::from(rule.check("key").await.is_allowed());
                longest = longest.max(started.elapsed());
            }
            if round < 2 {
                server.kill();
                for _ in 0..10 {
                    admitted += u64::from(rule.check("key").await.is_allowed());
                }
                server.restart();
            }
        }
        // The server forgets at each restart; this process does not, and its bucket is asked in between only. Each of the three lives of the server
        // admits no more than the limit, and so does the fallback.
        assert!(admitted <= 4 * limit, "{admitted}");
        eprintln!("killed twice: {admitted} admitted, longest decision {longest:?}");
    });
}

#[test]
fn a_server_that_hangs_costs_three_deadlines_and_then_nothing() {
    let server = Server::start();
    block_on(async {
        let deadline = Duration::from_millis(20);
        let redis = server.handle().deadline(deadline).build().unwrap();
        let rule = rule(&redis, "rule", Quota::per_day(1_000), Outage::Local { share: 0.5 });
        until(&rule, "key", from(Source::Store)).await;
        server.signal("-STOP");
        let mut longest = Duration::ZERO;
        let mut missed = 0;
        for _ in 0..500 {
            let started = Instant::now();
            let answer = rule.check("key").await;
            longest = longest.max(started.elapsed());
            assert_eq!(answer.source(), Source::Local);
            missed += u64::from(started.elapsed() >= deadline);
        }
        server.signal("-CONT");
        // Nobody waits once the breaker is open; how long a machine takes to wake a thread up is its own affair.
        assert!(missed <= 10, "{missed} decisions of 500 waited");
        until(&rule, "key", from(Source::Store)).await;
        eprintln!("hung: longest decision {longest:?}, {missed} of 500 waited");
        assert_eq!((redis.outages(), redis.recoveries()), (1, 1));
    });
}

#[test]
fn a_runtime_that_ends_is_no_end_for_the_next() {
    let server = Server::start();
    let redis = server.patient();
    let rule = rule(&redis, "rule", Quota::per_day(10), Outage::Closed);
    block_on(async { assert!(rule.check("key").await.is_allowed()) });
    block_on(async {
        until(&rule, "key", from(Source::Store)).await;
        assert!(rule.check("key").await.is_allowed());
        assert_eq!(rule.peek_n("key", 0).await.unwrap().remaining(), 8);
    });
}
