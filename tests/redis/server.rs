//! A Redis or Valkey server of a test's own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tollgate::redis::{Redis, RedisBuilder};

/// Who does not listen by then will not.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

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
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let port = free_port();
        let mut server = Self { process: spawn(port, &options, &folder), port, options, folder };
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

    /// What the server replies to a command, as it is sent: for looking behind the limiter's back.
    pub(crate) fn ask(&self, words: &[&[u8]]) -> String {
        ask(self.port, words)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// A command by its words, over a connection of its own.
pub(crate) fn ask(port: u16, words: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut request = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        request.extend(format!("${}\r\n", word.len()).into_bytes());
        request.extend_from_slice(word);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"*1\r\n$4\r\nQUIT\r\n");
    stream.write_all(&request).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    String::from_utf8_lossy(&reply).trim_end_matches("+OK\r\n").to_owned()
}

fn spawn(port: u16, options: &Vec<String>, folder: &TempDir) -> Child {
    let program = ["redis-server", "valkey-server"]
        .into_iter()
        .find(|program| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok());
    let program = program.expect("these tests need a server: sudo apt-get install redis-server");
    Command::new(program)
        .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"])
        .args(options)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
