//! A Redis or Valkey server of a test's own.

use std::fs::OpenOptions;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::Value;
use tempfile::TempDir;
use tollgate::redis::{Redis, RedisBuilder};

/// Who does not listen by then will not.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// Where the offset of a server's clock is.
const CLOCK_OFFSET: &str = "clock";

pub(crate) struct Server {
    process: Child,
    port: u16,
    options: Vec<String>,
    folder: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// With options of the command line.
    pub(crate) fn with(options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let options: Vec<_> = options.iter().map(|&option| option.to_owned()).collect();
        let port = free_port();
        let mut server = Self { process: spawn(port, &options, &folder), port, options, folder };
        server.wait_until_it_listens();
        server
    }

    /// With a clock that [`set_clock`](Self::set_clock) moves.
    pub(crate) fn with_movable_clock() -> Self {
        let folder = TempDir::new().unwrap();
        let library = folder.path().join("clock.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/redis/clock.c");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(
            compiled.expect("this test needs a C compiler: sudo apt-get install build-essential").success()
        );
        let port = free_port();
        let mut command = command(port, &[], &folder, None);
        let offset = folder.path().join(CLOCK_OFFSET);
        std::fs::write(&offset, 0_i64.to_ne_bytes()).unwrap();
        command.env("LD_PRELOAD", library).env("CLOCK_OFFSET", offset);
        let mut server = Self { process: command.spawn().unwrap(), port, options: Vec::new(), folder };
        server.wait_until_it_listens();
        server
    }

    /// Moves the server's clock to so many seconds before or after this machine's.
    pub(crate) fn set_clock(&self, offset_s: i64) {
        // In its place: the server has it mapped.
        let file = OpenOptions::new().write(true).open(self.folder.path().join(CLOCK_OFFSET)).unwrap();
        file.write_all_at(&offset_s.to_ne_bytes(), 0).unwrap();
    }

    /// A sentinel, by its configuration.
    pub(crate) fn sentinel(configuration: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("sentinel.conf");
        std::fs::write(&path, configuration).unwrap();
        let port = free_port();
        // A file comes before all options, and is written by the sentinel.
        let options = vec!["--sentinel".to_owned()];
        let mut process = command(port, &options, &folder, Some(&path));
        let mut server = Self { process: process.spawn().unwrap(), port, options, folder };
        server.wait_until_it_listens();
        server
    }

    fn wait_until_it_listens(&mut self) {
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(self.process.try_wait().unwrap().is_none(), "redis-server ended at its start");
            assert!(started.elapsed() < STARTS_WITHIN, "redis-server does not listen");
            std::thread::yield_now();
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// A handle with a deadline that a busy machine keeps.
    pub(crate) fn patient(&self) -> Redis {
        self.handle().deadline(Duration::from_secs(10)).build().unwrap()
    }

    pub(crate) fn handle(&self) -> RedisBuilder {
        Redis::single(&self.url())
    }

    /// Kills it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// A new process on the same port.
    pub(crate) fn restart(&mut self) {
        self.process = spawn(self.port, &self.options, &self.folder);
        self.wait_until_it_listens();
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.process.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// What the server replies to a command, or the error, in lines: for looking behind the limiter's back.
    pub(crate) fn ask(&self, words: &[&[u8]]) -> String {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_connection_with_timeout(STARTS_WITHIN).unwrap();
        connection.set_read_timeout(Some(STARTS_WITHIN)).unwrap();
        let mut command = redis::Cmd::new();
        command.arg(words);
        let mut told = Vec::new();
        match command.query::<Value>(&mut connection) {
            Ok(value) => lines(&value, &mut told),
            Err(error) => told.push(error.to_string()),
        }
        told.join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The lines of a reply: one for each value in it.
fn lines(value: &Value, told: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| lines(value, told)),
        Value::BulkString(bytes) => told.push(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => told.push(text.clone()),
        Value::Int(number) => told.push(number.to_string()),
        other => told.push(format!("{other:?}")),
    }
}

fn spawn(port: u16, options: &[String], folder: &TempDir) -> Child {
    command(port, options, folder, None).spawn().unwrap()
}

fn command(port: u16, options: &[String], folder: &TempDir, configuration: Option<&Path>) -> Command {
    let program = ["redis-server", "valkey-server"]
        .into_iter()
        .find(|program| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok());
    let program = program.expect("these tests need a server: sudo apt-get install redis-server");
    let mut command = Command::new(program);
    match configuration {
        Some(path) => command.arg(path),
        None => command.args(["--save", "", "--appendonly", "no"]),
    };
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]).args(options);
    command.current_dir(folder.path()).stdout(Stdio::null());
    command
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
