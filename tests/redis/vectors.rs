//! The same decisions as in process.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tollgate::redis::{Outage, RedisLimiter, Source};
use tollgate::{Decision, DefaultClock, Limiter, Map, Quota, Verdict};

use crate::runtime;
use crate::server::Server;

const ALGORITHMS: [&str; 6] =
    ["token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_counter", "sliding_window_log"];

#[derive(Clone, Copy, Debug)]
enum Op {
    Take,
    Peek,
    Refund,
    Reset,
}

/// Steps in microseconds, what is done, by which key, and for how many units.
type Script = Vec<(u64, Op, u64, u64)>;

fn any_script() -> impl Strategy<Value = Script> {
    let step_us = prop_oneof![3 => Just(0), 4 => 0..400_000_u64, 1 => 0..3_000_000_u64];
    let op =
        prop_oneof![8 => Just(Op::Take), 2 => Just(Op::Peek), 2 => Just(Op::Refund), 1 => Just(Op::Reset)];
    vec((step_us, op, 0..2_u64, prop_oneof![4 => 1..3_u64, 1 => 0..15_u64]), 1..60)
}

fn any_quota(is_window: bool) -> impl Strategy<Value = Quota> {
    let rates = prop_oneof![
        (1..12_u64).prop_map(Quota::per_second),
        (1..12_u64, 1..2_000_u64).prop_map(|(limit, ms)| Quota::new(limit, Duration::from_millis(ms))),
        (1..90_u64).prop_map(Quota::per_minute),
    ];
    (rates, prop::option::of(1..12_u64)).prop_map(move |(quota, burst)| match burst {
        Some(burst) if !is_window => quota.burst(burst),
        _ => quota,
    })
}

/// As an answer in whole microseconds tells it: waits rounded up.
fn told(decision: Decision) -> (Verdict, u64, u64, u64, u128, u128) {
    let us = |wait: Duration| wait.as_nanos().div_ceil(1_000);
    let (retry_us, reset_us) = (us(decision.retry_after()), us(decision.reset_after()));
    (decision.verdict(), decision.taken(), decision.limit(), decision.remaining(), retry_us, reset_us)
}

/// An afternoon in 2026.
const START_US: u64 = 1_780_000_000_000_000;

fn in_process(algorithm: &str, quota: Quota) -> Limiter<u64, DefaultClock, Map<u64>> {
    Limiter::builder(quota).algorithm(algorithm).build_map().unwrap()
}

async fn compare(
    redis: &RedisLimiter<u64>,
    own: &Limiter<u64, DefaultClock, Map<u64>>,
    script: &Script,
) -> Result<(), TestCaseError> {
    let mut now_us = START_US;
    for &(step_us, op, key, units) in script {
        now_us += step_us;
        let (now, now_ns) = (Duration::from_micros(now_us), now_us * 1_000);
        match op {
            Op::Take => {
                let answer = redis.check_n_at(&key, units, now).await;
                prop_assert_eq!(answer.failure(), None);
                prop_assert_eq!(answer.source(), Source::Store);
                let expected = own.check_n_at(&key, units, now_ns);
                prop_assert_eq!(told(answer.decision().unwrap()), told(expected), "{} at {}", units, now_us);
            }
            Op::Peek => {
                let found = redis.peek_n_at(&key, units, now).await.unwrap();
                prop_assert_eq!(
                    told(found),
                    told(own.peek_n_at(&key, units, now_ns)),
                    "peek {} at {}",
                    units,
                    now_us
                );
            }
            Op::Refund => {
                redis.refund_at(&key, units, now).await.unwrap();
                own.refund_at(&key, units, now_ns);
            }
            Op::Reset => {
                redis.reset(&key).await.unwrap();
                own.reset_at(&key, now_ns);
            }
        }
    }
    Ok(())
}

#[test]
fn redis_decides_as_a_limiter_in_process_does() {
    let server = Server::start();
    let (redis, runtime) = (server.patient(), runtime());
    for algorithm in ALGORITHMS {
        let is_window = algorithm.contains("window");
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(60) });
        let outcome = runner.run(&(any_quota(is_window), any_script()), |(quota, script)| {
            server.ask(&[b"FLUSHALL"]);
            let limiter =
                RedisLimiter::builder("compared", quota).algorithm(algorithm).outage(Outage::Closed);
            let limiter = limiter.build(&redis).unwrap();
            runtime.block_on(compare(&limiter, &in_process(algorithm, quota), &script))
        });
        outcome.unwrap_or_else(|error| panic!("{algorithm}: {error}"));
    }
}
