//! A process that asks as fast as it can.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tollgate::Quota;
use tollgate::redis::{Mode, Outage, Redis, RedisLimiter};

use crate::by_hand::ByHand;

const WORK: &str = "TOLLGATE_BENCH_WORK";

/// Calls under way at once in one process, over one connection.
const TASKS: usize = 64;

/// By one task of what needs nobody else, until it looks at the clock and lets others go on.
const ASKED_AT_ONCE: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Exact,
    ByHand,
    Leased,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Exact, Self::ByHand, Self::Leased];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::ByHand => "script by hand",
            Self::Leased => "leased",
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub(crate) port: u16,
    pub(crate) kind: Kind,
    pub(crate) limit: u64,
    pub(crate) processes: u64,
    pub(crate) ms: u64,
}

pub(crate) fn is_one() -> bool {
    env::var_os(WORK).is_some()
}

impl Work {
    fn text(self) -> String {
        format!("{} {} {} {} {}", self.port, self.kind as u8, self.limit, self.processes, self.ms)
    }

    fn read(text: &str) -> Self {
        let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().unwrap()).collect();
        let &[port, kind, limit, processes, ms] = &numbers[..] else { panic!("{text}") };
        Self { port: port as u16, kind: Kind::ALL[kind as usize], limit, processes, ms }
    }

    fn url(self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    fn limiter(self) -> RedisLimiter<str> {
        let redis = Redis::single(&self.url()).deadline(Duration::from_secs(10)).build().unwrap();
        // A tenth of the burst, for all processes together.
        let max_units = (self.limit / 10 / self.processes).max(1);
        let mode = if self.kind == Kind::Leased { Mode::Leased { max_units } } else { Mode::Exact };
        let builder = RedisLimiter::builder("bench", Quota::per_second(self.limit)).mode(mode);
        builder.outage(Outage::Closed).build(&redis).unwrap()
    }
}

#[derive(Clone)]
enum Asker {
    Tollgate(RedisLimiter<str>),
    ByHand(ByHand),
}

impl Asker {
    async fn new(work: Work) -> Self {
        match work.kind {
            Kind::ByHand => Self::ByHand(ByHand::new(&work.url(), work.limit).await),
            Kind::Exact | Kind::Leased => Self::Tollgate(work.limiter()),
        }
    }

    async fn check(&mut self, key: &str, cost: u64) -> bool {
        match self {
            Self::Tollgate(limiter) => {
                let answer = limiter.check_n(key, cost).await;
                assert_eq!(answer.failure(), None);
                answer.is_allowed()
            }
            Self::ByHand(script) => script.check(key, cost).await,
        }
    }

    /// Asks until it is time: how often, and how often it was admitted.
    async fn ask_until(mut self, kind: Kind, end: Instant) -> [u64; 2] {
        let at_once = if kind == Kind::Leased { ASKED_AT_ONCE } else { 1 };
        let [mut made, mut admitted] = [0; 2];
        while Instant::now() < end {
            for _ in 0..at_once {
                made += 1;
                admitted += u64::from(self.check("key", 1).await);
            }
            if at_once > 1 {
                tokio::task::yield_now().await;
            }
        }
        [made, admitted]
    }
}

/// The process's own `main`.
pub(crate) fn run() {
    let work = Work::read(&env::var(WORK).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let asked = runtime.block_on(async {
        let mut asker = Asker::new(work).await;
        asker.check("warm", 1).await;
        println!("ready");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        // The burst is taken by one of them, so that what is admitted is what comes back.
        asker.check("key", work.limit).await;
        let end = Instant::now() + Duration::from_millis(work.ms);
        let tasks: Vec<_> =
            (0..TASKS).map(|_| tokio::spawn(asker.clone().ask_until(work.kind, end))).collect();
        let mut asked = Vec::new();
        for task in tasks {
            asked.push(task.await.unwrap());
        }
        asked
    });
    let sum = |index: usize| asked.iter().map(|asked| asked[index]).sum::<u64>();
    println!("made {} {}", sum(0), sum(1));
}

pub(crate) struct Worker {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Worker {
    pub(crate) fn start(work: Work) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.env(WORK, work.text()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut worker = Self { process, output };
        worker.read("ready");
        worker
    }

    fn read(&mut self, word: &str) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.strip_prefix(word).unwrap_or_else(|| panic!("a worker said {line:?}")).trim().to_owned()
    }

    pub(crate) fn go(&mut self) {
        writeln!(self.process.stdin.as_mut().unwrap()).unwrap();
    }

    /// How many decisions it has made, and admitted.
    pub(crate) fn made(mut self) -> [u64; 2] {
        let line = self.read("made");
        let (made, admitted) = line.split_once(' ').unwrap();
        assert!(self.process.wait().unwrap().success());
        [made.parse().unwrap(), admitted.parse().unwrap()]
    }
}
