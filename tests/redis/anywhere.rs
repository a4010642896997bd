//! In any runtime, and in none; on any thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tollgate::Quota;
use tollgate::redis::{Blocking, Failure, Mode, Outage, RedisLimiter, Source, charge_all};

use crate::server::Server;

fn rule(redis: &tollgate::redis::Redis, mode: Mode) -> RedisLimiter<str> {
    let builder = RedisLimiter::builder("rule", Quota::per_day(100)).mode(mode);
    builder.outage(Outage::Closed).build(redis).unwrap()
}

const MODES: [Mode; 2] = [Mode::Exact, Mode::Leased { max_units: 10 }];

fn is_send<T: Send>(future: T) -> T {
    future
}

#[test]
fn on_one_thread_all_is_done_and_every_future_may_be_sent() {
    let server = Server::start();
    let redis = server.patient();
    for mode in MODES {
        let rule = rule(&redis, mode);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            is_send(rule.reset("key")).await.unwrap_or_default();
            while is_send(rule.check_n("key", 0)).await.source() != Source::Store {
                tokio::task::yield_now().await;
            }
            for _ in 0..60 {
                assert!(is_send(rule.check("key")).await.is_allowed());
            }
            assert!(is_send(rule.check_n_at("key", 0, Duration::MAX)).await.is_allowed());
            is_send(rule.give_back()).await;
            assert_eq!(is_send(rule.peek_n("key", 0)).await.unwrap().remaining(), 40);
            is_send(rule.refund("key", 1)).await.unwrap();
            assert!(is_send(charge_all(&[rule.charge("key", 1)])).await.unwrap().is_allowed());
            is_send(rule.reset("key")).await.unwrap();
        });
    }
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn without_a_runtime_the_policy_answers_at_once() {
    let server = Server::start();
    for mode in MODES {
        let rule = rule(&server.patient(), mode);
        let waker = Waker::from(Arc::new(Nobody));
        let mut asked = pin!(rule.check("key"));
        match asked.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => {
                assert_eq!(answer.source(), Source::Closed);
                assert!(matches!(answer.failure(), Some(Failure::Other(why)) if why.contains("runtime")));
            }
            Poll::Pending => panic!("who would wake it?"),
        }
    }
}

/// Callers that are gone in the midst of a call, and runtimes, leave nobody waiting.
#[test]
fn callers_and_runtimes_that_are_dropped_leave_nobody_waiting() {
    let server = Server::start();
    let redis = server.patient();
    for mode in MODES {
        let rule = rule(&redis, mode);
        for round in 0..5 {
            let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            for _ in 0..50 {
                let rule = rule.clone();
                runtime.spawn(async move { _ = rule.check("key").await });
            }
            if round % 2 == 0 {
                runtime.block_on(async {
                    tokio::select! {
                        biased;
                        _ = rule.check("key") => {}
                        () = std::future::ready(()) => {}
                    }
                });
            }
            // Dropped with what it was doing.
        }
        let rule = Blocking::new().unwrap().limiter(rule);
        // Connections that were lost with their runtimes, one soon after another, have a pause before the next.
        let started = Instant::now();
        while rule.check("another").failure().is_some() {
            assert!(started.elapsed() < Duration::from_secs(30), "{mode:?}: never");
            std::thread::yield_now();
        }
        let answer = rule.check("key");
        assert_eq!(answer.failure(), None, "{mode:?}");
    }
}
