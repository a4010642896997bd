//! The Lua text, put together of the parts that a call needs.

use redis::{Cmd, cmd};

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
        Self { hash: redis::Script::new(&text).get_hash().to_owned(), text }
    }

    pub(super) fn by_hash(&self, keys: &[Vec<u8>], arguments: &[String]) -> Cmd {
        command("EVALSHA", &self.hash, keys, arguments)
    }

    pub(super) fn in_full(&self, keys: &[Vec<u8>], arguments: &[String]) -> Cmd {
        command("EVAL", &self.text, keys, arguments)
    }
}

fn command(name: &str, script: &str, keys: &[Vec<u8>], arguments: &[String]) -> Cmd {
    let mut command = cmd(name);
    command.arg(script).arg(keys.len()).arg(keys).arg(arguments);
    command
}
