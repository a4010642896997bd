//! What limits have counted, as a recorder of the `metrics` facade sees it.

use std::collections::BTreeMap;

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use tollgate::metrics::Publisher;
use tollgate::{Limits, ManualClock, Overflow, Quota, Rule};

type Keys = Limits<u64, ManualClock>;

fn limits() -> Keys {
    let key = |key: &u64| Some(*key);
    Limits::builder()
        .rule(Rule::new("key", Quota::per_day(2), key).capacity(100).overflow(Overflow::Deny))
        .rule(Rule::new("soon", Quota::per_day(1), key).shadow())
        .counters()
        .clock(ManualClock::new(0))
        .build()
        .unwrap()
}

/// What was published since the last time: the name and the labels behind `limits`, and the number.
fn published(snapshotter: &Snapshotter) -> BTreeMap<String, u64> {
    let number = |value| match value {
        DebugValue::Counter(count) => count,
        DebugValue::Gauge(gauge) => gauge.0 as u64,
        DebugValue::Histogram(_) => panic!("there is none"),
    };
    let named = |(key, _, _, value): (metrics_util::CompositeKey, _, _, _)| {
        let labels: Vec<_> =
            key.key().labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        assert_eq!(labels[0], "limits=api");
        (format!("{}{{{}}}", key.key().name(), labels[1..].join(",")), number(value))
    };
    snapshotter.snapshot().into_vec().into_iter().map(named).collect()
}

fn expect(snapshotter: &Snapshotter, expected: &[(&str, u64)]) {
    let published = published(snapshotter);
    for (name, number) in expected {
        assert_eq!(published.get(*name), Some(number), "{name} in {published:#?}");
    }
}

#[test]
fn counters_grow_by_what_was_counted_and_gauges_say_what_is() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let (limits, mut publisher) = (limits(), Publisher::new("api"));
        let ask = |limits: &Keys, times| (0..times).for_each(|_| _ = limits.check(&7));
        ask(&limits, 5);
        publisher.publish(&limits);
        expect(
            &snapshotter,
            &[
                ("tollgate_decisions_total{rule=key,outcome=allowed}", 2),
                ("tollgate_decisions_total{rule=key,outcome=denied}", 3),
                ("tollgate_decisions_total{rule=key,outcome=shadow_denied}", 0),
                ("tollgate_decisions_total{rule=soon,outcome=allowed}", 1),
                ("tollgate_decisions_total{rule=soon,outcome=shadow_denied}", 1),
                ("tollgate_overflowed_total{rule=key}", 0),
                ("tollgate_keys{rule=key}", 1),
            ],
        );
        // A snapshot takes counters away, so this is what came since.
        ask(&limits, 1);
        publisher.publish(&limits);
        expect(&snapshotter, &[("tollgate_decisions_total{rule=key,outcome=denied}", 1)]);

        // Those that take their place count anew, and the counter goes on: by less than the last sum, and by more.
        for times in [2, 9] {
            let next = limits.rebuild().keep(limits.rule("key").unwrap()).counters().build().unwrap();
            ask(&next, times);
            publisher.publish(&next);
            expect(&snapshotter, &[("tollgate_decisions_total{rule=key,outcome=denied}", times)]);
        }
    });
}

#[test]
fn keys_without_room_and_keys_that_made_room_are_counted() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let (limits, mut publisher) = (limits(), Publisher::new("api"));
        for key in 0..1_000 {
            _ = limits.check_at(&key, 0);
        }
        publisher.publish(&limits);
        let full = published(&snapshotter);
        let keys = full["tollgate_keys{rule=key}"];
        assert_eq!(full["tollgate_overflowed_total{rule=key}"], 1_000 - keys);
        assert_eq!(full["tollgate_reclaimed_total{rule=key}"], 0);
        // Two days later all of them are idle.
        limits.clock().advance(std::time::Duration::from_secs(2 * 86_400));
        for key in 2_000..2_010 {
            assert!(limits.check(&key).is_allowed());
        }
        publisher.publish(&limits);
        expect(&snapshotter, &[("tollgate_keys{rule=key}", 10), ("tollgate_overflowed_total{rule=key}", 0)]);
        assert!(limits.rule("key").unwrap().reclaimed() > 0);
    });
}
