//! Several limits at once: all are charged, or none.

use std::time::Duration;

use tollgate::redis::{Failure, Outage, Redis, RedisLimiter, Source, charge_all};
use tollgate::{Quota, Verdict};

use crate::block_on;
use crate::server::Server;

#[test]
fn a_refusal_charges_nobody() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
            let user = RedisLimiter::<str>::builder(&format!("user-{algorithm}"), Quota::per_day(1))
                .algorithm(algorithm);
            let user = user.outage(Outage::Closed).build(&redis).unwrap();
            let all = RedisLimiter::<()>::builder(&format!("all-{algorithm}"), Quota::per_day(10));
            let all = all.algorithm("gcra").outage(Outage::Closed).build(&redis).unwrap();
            // User 1, all 10, 20 calls by one user: 1 of all is used.
            let mut admitted = 0;
            for _ in 0..20 {
                let answers = charge_all(&[user.charge("alice", 1), all.charge(&(), 1)]).await.unwrap();
                admitted += u64::from(answers.is_allowed());
                if answers.is_denied() {
                    let refused: Vec<_> = answers.refused().map(|(index, _)| index).collect();
                    assert_eq!(refused, [0], "{algorithm}");
                    assert_eq!(answers.as_slice()[1].decision().unwrap().verdict(), Verdict::Allowed);
                    assert!(answers.retry_after() > Duration::ZERO);
                }
            }
            assert_eq!(admitted, 1, "{algorithm}");
            assert_eq!(all.peek_n(&(), 0).await.unwrap().remaining(), 9, "{algorithm}");
            // Others go on until all is used.
            let names: Vec<_> = (0..20).map(|number| format!("user{number}")).collect();
            for name in &names {
                let answers = charge_all(&[user.charge(name, 1), all.charge(&(), 1)]).await.unwrap();
                admitted += u64::from(answers.is_allowed());
            }
            assert_eq!(admitted, 10, "{algorithm}");
            assert_eq!(
                user.peek_n("user15", 0).await.unwrap().remaining(),
                1,
                "{algorithm}: charged in vain"
            );
        }
    });
}

#[test]
fn what_never_fits_charges_nobody_and_weights_count() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        let bytes = RedisLimiter::<str>::builder("bytes", Quota::per_day(100)).build(&redis).unwrap();
        let calls = RedisLimiter::<str>::builder("calls", Quota::per_day(3)).build(&redis).unwrap();
        let charge = |size| [calls.charge("alice", 1), bytes.charge("alice", size)];
        assert!(charge_all(&charge(60)).await.unwrap().is_allowed());
        let answers = charge_all(&charge(101)).await.unwrap();
        assert_eq!(answers.as_slice()[1].decision().unwrap().verdict(), Verdict::NeverFits);
        assert!(charge_all(&charge(41)).await.unwrap().is_denied());
        assert!(charge_all(&charge(40)).await.unwrap().is_allowed());
        assert_eq!(calls.peek_n("alice", 0).await.unwrap().remaining(), 1);
        // Nothing of one, and one of another.
        assert!(charge_all(&charge(0)).await.unwrap().is_allowed());
        assert_eq!(calls.peek_n("alice", 0).await.unwrap().remaining(), 0);
    });
}

#[test]
fn one_key_twice_and_many_servers_are_refused() {
    let (server, other) = (Server::start(), Server::start());
    block_on(async {
        let (redis, elsewhere) = (server.patient(), other.patient());
        let here = RedisLimiter::<str>::builder("rule", Quota::per_day(3)).build(&redis).unwrap();
        let there = RedisLimiter::<str>::builder("rule", Quota::per_day(3)).build(&elsewhere).unwrap();
        let twice = charge_all(&[here.charge("alice", 1), here.charge("alice", 1)]).await;
        assert!(matches!(twice, Err(Failure::Other(why)) if why.contains("add the units up")));
        let apart = charge_all(&[here.charge("alice", 1), there.charge("alice", 1)]).await;
        assert_eq!(apart, Err(Failure::ManyStores));
        assert_eq!(here.peek_n("alice", 0).await.unwrap().remaining(), 3);
    });
}

