//! Without `await`, on threads, and within a runtime of another's.

use std::thread;

use tollgate::Quota;
use tollgate::redis::{Blocking, Mode, Outage, RedisLimiter, Source};

use crate::block_on;
use crate::server::Server;

#[test]
fn threads_share_the_limit_exactly() {
    let server = Server::start();
    let redis = server.patient();
    let rule = RedisLimiter::<str>::builder("rule", Quota::per_day(100))
        .outage(Outage::Closed)
        .build(&redis)
        .unwrap();
    let rule = Blocking::new().unwrap().limiter(rule);
    let admitted: u64 = thread::scope(|scope| {
        let ask = || {
            let rule = rule.clone();
            scope.spawn(move || (0..40).filter(|_| rule.check("key").is_allowed()).count() as u64)
        };
        let threads = [ask(), ask(), ask(), ask()];
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 100);
    rule.refund("key", 5).unwrap();
    assert_eq!(rule.peek_n("key", 1).unwrap().remaining(), 4);
    rule.reset("key").unwrap();
    assert_eq!(rule.check_n("key", 30).decision().unwrap().remaining(), 70);
    assert_eq!(rule.counts().allowed, 101);
}

#[test]
fn several_limits_are_charged_together() {
    let server = Server::start();
    let redis = server.patient();
    let blocking = Blocking::new().unwrap();
    blocking.connect(&redis).unwrap();
    let build = |name, units| {
        let builder = RedisLimiter::<str>::builder(name, Quota::per_day(units)).outage(Outage::Closed);
        blocking.limiter(builder.build(&redis).unwrap())
    };
    let (few, many) = (build("few", 2), build("many", 10));
    let both = || blocking.charge_all(&[few.charge("alice", 1), many.charge("alice", 3)]).unwrap();
    assert!(both().is_allowed() && both().is_allowed());
    assert_eq!(both().refused().map(|(index, _)| index).collect::<Vec<_>>(), [0]);
    assert_eq!(many.peek_n("alice", 0).unwrap().remaining(), 4);
}

#[test]
fn it_does_not_panic_within_a_runtime_and_may_be_dropped_there() {
    let server = Server::start();
    let redis = server.patient();
    let builder =
        RedisLimiter::<str>::builder("rule", Quota::per_day(100)).mode(Mode::Leased { max_units: 10 });
    let rule = Blocking::new().unwrap().limiter(builder.outage(Outage::Closed).build(&redis).unwrap());
    block_on(async move {
        assert_eq!(rule.check("key").source(), Source::Store);
        for _ in 0..50 {
            assert!(rule.check("key").is_allowed());
        }
        rule.give_back();
        drop(rule);
    });
}
