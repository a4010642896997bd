//! A server's clock that steps back, or forward: neither blocks nor refills.

use std::time::Duration;

use tollgate::Quota;
use tollgate::redis::{Outage, RedisLimiter};

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
