//! A reply that is lost after its charge was made: the connection breaks in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tollgate::Quota;
use tollgate::redis::{Failure, Mode, Outage, Redis, RedisLimiter, Source};

use crate::block_on;
use crate::server::Server;

/// Stands between a client and a server, and cuts the connection instead of handing on a reply.
#[derive(Default)]
struct Proxy {
    cuts_next: AtomicBool,
    /// The same, once a debt is to be charged.
    cuts_payment: AtomicBool,
    cut: AtomicU64,
}

impl Proxy {
    async fn start(self: &Arc<Self>, server_port: u16) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = self.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", server_port)).await.unwrap();
                tokio::spawn(proxy.clone().hand_on(client, server));
            }
        });
        port
    }

    async fn hand_on(self: Arc<Self>, client: TcpStream, server: TcpStream) {
        let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
            (client.into_split(), server.into_split());
        let proxy = self.clone();
        let requests = tokio::spawn(async move {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
                let is_payment = buffer[..read].windows(5).any(|word| word == b"force");
                if is_payment && proxy.cuts_payment.swap(false, Ordering::SeqCst) {
                    proxy.cuts_next.store(true, Ordering::SeqCst);
                }
                if to_server.write_all(&buffer[..read]).await.is_err() {
                    break;
                }
            }
        });
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
            if self.cuts_next.swap(false, Ordering::SeqCst) {
                self.cut.fetch_add(1, Ordering::SeqCst);
                break;
            }
            if to_client.write_all(&buffer[..read]).await.is_err() {
                break;
            }
        }
        requests.abort();
    }
}

async fn through_a_proxy(server: &Server) -> (Arc<Proxy>, Redis) {
    let proxy = Arc::new(Proxy::default());
    let url = format!("redis://127.0.0.1:{}/", proxy.start(server.port()).await);
    (proxy, Redis::single(&url).deadline(Duration::from_secs(10)).build().unwrap())
}

async fn until_it_is_back(limiter: &RedisLimiter<str>) {
    let started = Instant::now();
    // By another key, of which nothing is in hand.
    while limiter.check_n("another", 0).await.source() != Source::Store {
        assert!(started.elapsed() < Duration::from_secs(60), "never");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn a_decision_whose_reply_is_lost_is_charged_once_and_left_to_the_policy() {
    let server = Server::start();
    block_on(async {
        let (proxy, redis) = through_a_proxy(&server).await;
        let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(100)).outage(Outage::Closed);
        let limiter = builder.build(&redis).unwrap();
        let behind =
            RedisLimiter::<str>::builder("rule", Quota::per_day(100)).build(&server.patient()).unwrap();
        for lost in 1..=5 {
            until_it_is_back(&limiter).await;
            assert!(limiter.check("key").await.is_allowed());
            proxy.cuts_next.store(true, Ordering::SeqCst);
            let answer = limiter.check_n("key", 3).await;
            assert!(matches!(answer.failure(), Some(Failure::Unreachable(_))), "{answer:?}");
            assert_eq!((answer.source(), answer.is_allowed()), (Source::Closed, false));
            assert_eq!(behind.peek_n("key", 0).await.unwrap().remaining(), 100 - 4 * lost);
        }
        assert_eq!(proxy.cut.load(Ordering::SeqCst), 5);
        assert_eq!(redis.outages(), 5);
    });
}

#[test]
fn a_lease_whose_reply_is_lost_is_charged_once_and_lapses() {
    let server = Server::start();
    block_on(async {
        let (proxy, redis) = through_a_proxy(&server).await;
        let (limit, max_units) = (1_000, 40);
        let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(limit)).outage(Outage::Closed);
        let limiter = builder.mode(Mode::Leased { max_units }).build(&redis).unwrap();
        let behind =
            RedisLimiter::<str>::builder("rule", Quota::per_day(limit)).build(&server.patient()).unwrap();
        let mut admitted = 0;
        for call in 0..4_000 {
            if call % 400 == 399 {
                until_it_is_back(&limiter).await;
                proxy.cuts_next.store(true, Ordering::SeqCst);
            }
            admitted += u64::from(limiter.check("key").await.is_allowed());
        }
        proxy.cuts_next.store(false, Ordering::SeqCst);
        until_it_is_back(&limiter).await;
        limiter.give_back().await;
        let (cut, left) =
            (proxy.cut.load(Ordering::SeqCst), behind.peek_n("key", 0).await.unwrap().remaining());
        assert!(cut > 0);
        let charged = limit - left;
        assert!(admitted <= charged, "{admitted} admitted of {charged}");
        assert!(charged <= admitted + cut * max_units, "{charged} charged for {admitted}, and {cut} lost");
    });
}

#[test]
fn a_debt_whose_reply_is_lost_is_paid_once() {
    let server = Server::start();
    block_on(async {
        let (proxy, redis) = through_a_proxy(&server).await;
        let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(100));
        let limiter = builder.outage(Outage::Local { share: 1.0 }).build(&redis).unwrap();
        let behind =
            RedisLimiter::<str>::builder("rule", Quota::per_day(100)).build(&server.patient()).unwrap();
        // The server knows the script from now on, so that a reply to it is one that something was done.
        limiter.refund("nobody", 1).await.unwrap();
        let used = async || 100 - behind.peek_n("key", 0).await.unwrap().remaining();
        assert!(limiter.check("key").await.is_allowed());
        // Lost: charged there, admitted here, and so owed as well.
        proxy.cuts_next.store(true, Ordering::SeqCst);
        proxy.cuts_payment.store(true, Ordering::SeqCst);
        assert_eq!(limiter.check_n("key", 10).await.source(), Source::Local);
        assert_eq!(used().await, 11);
        // Paid, and the reply to that is lost, too.
        until_it_is_back(&limiter).await;
        let started = Instant::now();
        while proxy.cut.load(Ordering::SeqCst) < 2 {
            assert!(started.elapsed() < Duration::from_secs(60), "never paid");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // It is tried again until it is known to be paid.
        for _ in 0..20 {
            until_it_is_back(&limiter).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(used().await, 21);
        assert_eq!(redis.outages(), 2);
    });
}

/// All calls on a connection fail when it breaks: that is one outage, and the next connection is not theirs to give up.
#[test]
fn many_calls_on_one_broken_connection_are_one_outage() {
    let server = Server::start();
    block_on(async {
        let (proxy, redis) = through_a_proxy(&server).await;
        let builder = RedisLimiter::<str>::builder("rule", Quota::per_day(1_000)).outage(Outage::Closed);
        let limiter = builder.build(&redis).unwrap();
        for round in 1..=5 {
            until_it_is_back(&limiter).await;
            proxy.cuts_next.store(true, Ordering::SeqCst);
            let calls: Vec<_> = (0..5_000)
                .map(|_| {
                    let limiter = limiter.clone();
                    tokio::spawn(async move { limiter.check("key").await })
                })
                .collect();
            for call in calls {
                _ = call.await.unwrap();
            }
            assert_eq!(proxy.cut.load(Ordering::SeqCst), round);
            assert_eq!(redis.outages(), round);
        }
    });
}
