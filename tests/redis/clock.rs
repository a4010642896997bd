//! A server's clock that steps back, or forward: neither blocks nor refills.

use std::time::Duration;

use tollgate::Quota;
use tollgate::redis::{Outage, RedisLimiter, Source};

use crate::block_on;
use crate::server::Server;

const ALGORITHMS: [&str; 4] = ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"];

/// Ten a second, and a time of the server's.
async fn admitted(limiter: &RedisLimiter<str>, now: Duration) -> u64 {
    let mut admitted = 0;
    for _ in 0..30 {
        admitted += u64::from(limiter.check_n_at("key", 1, now).await.is_allowed());
    }
    admitted
}

const START: Duration = Duration::from_secs(1_780_000_000);
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_clock_that_steps_back_neither_refills_nor_blocks() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ALGORITHMS {
            for back in [SECOND / 10, SECOND / 2, SECOND, 2 * SECOND, 3_600 * SECOND, 1_000_000_000 * SECOND]
            {
                let name = format!("{algorithm}{}", back.as_millis());
                let builder = RedisLimiter::<str>::builder(&name, Quota::per_second(10)).algorithm(algorithm);
                let limiter = builder.outage(Outage::Closed).build(&redis).unwrap();
                assert_eq!(admitted(&limiter, START).await, 10);
                let stepped = START - back;
                assert_eq!(admitted(&limiter, stepped).await, 0, "{name}: refilled");
                // By the new time everything is back after two periods at most, and not more than that.
                let mut total = 0;
                for tenth in 1..=20 {
                    total += admitted(&limiter, stepped + tenth * SECOND / 10).await;
                }
                let windows = if algorithm == "gcra" { 20 } else { 30 };
                assert!(total <= windows, "{name}: {total}");
                let later = stepped + 4 * SECOND;
                assert_eq!(admitted(&limiter, later).await, 10, "{name}: blocked");
            }
        }
    });
}

#[test]
fn a_clock_that_steps_forward_gives_a_full_burst_and_no_more() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ALGORITHMS {
            let builder = RedisLimiter::<str>::builder(algorithm, Quota::per_second(10)).algorithm(algorithm);
            let limiter = builder.outage(Outage::Closed).build(&redis).unwrap();
            for years in [0, 1, 10] {
                let now = START + years * 31_557_600 * SECOND;
                assert_eq!(admitted(&limiter, now).await, 10, "{algorithm}");
                assert_eq!(admitted(&limiter, now).await, 0, "{algorithm}");
            }
        }
    });
}

/// Where each decision reads the server's own clock, and so do its keys that expire.
#[test]
fn a_server_whose_clock_is_set_back_and_forward_neither_refills_nor_blocks() {
    let server = Server::with_movable_clock();
    block_on(async {
        let redis = server.patient();
        let hour = 3_600;
        for algorithm in ALGORITHMS {
            server.set_clock(0);
            let quota = Quota::per_hour(10);
            let builder = RedisLimiter::<str>::builder(algorithm, quota).algorithm(algorithm);
            let limiter = builder.outage(Outage::Closed).build(&redis).unwrap();
            let admitted = async || {
                let mut admitted = 0;
                for _ in 0..30 {
                    let answer = limiter.check("key").await;
                    assert_eq!((answer.source(), answer.failure()), (Source::Store, None));
                    let decision = answer.decision().unwrap();
                    // Two periods, and the sliding counter a unit's share of a third.
                    assert!(decision.retry_after() <= (7_200 + 360) * SECOND, "{algorithm}: {decision:?}");
                    admitted += u64::from(decision.is_allowed());
                }
                admitted
            };
            // A window may end right now: what the next one lets through comes on top.
            let assert_full = |admitted: u64, what: &str| {
                assert!((10..=20).contains(&admitted), "{algorithm}: {what}: {admitted}");
            };
            assert_full(admitted().await, "fresh");
            server.set_clock(-5 * hour);
            assert_eq!(admitted().await, 0, "{algorithm}: refilled");
            server.set_clock(-2 * hour);
            assert_full(admitted().await, "after two periods and more");
            server.set_clock(-4 * hour);
            assert_eq!(admitted().await, 0, "{algorithm}: refilled");
            server.set_clock(100_000 * hour);
            assert_full(admitted().await, "after a step forward");
        }
    });
}
