//! `tollgate synth`: a made-up access log.
//!
//! Everything is drawn in integers from a generator whose output is the same everywhere, so that the same arguments
//! give the same bytes on every machine; logarithms and powers would differ in their last bits.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jiff::Timestamp;
use rand::distr::weighted::WeightedIndex;
use rand::distr::{Distribution, Uniform};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tollgate::MAX_NOW_NS;

use crate::args::SynthArgs;
use crate::failure::Failure;

const SECOND_NS: u64 = 1_000_000_000;
/// During the burst requests come so many times as fast.
const BURST_FACTOR: u64 = 10;
/// In its time, one request in so many is the abusive client's.
const ABUSE_ONE_IN: u32 = 4;

const PATHS: [&str; 16] = [
    "/",
    "/index.html",
    "/style.css",
    "/app.js",
    "/logo.png",
    "/api/items",
    "/api/items?page=2",
    "/api/search?q=limit",
    "/about",
    "/feed.xml",
    "/api/items/17",
    "/robots.txt",
    "/docs/start",
    "/docs/faq",
    "/favicon.ico",
    "/admin",
];
const USERS: [&str; 4] = ["alice", "bob", "carol", "dave"];
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64)",
    "curl/8.5.0",
    "ExampleBot/1.0 (+https://example.com/bot)",
];

/// Runs the command.
pub(crate) fn command(args: &SynthArgs) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut traffic = Traffic::new(args);
    for line in 0..args.lines {
        let request = traffic.next(line)?;
        writeln!(out, "{request}")?;
    }
    out.flush()?;
    Ok(())
}

/// The state of the made-up world.
struct Traffic {
    rng: Pcg64,
    time: Timestamp,
    gap_ns: Uniform<u64>,
    burst_gap_ns: Uniform<u64>,
    burst: std::ops::Range<u64>,
    abuse: std::ops::Range<u64>,
    clients: WeightedIndex<u64>,
    paths: WeightedIndex<u64>,
}

/// One line of the log.
struct Request {
    ip: IpAddr,
    user: &'static str,
    time: Timestamp,
    method: &'static str,
    path: &'static str,
    status: u16,
    bytes: u64,
    agent: &'static str,
}

impl Traffic {
    fn new(args: &SynthArgs) -> Self {
        let mean_ns = SECOND_NS / u64::from(args.rate);
        let gap_ns =
            |mean_ns: u64| Uniform::new_inclusive(0, 2 * mean_ns).expect("zero is not above the mean");
        Self {
            rng: Pcg64::seed_from_u64(args.seed),
            time: args.start,
            gap_ns: gap_ns(mean_ns),
            burst_gap_ns: gap_ns(mean_ns / BURST_FACTOR),
            burst: args.lines / 4..args.lines / 4 + args.lines / 8,
            abuse: args.lines / 2..args.lines / 2 + args.lines / 4,
            clients: zipf(u64::from(args.clients)),
            paths: zipf(PATHS.len() as u64),
        }
    }

    /// The request of this line.
    fn next(&mut self, line: u64) -> Result<Request, Failure> {
        if !(0..=i128::from(MAX_NOW_NS)).contains(&self.time.as_nanosecond()) {
            return Err(Failure::Input(format!(
                "no limiter takes requests at {}: --start between 1970 and 2043",
                self.time
            )));
        }
        let abusive = self.abuse.contains(&line) && self.rng.random_ratio(1, ABUSE_ONE_IN);
        let request = if abusive { self.abusive() } else { self.ordinary() };
        let gap_ns = if self.burst.contains(&line) { &self.burst_gap_ns } else { &self.gap_ns };
        let gap = jiff::SignedDuration::from_nanos(gap_ns.sample(&mut self.rng) as i64);
        self.time += gap;
        Ok(request)
    }

    fn ordinary(&mut self) -> Request {
        let client = self.clients.sample(&mut self.rng) as u32;
        let path = PATHS[self.paths.sample(&mut self.rng)];
        let post = path.starts_with("/api/items") && self.rng.random_ratio(1, 8);
        let (status, bytes) = match self.rng.random_range(0..20_u32) {
            0 => (304, 0),
            1 => (404, 153),
            _ => (200, 200 + u64::from(self.rng.random_range(0..400_u32)).pow(2)),
        };
        Request {
            ip: address(client, &mut self.rng),
            // Who logs in does so always.
            user: if client % 5 == 2 { USERS[client as usize / 5 % USERS.len()] } else { "-" },
            time: self.time,
            method: if post { "POST" } else { "GET" },
            path,
            status,
            bytes,
            agent: AGENTS[client as usize % AGENTS.len()],
        }
    }

    /// Somebody who tries passwords, from an address that no other client has.
    fn abusive(&mut self) -> Request {
        Request {
            ip: IpAddr::V4(Ipv4Addr::new(10, 66, 66, 66)),
            user: "-",
            time: self.time,
            method: "POST",
            path: "/login",
            status: 401,
            bytes: 64,
            agent: AGENTS[2],
        }
    }
}

/// Zipf's law: the k-th of `n` is chosen in proportion to 1/k.
fn zipf(n: u64) -> WeightedIndex<u64> {
    WeightedIndex::new((1..=n).map(|k| (1 << 32) / k)).expect("no weight is zero, and their sum fits")
}

/// The address of a client: in a private network, or every fourth in a documentation network of IPv6, where a client
/// has a /64 to itself and uses several addresses of it.
fn address(client: u32, rng: &mut Pcg64) -> IpAddr {
    // From 1, as no host has the address 10.0.0.0.
    let [_, high, middle, low] = (client + 1).to_be_bytes();
    if client % 4 == 3 {
        let host = rng.random_range(1..=3_u16);
        return IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, u16::from(high), client as u16, 0, 0, 0, host));
    }
    IpAddr::V4(Ipv4Addr::new(10, high, middle, low))
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} - {} [{}] \"{} {} HTTP/1.1\" {} {} \"-\" \"{}\"",
            self.ip,
            self.user,
            self.time.strftime("%d/%b/%Y:%H:%M:%S +0000"),
            self.method,
            self.path,
            self.status,
            self.bytes,
            self.agent
        )
    }
}
