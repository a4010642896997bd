//! What an operator is told: each change once.

use std::time::{Duration, Instant};

use tollgate::Quota;
use tollgate::redis::{Outage, RedisLimiter, Source};

use crate::lines::Lines;
use crate::server::Server;

#[test]
fn an_outage_and_its_end_are_told_once() {
    let mut server = Server::start();
    let lines = Lines::default();
    // On one thread, as the subscriber is this thread's.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(lines.clone(), || {
        runtime.block_on(async {
            let redis = server.patient();
            let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(10)).outage(Outage::Closed);
            let limiter = builder.build(&redis).unwrap();
            assert!(limiter.check("key").await.is_allowed());
            server.kill();
            for _ in 0..50 {
                assert_eq!(limiter.check("key").await.source(), Source::Closed);
            }
            server.restart();
            let started = Instant::now();
            while limiter.check("key").await.source() != Source::Store {
                assert!(started.elapsed() < Duration::from_secs(60), "never");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert_eq!((redis.outages(), redis.recoveries()), (1, 1));
        });
    });
    let lines = lines.told();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("WARN") && lines[0].contains("redis lost"), "{lines:?}");
    assert!(lines[1].starts_with("INFO") && lines[1].contains("redis recovered"), "{lines:?}");
}
