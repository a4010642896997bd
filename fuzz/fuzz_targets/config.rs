//! Any text is rules that a request can be checked by, or mistakes that are in it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate::config::{Config, ConfigError, LiveLimits, Request};

struct Call;

impl Request for Call {
    fn path(&self) -> &str {
        "/login"
    }

    fn method(&self) -> &str {
        "POST"
    }
}

fn check(text: &str, read: Result<Config, ConfigError>) {
    match read {
        Ok(config) => {
            assert_eq!(config, config.clone());
            // A capacity may be more than there is memory for.
            if !text.contains("capacity")
                && let Ok(live) = LiveLimits::<Call>::new(config.clone())
            {
                let _ = live.load().check(&Call);
                let changes = live.replace(config).expect("the same rules once more");
                assert!(changes.started.is_empty() && changes.removed.is_empty() && changes.requoted.is_empty());
            }
        }
        Err(error) => {
            assert!(!error.mistakes().is_empty());
            // Either ends a line.
            let lines = text.split(['\n', '\r']).count();
            for mistake in error.mistakes() {
                assert!((1..=lines + 1).contains(&mistake.line), "line {} of {lines}", mistake.line);
                assert!(!mistake.message.is_empty());
            }
        }
    }
}

fuzz_target!(|text: &str| {
    check(text, Config::from_toml(text));
    check(text, Config::from_yaml(text));
});
