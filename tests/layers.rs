//! The layers of DESIGN.md, section 4: reads `src/`, and fails on an import that does not go strictly downward.
//!
//! Imports are found as text: paths that begin with `crate::`, outside of comments and of a file's unit tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules and their levels. Those of one name in the second column may use each other; all others of a level may not.
const LEVELS: [(u8, &str, &[&str]); 16] = [
    (0, "sync", &["sync"]),
    // Plain values, which speak of each other: an error names the quota it refuses.
    (0, "values", &["quota", "time", "decision", "error"]),
    (1, "algorithm", &["algorithm"]),
    (1, "cell", &["cell"]),
    (1, "clock", &["clock"]),
    (1, "log", &["log"]),
    (2, "store", &["store"]),
    (3, "limiter", &["limiter"]),
    (3, "key", &["key"]),
    (4, "limits", &["limits"]),
    (5, "config", &["config"]),
    (5, "metrics", &["metrics"]),
    (5, "redis", &["redis"]),
    (5, "http", &["http"]),
    (5, "ffi", &["ffi"]),
    (6, "bin", &["bin"]),
];

/// Names of lower levels that a module has nothing to do with: atomics are for cells and stores, and below the face time
/// is an argument.
const NEVER: [(&str, &[&str]); 4] =
    [("algorithm", &["sync"]), ("limiter", &["sync"]), ("limits", &["sync"]), ("store", &["clock"])];

/// The files with unsafe code. `log/model.rs` and `log/witness.rs` have it for loom only.
const FENCED: [&str; 4] = ["log/current.rs", "log/model.rs", "log/witness.rs", "store/table/memory.rs"];

/// What stands above the declaration of a module that opens the insides of others for `loom-tests`.
const FOR_LOOM: &str = "#[cfg(all(loom, feature = \"loom\"))]";

/// What of `algorithm` a store may know: how many bits a word has.
const WORD: [&str; 2] = ["MAX_WORD", "WORD_BITS"];

fn level(module: &str) -> Option<(u8, &'static str)> {
    LEVELS.iter().find(|(.., modules)| modules.contains(&module)).map(|&(level, group, _)| (level, group))
}

/// A file without its comments and its unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `word` stands in the code, not as a part of another word.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let ends = (code[..at].chars().next_back(), code[at + word.len()..].chars().next());
        !ends.0.is_some_and(is_word) && !ends.1.is_some_and(is_word)
    })
}

/// The paths behind each `crate::`, with the first level of braces taken apart: `(module, the rest)`.
fn imports(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, start) in code.match_indices("crate::") {
        // Not `mycrate::`, but `$crate::` of a macro.
        if code[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let rest = &code[at + start.len()..];
        let end = rest.find(';').unwrap_or(rest.len());
        let paths = match rest.strip_prefix('{') {
            Some(inner) => top_level_parts(inner),
            None => vec![&rest[..end]],
        };
        for path in paths {
            let path = path.trim();
            let name: String = path.chars().take_while(|&c| is_word(c)).collect();
            let tail = path[name.len()..].strip_prefix("::").unwrap_or("");
            found.push((name, tail.to_owned()));
        }
    }
    found
}

