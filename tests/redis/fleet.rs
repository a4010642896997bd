//! Processes, not threads, on one key: this binary starts itself as workers, each with a connection of its own.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tollgate::Quota;
use tollgate::redis::{Mode, Outage, Redis, RedisLimiter};

use crate::server::Server;
use crate::{block_on, runtime};

/// How a worker is told what to do.
const WORK: &str = "TOLLGATE_TEST_WORK";

/// What a worker does: so many calls, at so many each second or as fast as it can, with units in hand or without.
#[derive(Clone, Copy, Debug)]
struct Work {
    port: u16,
    limit: u64,
    period_s: u64,
    /// 0 is exact.
    max_units: u64,
    calls: u64,
    /// 0 is as fast as it can.
    per_second: u64,
    is_tls: bool,
}

impl Work {
    fn text(self) -> String {
        let Self { port, limit, period_s, max_units, calls, per_second, is_tls } = self;
        format!("{port} {limit} {period_s} {max_units} {calls} {per_second} {}", u8::from(is_tls))
    }

    fn read(text: &str) -> Self {
        let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().unwrap()).collect();
        let &[port, limit, period_s, max_units, calls, per_second, is_tls] = &numbers[..] else {
            panic!("{text}")
        };
        Self { port: port as u16, limit, period_s, max_units, calls, per_second, is_tls: is_tls == 1 }
    }

    fn limiter(self) -> RedisLimiter<str> {
        let scheme = if self.is_tls { "rediss" } else { "redis" };
        let url = format!("{scheme}://localhost:{}/", self.port);
        let redis = Redis::single(&url).deadline(Duration::from_secs(10)).build().unwrap();
        let quota = Quota::new(self.limit, Duration::from_secs(self.period_s));
        let mode = if self.max_units == 0 { Mode::Exact } else { Mode::Leased { max_units: self.max_units } };
        RedisLimiter::builder("fleet", quota).mode(mode).outage(Outage::Closed).build(&redis).unwrap()
    }

    /// How many were admitted.
    async fn run(self, limiter: &RedisLimiter<str>) -> u64 {
        let (started, mut admitted) = (Instant::now(), 0);
        for call in 0..self.calls {
            if let Some(due_ms) = (call * 1_000).checked_div(self.per_second) {
                let due = started + Duration::from_millis(due_ms);
                tokio::time::sleep_until(due.into()).await;
            }
            let answer = limiter.check("key").await;
            assert_eq!(answer.failure(), None);
            admitted += u64::from(answer.is_allowed());
        }
        limiter.give_back().await;
        admitted
    }
}

/// The worker's end: does nothing where it is not told what to do.
#[test]
#[ignore = "a worker of the other tests"]
fn worker() {
    let Ok(work) = env::var(WORK) else { return };
    let work = Work::read(&work);
    block_on(async {
        let limiter = work.limiter();
        // Connected, and ready.
        assert_eq!(limiter.check_n("key", 0).await.failure(), None);
        println!("ready");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        println!("admitted {}", work.run(&limiter).await);
    });
}

struct Worker {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Worker {
    fn start(work: Work) -> Self {
        Self::with(work, &[])
    }

    /// One that is ready to begin.
    fn with(work: Work, variables: &[(&str, &str)]) -> Self {
        let mut worker = Self::spawn(work, variables);
        worker.read("ready");
        worker
    }

    fn spawn(work: Work, variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "fleet::worker", "--ignored", "--nocapture"])
            .env(WORK, work.text())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    /// The rest of the line with this word.
    fn read(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "a worker has ended before it said {word}"
            );
            // The test harness does not end its own line first.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
        }
    }

    fn go(&mut self) {
        writeln!(self.process.stdin.as_mut().unwrap()).unwrap();
    }

    fn admitted(mut self) -> u64 {
        let admitted = self.read("admitted").parse().unwrap();
        assert!(self.process.wait().unwrap().success());
        admitted
    }
}

/// What all of them have admitted, and how long they took.
fn run(works: &[Work]) -> (u64, Duration) {
    let mut workers: Vec<_> = works.iter().map(|&work| Worker::start(work)).collect();
    let started = Instant::now();
    workers.iter_mut().for_each(Worker::go);
    let admitted = workers.into_iter().map(Worker::admitted).sum();
    (admitted, started.elapsed())
}

#[test]
fn exact_processes_admit_the_limit_exactly() {
    let server = Server::start();
    let work = Work {
        port: server.port(),
        limit: 500,
        period_s: 86_400,
        max_units: 0,
        calls: 300,
        per_second: 0,
        is_tls: false,
    };
    let (admitted, elapsed) = run(&[work; 4]);
    // One comes back in 173 s.
    assert!(elapsed < Duration::from_secs(170));
    assert_eq!(admitted, 500);
}