#[test]
fn without_redis_the_policies_answer_and_a_refusal_gives_back() {
    block_on(async {
        let nowhere = tollgate::redis::Redis::open("redis://127.0.0.1:1/").unwrap();
        let build = |name, limit, outage| {
            RedisLimiter::<str>::builder(name, Quota::per_day(limit)).outage(outage).build(&nowhere).unwrap()
        };
        let whole = Outage::Local { share: 1.0 };
        let (wide, narrow, open) =
            (build("wide", 10, whole), build("narrow", 2, whole), build("open", 1, Outage::Open));
        let mut admitted = 0;
        for _ in 0..6 {
            let charges = [wide.charge("alice", 1), narrow.charge("alice", 1), open.charge("alice", 1)];
            let answers = charge_all(&charges).await.unwrap();
            admitted += u64::from(answers.is_allowed());
            assert_eq!(answers.as_slice()[0].source(), Source::Local);
            assert_eq!(answers.as_slice()[2].source(), Source::Open);
        }
        assert_eq!(admitted, 2);
        // Eight are left of ten: four refusals have taken nothing.
        assert!(charge_all(&[wide.charge("alice", 8)]).await.unwrap().is_allowed());
        assert!(charge_all(&[wide.charge("alice", 1)]).await.unwrap().is_denied());
    });
}

/// Of a limit that was lowered below what is used, nothing fits, but nothing can be taken all the same.
#[test]
fn nothing_of_a_limit_that_was_lowered_hinders_nobody_and_the_others_are_charged() {
    let server = Server::start();
    block_on(async {
        let redis = server.patient();
        for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
            let build = |name: &str, limit| {
                let builder = RedisLimiter::<str>::builder(name, Quota::per_day(limit)).algorithm(algorithm);
                builder.outage(Outage::Closed).build(&redis).unwrap()
            };
            let (before, lowered, other) = (build("rule", 5), build("rule", 2), build("other", 3));
            assert!(before.check_n("key", 5).await.is_allowed());
            let answers = charge_all(&[lowered.charge("key", 0), other.charge("key", 1)]).await.unwrap();
            assert!(answers.is_allowed(), "{algorithm}: {answers:?}");
            assert_eq!(other.peek_n("key", 0).await.unwrap().remaining(), 2, "{algorithm}");
            other.reset("key").await.unwrap();
        }
    });
}

/// As in `Limits`: what another refused was not allowed.
#[test]
fn a_refusal_is_counted_by_those_who_refuse() {
    let nowhere = Redis::open("redis://127.0.0.1:1/").unwrap();
    let build = |name: &str, outage| {
        RedisLimiter::<str>::builder(name, Quota::per_day(1)).outage(outage).build(&nowhere).unwrap()
    };
    let (open, shut) = (build("open", Outage::Open), build("shut", Outage::Closed));
    block_on(async {
        assert!(charge_all(&[open.charge("alice", 1), shut.charge("alice", 1)]).await.unwrap().is_denied());
        assert_eq!((open.counts().allowed, open.counts().denied, open.counts().open), (0, 0, 0));
        assert_eq!((shut.counts().allowed, shut.counts().denied, shut.counts().closed), (0, 1, 1));
        assert!(charge_all(&[open.charge("alice", 1)]).await.unwrap().is_allowed());
        assert_eq!((open.counts().allowed, open.counts().open), (1, 1));
    });
}

#[test]
fn two_handles_of_one_server_are_told_to_be_made_one() {
    let build = || {
        let redis = Redis::open("redis://127.0.0.1:1/").unwrap();
        RedisLimiter::<str>::builder("rule", Quota::per_day(1)).build(&redis).unwrap()
    };
    let failure = block_on(charge_all(&[build().charge("alice", 1), build().charge("bob", 1)])).unwrap_err();
    assert_eq!(failure, Failure::ManyStores);
    assert!(failure.to_string().contains("build them on one Redis"), "{failure}");
}
