//! Connections that break, again and again, and settings that nobody needs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tollgate::Quota;
use tollgate::redis::{Failure, Outage, Redis, RedisLimiter, Source};

use crate::block_on;
use crate::server::Server;

fn rule(redis: &Redis) -> RedisLimiter<str> {
    RedisLimiter::builder("rule", Quota::per_day(1_000)).outage(Outage::Closed).build(redis).unwrap()
}

/// Whoever can connect, but not decide, is not asked again and again at once.
#[test]
fn a_server_that_refuses_each_decision_is_not_connected_to_for_each() {
    let replica = Server::start();
    let limited = Server::start();
    let user = ["~*", "+ping", "+client", "+hello", "+get", "+set"];
    let words: Vec<&[u8]> = [&b"ACL"[..], b"SETUSER", b"bob", b"on", b">secret"]
        .into_iter()
        .chain(user.map(str::as_bytes))
        .collect();
    limited.ask(&words);
    block_on(async {
        let bob = format!("redis://bob:secret@127.0.0.1:{}/", limited.port());
        let bob = Redis::single(&bob).deadline(Duration::from_secs(10)).build().unwrap();
        let refused = replica.patient();
        assert!(rule(&refused).check("key").await.is_allowed());
        replica.ask(&[b"REPLICAOF", b"127.0.0.1", b"1"]);
        for (redis, name) in [(refused, "replica"), (bob, "no rights")] {
            let rule = rule(&redis);
            let started = Instant::now();
            while started.elapsed() < Duration::from_millis(500) {
                let answer = rule.check("key").await;
                assert_eq!(answer.source(), Source::Closed, "{name}");
                let why = answer.failure().unwrap();
                assert!(matches!(why, Failure::ReadOnly | Failure::Login(_)), "{name}: {why:?}");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert!(redis.outages() <= 10, "{name}: {} outages in half a second", redis.outages());
        }
    });
}

/// A server that takes connections and breaks them, and tells of each.
fn breaks_all() -> (u16, mpsc::Receiver<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, tries) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            drop(stream);
            if told.send(()).is_err() {
                return;
            }
        }
    });
    (port, tries)
}

#[test]
fn nobody_tries_to_connect_for_a_handle_that_is_gone() {
    let (port, tries) = breaks_all();
    let runtime = crate::runtime();
    let redis = Redis::single(&format!("redis://127.0.0.1:{port}/")).build().unwrap();
    assert!(runtime.block_on(async { rule(&redis).check("key").await }).is_denied());
    // It tries, more than once.
    for _ in 0..3 {
        tries.recv_timeout(Duration::from_secs(10)).unwrap();
    }
    drop(redis);
    // One may be under way. Two would be a second apart at most.
    let longest = Duration::from_secs(3);
    _ = tries.recv_timeout(longest);
    assert!(tries.recv_timeout(longest).is_err(), "still trying");
}

#[test]
fn the_longest_and_the_shortest_deadline_do_not_panic() {
    let server = Server::start();
    block_on(async {
        let longest = server.handle().deadline(Duration::MAX).build().unwrap();
        assert!(rule(&longest).check("key").await.is_allowed());
        let shortest = server.handle().deadline(Duration::ZERO).build().unwrap();
        assert_eq!(rule(&shortest).check("key").await.failure(), Some(&Failure::Deadline));
    });
}

/// Answers the first two commands as a server does, which are the login and the look whether it is there, and then each with what is given.
fn impostor(reply: &'static [u8]) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = move |mut stream: TcpStream| {
        let mut buffer = [0; 1 << 14];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
            // A client's setup is pipelined: a reply for each of its commands.
            let setup = text.matches("CLIENT\r\n").count();
            let others = if text.contains("EVALSHA") {
                reply
            } else if setup > 0 {
                &b""[..]
            } else {
                b"+PONG\r\n"
            };
            let replies = [&b"+OK\r\n".repeat(setup)[..], others].concat();
            if stream.write_all(&replies).is_err() {
                return;
            }
        }
    };
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    port
}

#[test]
fn a_reply_of_another_shape_admits_nobody() {
    let replies: [&[u8]; 9] = [
        b"$-1\r\n",
        b"+OK\r\n",
        b":1\r\n",
        b"*0\r\n",
        // A choice that was not offered, and one that is negative.
        b"*3\r\n:99\r\n:7\r\n*3\r\n:7\r\n:0\r\n:0\r\n",
        b"*3\r\n:-1\r\n:7\r\n*3\r\n:7\r\n:0\r\n:0\r\n",
        // Nothing was charged, though there is room.
        b"*3\r\n:0\r\n:7\r\n*3\r\n:7\r\n:0\r\n:0\r\n",
        // Times that add up to more than there is.
        b"*3\r\n:0\r\n:-1\r\n*4\r\n:-1\r\n:-1\r\n:-1\r\n:-1\r\n",
        b"*3\r\n:0\r\n:1\r\n*4\r\n:10000000\r\n:-1\r\n:-1\r\n:-1\r\n",
    ];
    block_on(async {
        for reply in replies {
            for algorithm in ["gcra", "fixed_window", "sliding_window_counter", "sliding_window_log"] {
                let url = format!("redis://127.0.0.1:{}/", impostor(reply));
                let redis = Redis::single(&url).deadline(Duration::from_secs(10)).build().unwrap();
                let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(100));
                let rule = builder.algorithm(algorithm).outage(Outage::Closed).build(&redis).unwrap();
                let answer = rule.check("key").await;
                let shown = String::from_utf8_lossy(reply);
                assert!(answer.is_denied(), "{algorithm} {shown:?}: {answer:?}");
                let answers = tollgate::redis::charge_all(&[rule.charge("key", 1)]).await;
                assert!(
                    answers.as_ref().is_ok_and(|answers| answers.is_denied()),
                    "{algorithm} {shown:?}: {answers:?}"
                );
                _ = rule.peek_n("key", 5).await;
            }
        }
    });
}
