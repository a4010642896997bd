//! What an operator is told: each change once.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tollgate::Quota;
use tollgate::redis::{Outage, RedisLimiter, Source};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::server::Server;

/// The events about Redis, as lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tollgate::redis")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

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
    let lines = lines.0.lock().unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("WARN") && lines[0].contains("redis lost"), "{lines:?}");
    assert!(lines[1].starts_with("INFO") && lines[1].contains("redis recovered"), "{lines:?}");
}
