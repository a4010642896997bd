//! Decisions a second and round trips of a limit across machines, beside the script that a user would write by hand.
//!
//! Starts a server of its own. One process, then four, each of which asks for twice of what the limit allows. Five rounds, interleaved;
//! medians.

mod by_hand;
mod worker;

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use redis::{Commands, Value};
use worker::{Kind, Work, Worker};

const ROUNDS: usize = 5;

struct Server {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::TempDir::new().unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()]);
        let process = command.current_dir(folder.path()).stdout(Stdio::null()).spawn();
        let process = process.expect("this bench needs a server: sudo apt-get install redis-server");
        let server = Self { process, port, _folder: folder };
        while server.client().is_none() {
            std::thread::yield_now();
        }
        server
    }

    fn client(&self) -> Option<redis::Connection> {
        redis::Client::open(("127.0.0.1", self.port)).ok()?.get_connection().ok()
    }

    /// Scripts run since this was last asked.
    fn take_trips(&self) -> u64 {
        let mut client = self.client().unwrap();
        let stats: String = redis::cmd("INFO").arg("commandstats").query(&mut client).unwrap();
        let calls = |name: &str| -> u64 {
            let line = stats.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{name}:calls=")));
            line.and_then(|line| line.split(',').next()).map_or(0, |calls| calls.parse().unwrap())
        };
        let trips = calls("eval") + calls("evalsha");
        let _: Value = redis::cmd("CONFIG").arg("RESETSTAT").query(&mut client).unwrap();
        let _: Value = client.flushall().unwrap();
        trips
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// What one round found.
#[derive(Clone, Copy, Default)]
struct Found {
    per_second: f64,
    trips_per_1000: f64,
    admitted: f64,
}

fn measure(server: &Server, kind: Kind, processes: u64, limit: u64, ms: u64) -> Found {
    server.take_trips();
    let work = Work { port: server.port, kind, limit, processes, ms };
    let mut workers: Vec<_> = (0..processes).map(|_| Worker::start(work)).collect();
    server.take_trips();
    workers.iter_mut().for_each(Worker::go);
    let (mut decisions, mut admitted) = (0, 0);
    for worker in workers {
        let [made, allowed] = worker.made();
        decisions += made;
        admitted += allowed;
    }
    let seconds = ms as f64 / 1_000.0;
    Found {
        per_second: decisions as f64 / seconds,
        trips_per_1000: server.take_trips() as f64 * 1_000.0 / decisions as f64,
        admitted: admitted as f64 / decisions as f64,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    if worker::is_one() {
        return worker::run();
    }
    // `cargo bench -- --test` only looks whether it runs.
    let (is_test, rounds) =
        if std::env::args().any(|argument| argument == "--test") { (true, 1) } else { (false, ROUNDS) };
    let ms = if is_test { 50 } else { 1_000 };
    let server = Server::start();
    println!("| processes | contender | decisions/s | trips per 1000 | admitted | against exact |");
    println!("|---|---|---|---|---|---|");
    for processes in [1, 4] {
        let kinds = [Kind::Exact, Kind::ByHand, Kind::Leased];
        // Half of what is asked for, by what was asked for in the round before.
        let half = |found: Found| (found.per_second / 2.0) as u64 + 1;
        let mut limits = kinds.map(|kind| half(measure(&server, kind, processes, 100_000, ms)));
        let mut found = [const { Vec::new() }; 3];
        for _ in 0..rounds {
            for (index, kind) in kinds.into_iter().enumerate() {
                let round = measure(&server, kind, processes, limits[index], ms);
                limits[index] = half(round);
                found[index].push(round);
            }
        }
        let exact = median(found[0].iter().map(|found| found.per_second).collect());
        for (kind, found) in kinds.into_iter().zip(&found) {
            let of = |what: fn(&Found) -> f64| median(found.iter().map(what).collect());
            let (per_second, trips) = (of(|found| found.per_second), of(|found| found.trips_per_1000));
            let (admitted, ratio) = (of(|found| found.admitted) * 100.0, per_second / exact);
            println!(
                "| {processes} | {} | {per_second:.0} | {trips:.2} | {admitted:.0} % | {ratio:.2} |",
                kind.name()
            );
        }
    }
}