/// The parts of `a, b::{c, d}}…` up to the brace that closes it.
fn top_level_parts(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&inner[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// What is wrong with a file, by its path below `src/` and its text.
fn violations(path: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let code = code(text);
    let module = path.split(['/', '.']).next().unwrap();
    let is_model = path.rsplit('/').next() == Some("model.rs");
    let mut say = |what: String| wrong.push(format!("src/{path}: {what}"));

    if has_word(&code, "unsafe") && !FENCED.contains(&path) {
        say("unsafe".to_owned());
    }
    if code.contains("allow(unsafe_code)") != FENCED.contains(&path) {
        say("allows unsafe code, or is to be taken from the list of those that do".to_owned());
    }
    if module != "sync" && (code.contains("sync::atomic") || code.contains("loom::")) {
        say("names atomics, which only sync does".to_owned());
    }
    if module == "bin" && (code.contains("#[path") || code.contains("include!")) {
        say("the command line uses the public API only".to_owned());
    }
    let lines: Vec<_> = code.lines().collect();
    if let Some(at) = lines.iter().position(|line| line.ends_with("mod model;"))
        && !lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).any(|&line| line == FOR_LOOM)
    {
        say(format!("a model is for loom only: {FOR_LOOM}"));
    }
    // A model has the insides of others open, and is compiled for no user.
    if is_model {
        return wrong;
    }
    // The root declares and re-exports everything; the command line's `crate` is its own.
    if module == "lib" || module == "bin" {
        return wrong;
    }
    let Some((own_level, own_group)) = level(module) else {
        say("a module without a level: add it to the map".to_owned());
        return wrong;
    };
    for (name, tail) in imports(&code) {
        let Some((level, group)) = level(&name) else {
            say(format!("crate::{name} is no module with a level"));
            continue;
        };
        if level > own_level || (level == own_level && group != own_group) {
            say(format!("imports {name}, which is not below {module}"));
        }
        let never = NEVER.iter().filter(|(of, _)| *of == module);
        if never.into_iter().any(|(_, names)| names.contains(&name.as_str())) {
            say(format!("{module} has nothing to do with {name}"));
        }
        if module == "store" && name == "algorithm" {
            let names = tail.trim_matches(['{', '}']).split(',').map(str::trim);
            for other in names.filter(|name| !WORD.iter().any(|word| name.starts_with(word))) {
                say(format!("store knows no algorithm, and imports {other}"));
            }
        }
    }
    wrong
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn imports_go_strictly_downward() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&src, &mut found);
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for file in &found {
        let path = file.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
        seen.insert(path.split(['/', '.']).next().unwrap().to_owned());
        wrong.extend(violations(&path, &fs::read_to_string(file).unwrap()));
    }
    for module in ["sync", "algorithm", "cell", "clock", "store", "limiter"] {
        assert!(seen.contains(module), "{module} was not found, so nothing was checked");
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The checker sees what it is there for.
#[test]
fn planted_lines_are_found() {
    let planted = [
        ("algorithm/gcra.rs", "use crate::store::Table;"),
        ("algorithm/gcra.rs", "use crate::clock::Clock;"),
        ("algorithm/gcra.rs", "use crate::cell::Cell;"),
        ("algorithm/gcra.rs", "use crate::sync::AtomicU64;"),
        ("algorithm/gcra.rs", "fn f() { crate::limiter::Limiter::new(); }"),
        ("algorithm/gcra.rs", "use std::sync::atomic::AtomicU64;"),
        ("algorithm/gcra.rs", "use crate::{\n    error::BuildError,\n    key::IpPrefix,\n};"),
        ("algorithm/gcra.rs", "macro_rules! m { () => { $crate::store::Table } }"),
        ("cell.rs", "use crate::algorithm::MAX_WORD;"),
        ("cell.rs", "use crate::clock::Clock;"),
        ("clock/mod.rs", "use loom::sync::atomic::AtomicU64;"),
        ("quota/mod.rs", "use crate::sync::AtomicU64;"),
        ("time/mod.rs", "use crate::algorithm::Step;"),
        ("store/map.rs", "use crate::algorithm::Algorithm;"),
        ("store/map.rs", "use crate::algorithm::{MAX_WORD, Meter};"),
        ("store/map.rs", "use crate::clock::Clock;"),
        ("store/table/mod.rs", "use crate::limiter::Limiter;"),
        ("limiter/core.rs", "use crate::sync::Ordering;"),
        ("limiter/core.rs", "use core::sync::atomic::Ordering;"),
        ("limiter/core.rs", "use crate::key::IpPrefix;"),
        ("key/mod.rs", "use crate::limiter::Limiter;"),
        ("redis/mod.rs", "use crate::http::Headers;"),
        ("limiter/core.rs", "pub unsafe fn f() {}"),
        ("limiter/core.rs", "#![allow(unsafe_code)]"),
        ("log/current.rs", "fn f() {}"),
        ("log/mod.rs", "use crate::cell::Cell;"),
        ("elsewhere.rs", "pub fn f() {}"),
        ("lib.rs", "#[doc(hidden)]\npub mod model;"),
        ("store/table/mod.rs", "#[cfg(test)]\nmod model;"),
        ("store/table/model.rs", "unsafe impl Send for T {}"),
        ("bin/tollgate/main.rs", "#[path = \"../../cell.rs\"]\nmod cell;"),
    ];
    for (path, line) in planted {
        let text = format!("//! A file.\n\nuse core::time::Duration;\n\n{line}\n");
        assert_ne!(violations(path, &text), Vec::<String>::new(), "{path}: {line}");
    }
}

/// And nothing else.
#[test]
fn good_lines_pass() {
    let good = [
        (
            "algorithm/gcra.rs",
            "use crate::algorithm::arrival::Arrival;\nuse crate::{error::BuildError, time::Now};",
        ),
        ("algorithm/gcra.rs", "// crate::store would be forbidden, and unsafe too\nuse crate::quota::Rate;"),
        ("error.rs", "use crate::quota::{MAX_PERIOD, Quota};"),
        ("cell.rs", "use crate::sync::{AtomicU64, Ordering};"),
        ("store/map.rs", "use crate::algorithm::MAX_WORD;\nuse crate::cell::{Cell, HighMark};"),
        ("store/map.rs", "use crate::algorithm::{MAX_WORD, WORD_BITS};"),
        ("store/table/slot.rs", "#[cfg(not(all(loom, feature = \"loom\")))]\nuse crate::sync::fence;"),
        ("limiter/core.rs", "use crate::store::{Lookup, Store};\nuse crate::cell::HighMark;"),
        ("clock/std.rs", "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::limiter::Limiter;\n}\n"),
        ("bin/tollgate/main.rs", "use crate::replay::Replay;\nuse tollgate::Limiter;"),
        ("lib.rs", "#![deny(unsafe_code)]\npub use crate::limiter::Limiter;"),
        ("lib.rs", "#[doc(hidden)]\n#[cfg(all(loom, feature = \"loom\"))]\npub mod model;"),
        ("store/table/model.rs", "use crate::model::Stop;"),
        ("log/current.rs", "#![allow(unsafe_code)]\nunsafe fn f() {}"),
        ("sync.rs", "pub(crate) use core::sync::atomic::AtomicU64;\nuse loom::sync::atomic;"),
    ];
    for (path, text) in good {
        assert_eq!(violations(path, text), Vec::<String>::new(), "{path}");
    }
}
