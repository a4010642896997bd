//! The coarse clock's reading, refreshed beside its readers, and the guarded clock, anchored beside them.

use std::sync::Arc;

use loom_tests::{Bounds, explore_orders, run_threads};
use tollgate::model::Cached;
use tollgate::{Clock, GuardedClock, ManualClock};

/// A clock's accesses are few.
const TWO: Bounds = Bounds { counted: Some(5), free: None, strong: None };
const THREE: Bounds = Bounds { counted: Some(3), free: None, strong: None };

/// Readings of one thread never decrease, and show its own refresh; when all are done, the latest is shown.
fn assert_refreshed(readings: &[Vec<u64>], cached: &Cached) {
    assert!(readings.iter().all(|of_thread| of_thread.is_sorted()), "{readings:?}");
    assert_eq!(cached.get(), 7, "{readings:?}");
}

#[test]
fn a_refresh_beside_readers() {
    explore_orders("a_refresh_beside_readers", 3, THREE.now(), |order| {
        let source = ManualClock::new(5);
        let shared = Arc::new((Cached::new(source.clone()), source));
        let readings = run_threads(order, &shared, |(cached, source), thread| {
            if thread == 0 {
                source.set(7);
                cached.refresh();
            }
            vec![cached.get(), cached.get()]
        });
        assert_eq!(readings[0], [7, 7]);
        assert_refreshed(&readings, &shared.0);
    });
}

/// The background refresher and `refresh_now`, which may have read the source earlier and write later.
#[test]
fn a_refresh_overtaken_by_another() {
    explore_orders("a_refresh_overtaken_by_another", 2, TWO.now(), |order| {
        let source = ManualClock::new(5);
        let shared = Arc::new((Cached::new(source.clone()), source));
        let readings = run_threads(order, &shared, |(cached, source), thread| {
            if thread == 0 {
                source.set(7);
            }
            let before = cached.get();
            cached.refresh();
            vec![before, cached.get(), cached.get()]
        });
        assert_refreshed(&readings, &shared.0);
    });
}

/// A window of the guarded clock.
const WINDOW: u64 = 1 << 20;
const FAR: u64 = 2 * WINDOW;

/// The fast source jumps by ten windows, the reference moves on by two, and whoever reads it anchors anew. Nobody is told
/// a time beyond the reference and a window, and what a thread has confirmed is not taken back by another that anchors late.
#[test]
fn an_anchor_beside_another() {
    explore_orders("an_anchor_beside_another", 2, TWO.now(), |order| {
        let (fast, reference) = (ManualClock::new(0), ManualClock::new(0));
        let clock = GuardedClock::new(fast.clone(), reference.clone());
        let shared = Arc::new((clock, fast, reference));
        let readings = run_threads(order, &shared, |(clock, fast, reference), thread| {
            if thread == 0 {
                fast.set(5 * FAR);
                reference.set(FAR);
            }
            clock.now_ns()
        });
        let last = shared.0.now_ns();
        assert!(readings.iter().all(|&reading| reading <= last), "{readings:?}, {last}");
        assert!(last <= FAR + WINDOW, "{readings:?}, {last}");
    });
}
