//! Running the command and looking at what it says.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// The command, with no setting from outside that changes what it does.
pub(crate) fn tollgate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RAYON_NUM_THREADS"] {
        command.env_remove(name);
    }
    command
}

/// The log that comes with the project.
pub(crate) fn example_log() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/access.log")
}

/// What the command writes with these arguments, which must succeed and say nothing else.
pub(crate) fn stdout_of(args: &[&str], stdin: &[u8]) -> String {
    let done = tollgate().args(args).write_stdin(stdin).assert().success().stderr("");
    String::from_utf8(done.get_output().stdout.clone()).expect("output is UTF-8")
}

/// What the command complains about with these arguments, which must end with code 2 and without output.
pub(crate) fn refusal_of(args: &[&str], stdin: &[u8]) -> String {
    let done = tollgate().args(args).write_stdin(stdin).assert().code(2).stdout("");
    String::from_utf8(done.get_output().stderr.clone()).expect("messages are UTF-8")
}

/// The JSON report on a log from standard input, with further arguments.
pub(crate) fn replay(args: &[&str], log: impl AsRef<[u8]>) -> Value {
    let all: Vec<&str> = ["replay", "--output", "json"].iter().chain(args).chain(&["-"]).copied().collect();
    serde_json::from_str(&stdout_of(&all, log.as_ref())).expect("the report is JSON")
}

/// Allowed and denied of the report's only result.
pub(crate) fn counts(report: &Value) -> (u64, u64) {
    let results = report["results"].as_array().expect("results are a list");
    assert_eq!(results.len(), 1, "{report}");
    let number = |name: &str| results[0][name].as_u64().expect("a count");
    (number("allowed"), number("denied"))
}

/// The keys under `top`, in its order.
pub(crate) fn top_keys(report: &Value) -> Vec<String> {
    let top = report["results"][0]["top"].as_array().expect("top is a list");
    top.iter().map(|entry| entry["key"].as_str().expect("a key is text").to_owned()).collect()
}