#[test]
fn leased_processes_stay_within_the_bound_at_every_demand() {
    let limit = 2_000;
    for (tenths, name) in [(5, "0.5"), (9, "0.9"), (20, "2"), (100, "10")] {
        let server = Server::start();
        let demand = limit * tenths / 10;
        // Half of the demand comes from one of eight, a quarter from the next, and so on.
        let works: Vec<_> = (1..=8_u32)
            .map(|place| {
                let per_second = (demand >> place).max(1);
                let (calls, max_units) = (per_second * 2, 50);
                Work { port: server.port(), limit, period_s: 1, max_units, calls, per_second, is_tls: false }
            })
            .collect();
        let (admitted, elapsed) = run(&works);
        let asked: u64 = works.iter().map(|work| work.calls).sum();
        let bound = limit as f64 * (1.0 + elapsed.as_secs_f64()) + 8.0 * 50.0;
        let possible = (asked as f64).min(limit as f64 * (1.0 + elapsed.as_secs_f64()));
        eprintln!(
            "demand {name} x: {admitted} of {asked} admitted, {:.1} % of what was possible",
            admitted as f64 / possible * 100.0
        );
        assert!(admitted as f64 <= bound, "{admitted} of {bound}");
        assert!(admitted <= asked);
    }
}

#[test]
fn leased_units_are_never_more_than_were_charged_and_all_of_them_are_found() {
    let server = Server::start();
    let (limit, used) = (3_000, 1_000);
    let work = Work {
        port: server.port(),
        limit,
        period_s: 86_400,
        max_units: 100,
        calls: 4_000,
        per_second: 0,
        is_tls: false,
    };
    let exact = Work { max_units: 0, ..work };
    // A key in use: where hardly anything is taken, units of one process may lapse when another gives back before it.
    runtime().block_on(async { assert!(exact.limiter().check_n("key", used).await.is_allowed()) });
    let works = [work, Work { calls: 700, ..work }, Work { calls: 90, ..work }, Work { calls: 9, ..work }];
    let (admitted, elapsed) = run(&works);
    assert!(elapsed < Duration::from_secs(28), "one comes back in 29 s");
    // What was not admitted was given back, and one who comes later gets it, to the last.
    let calls = limit - used - admitted + 5;
    let left = runtime().block_on(async { Work { calls, ..exact }.run(&exact.limiter()).await });
    assert_eq!(used + admitted + left, limit, "{admitted} and {left}");
}

/// A key that nobody asks for gives its units back after a while, and whoever asks in that moment loses none.
#[test]
fn what_is_not_used_is_given_back_by_itself() {
    let server = Server::start();
    let work = Work {
        port: server.port(),
        limit: 1_000,
        period_s: 86_400,
        max_units: 100,
        calls: 0,
        per_second: 0,
        is_tls: false,
    };
    runtime().block_on(async {
        let (leased, exact) = (work.limiter(), Work { max_units: 0, ..work }.limiter());
        let mut admitted = 0;
        for _ in 0..5 {
            for _ in 0..50 {
                admitted += u64::from(leased.check("key").await.is_allowed());
            }
            let started = Instant::now();
            while exact.peek_n("key", 0).await.unwrap().remaining() != 1_000 - admitted {
                assert!(started.elapsed() < Duration::from_secs(60), "not given back");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        assert_eq!(admitted, 250);
    });
}

#[cfg(feature = "redis-tls")]
#[test]
fn by_tls_who_is_trusted_decides_and_who_is_not_does_not() {
    let folder = tempfile::TempDir::new().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) =
        (write("own.pem", made.cert.pem()), write("key.pem", made.signing_key.serialize_pem()));
    let stranger = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let stranger = write("stranger.pem", stranger.cert.pem());
    let port = crate::server::free_port();
    let server = Server::with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &certificate,
        "--tls-auth-clients",
        "no",
    ]);
    let work =
        Work { port, limit: 50, period_s: 86_400, max_units: 0, calls: 80, per_second: 0, is_tls: true };
    let mut worker = Worker::with(work, &[("SSL_CERT_FILE", &certificate)]);
    worker.go();
    assert_eq!(worker.admitted(), 50);
    // Who trusts another gets no answer, and ends where it demands one.
    let mut refused = Worker::spawn(work, &[("SSL_CERT_FILE", &stranger)]);
    assert!(!refused.process.wait().unwrap().success());
    drop(server);
}
