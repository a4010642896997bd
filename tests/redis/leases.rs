//! Units in hand: what becomes of them when callers give up, and when the server hangs.

use std::future::ready;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tollgate::redis::{Failure, Mode, Outage, Redis, RedisLimiter, Source};
use tollgate::{Quota, Verdict};

use crate::block_on;
use crate::server::Server;

fn leased(redis: &Redis, quota: Quota, max_units: u64) -> RedisLimiter<str> {
    let builder = RedisLimiter::builder("rule", quota).mode(Mode::Leased { max_units });
    builder.outage(Outage::Closed).build(redis).unwrap()
}

#[test]
fn callers_who_give_up_do_not_take_a_lease_with_them() {
    let server = Server::start();
    // Of one thread, so that nothing is done beside within the one poll of a call.
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let redis = server.patient();
        let rule = leased(&redis, Quota::per_day(1_000), 20);
        let exact = RedisLimiter::<str>::builder("rule", Quota::per_day(1_000)).build(&redis).unwrap();
        let left_of = async |key: &str| exact.peek_n(key, 0).await.unwrap().remaining();
        let keys: Vec<_> = (0..30).map(|key| key.to_string()).collect();
        for key in &keys {
            // By the second call it is known how fast they come, and on all but the slowest machine a whole lease is asked for.
            assert_eq!(rule.check(key).await.source(), Source::Store);
            tokio::select! {
                biased;
                answer = rule.check(key) => panic!("at once: {answer:?}"),
                () = ready(()) => {}
            }
            while left_of(key).await == 999 {
                tokio::task::yield_now().await;
            }
        }
        rule.give_back().await;
        for key in &keys {
            assert_eq!(left_of(key).await, 1_000 - 2, "the other units of the lease are back");
        }
    });
}

#[test]
fn all_who_wait_for_one_call_wait_no_longer_than_a_deadline() {
    let server = Server::start();
    block_on(async {
        let redis = server.handle().deadline(Duration::from_millis(200)).build().unwrap();
        let rule = leased(&redis, Quota::per_day(1_000), 20);
        while rule.check("warm").await.source() != Source::Store {
            tokio::task::yield_now().await;
        }
        server.signal("-STOP");
        let mut calls = JoinSet::new();
        for _ in 0..50 {
            let rule = rule.clone();
            calls.spawn(async move { rule.check("key").await });
        }
        let answers = calls.join_all().await;
        server.signal("-CONT");
        // One after the other they would find out, after three deadlines, that there is an outage.
        assert!(answers.iter().all(|answer| answer.failure() == Some(&Failure::Deadline)), "{answers:?}");
    });
}

#[test]
fn what_a_lease_cannot_hold_is_redis_s_to_decide_whatever_is_remembered() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let rule = leased(&redis, Quota::per_day(10), 5);
        assert!(rule.check_n("key", 10).await.is_allowed());
        assert!(rule.check("key").await.is_denied());
        assert_eq!(rule.check("key").await.source(), Source::Lease, "remembered");
        let six = rule.check_n("key", 6).await;
        assert_eq!(six.source(), Source::Store);
        assert!(six.decision().unwrap().retry_after() > Duration::from_secs(5 * 8_640), "{six:?}");
        let eleven = rule.check_n("key", 11).await.decision().unwrap();
        assert_eq!(eleven.verdict(), Verdict::NeverFits);
    });
}

#[test]
fn a_refusal_is_forgotten_when_units_come_back_by_hand() {
    let server = Server::start();
    block_on(async {
        let rule = leased(&server.patient(), Quota::per_day(5), 5);
        let take_all = async || {
            let mut admitted = 0;
            while rule.check("key").await.is_allowed() {
                admitted += 1;
            }
            admitted
        };
        // One comes back in hours, and nobody would ask before.
        assert!(rule.check_n("key", 5).await.is_allowed());
        assert_eq!(take_all().await, 0);
        rule.refund("key", 2).await.unwrap();
        assert_eq!(take_all().await, 2);
        rule.reset("key").await.unwrap();
        assert!(rule.check_n("key", 5).await.is_allowed());
    });
}
