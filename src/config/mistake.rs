//! What is wrong with a file.

use std::fmt;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl Mistake {
    pub(super) fn new(line: usize, message: String) -> Self {
        // A parser may have no line for the end of a text.
        Self { line: line.max(1), message: on_one_line(&message) }
    }
}

/// The message with what cannot be seen escaped, as it may quote from the file: it goes to terminals and logs.
fn on_one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for letter in message.chars() {
        if letter.is_control() { line.extend(letter.escape_default()) } else { line.push(letter) }
    }
    line
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Everything that is wrong with a file, by line. Nothing of it is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    mistakes: Vec<Mistake>,
}

impl ConfigError {
    pub(super) fn new(mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort();
        // What stands behind several aliases is wrong once.
        mistakes.dedup();
        Self { mistakes }
    }

    /// What is wrong, by line; at least one thing.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

/// A line each.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
