//! The Lua text, put together of the parts that a call needs.

use redis::Cmd;

use crate::redis::rule::Part;

const PRELUDE: &str = include_str!("script/prelude.lua");
const DRIVER: &str = include_str!("script/driver.lua");

impl Part {
    const fn text(self) -> &'static str {
        match self {
            Self::Arrival => include_str!("script/arrival.lua"),
            Self::FixedWindow => include_str!("script/fixed_window.lua"),
            Self::SlidingWindowCounter => include_str!("script/sliding_window_counter.lua"),
            Self::SlidingWindowLog => include_str!("script/sliding_window_log.lua"),
        }
    }
}

/// Room for the arguments of one rule and a key.
const ARGUMENTS: usize = 16;
const ARGUMENTS_LEN: usize = 160;

/// A script and its hash.
#[derive(Debug)]
pub(super) struct Script {
    text: String,
    hash: String,
}

impl Script {
    /// For rules of these parts.
    pub(super) fn of(parts: impl IntoIterator<Item = Part>) -> Self {
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort_unstable();
        parts.dedup();
        let texts = parts.iter().map(|part| part.text());
        let text: String = [PRELUDE].into_iter().chain(texts).chain([DRIVER]).collect();
        Self::new(text)
    }

    /// One arrival time and one cost: what the parts would do, in half the time.
    pub(super) fn of_one_arrival() -> Self {
        Self::new(include_str!("script/one_arrival.lua").to_owned())
    }

    fn new(text: String) -> Self {
        Self { hash: redis::Script::new(&text).get_hash().to_owned(), text }
    }

    /// With keys and arguments by `call`.
    pub(super) fn by_hash(&self, call: impl Fn(&mut Cmd)) -> Cmd {
        command("EVALSHA", &self.hash, call)
    }

    pub(super) fn in_full(&self, call: impl Fn(&mut Cmd)) -> Cmd {
        command("EVAL", &self.text, call)
    }
}

fn command(name: &str, script: &str, call: impl Fn(&mut Cmd)) -> Cmd {
    let mut command = Cmd::with_capacity(ARGUMENTS, script.len() + ARGUMENTS_LEN);
    command.arg(name).arg(script);
    call(&mut command);
    command
}

/// Keys and arguments of the driver.
pub(super) fn to_driver(keys: &[Vec<u8>], arguments: &[String]) -> impl Fn(&mut Cmd) {
    move |command| {
        command.arg(keys.len()).arg(keys).arg(arguments);
    }
}
