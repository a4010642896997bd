//! Takes the settings out of a table, and notes all that is wrong on the way.

use crate::config::mistake::Mistake;
use crate::config::node::{Entry, Node, Value};

/// The entries of one table that were not taken yet.
pub(super) struct Fields<'m> {
    entries: Vec<Entry>,
    /// Where the table begins.
    line: usize,
    known: Vec<&'static str>,
    /// Those that were there, right or wrong.
    given: Vec<&'static str>,
    /// What is no table has been told, and lacks nothing besides.
    is_table: bool,
    mistakes: &'m mut Vec<Mistake>,
}

impl<'m> Fields<'m> {
    /// The fields of a table; `what` says what it is, in case it is none.
    pub(super) fn of(node: Node, what: &str, mistakes: &'m mut Vec<Mistake>) -> Self {
        let line = node.line;
        let (entries, is_table) = match node.value {
            Value::Table(entries) => (entries, true),
            other => {
                mistakes.push(Mistake::new(line, format!("{what} is {}: write a table", other.kind())));
                (Vec::new(), false)
            }
        };
        Self { entries, line, known: Vec::new(), given: Vec::new(), is_table, mistakes }
    }

    /// Whether the name was taken and was there.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Notes at the table's beginning what it lacks, unless something wrong stands in its place and was told.
    pub(super) fn missing(&mut self, name: &str, message: &str) {
        if self.is_table && !self.is_given(name) {
            self.wrong(self.line, message);
        }
    }

    pub(super) fn wrong(&mut self, line: usize, message: impl Into<String>) {
        self.mistakes.push(Mistake::new(line, message.into()));
    }

    /// The value of a name, and its line.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Node> {
        self.known.push(name);
        let index = self.entries.iter().position(|entry| entry.name == name)?;
        self.given.push(name);
        let taken = self.entries.remove(index).node;
        while let Some(index) = self.entries.iter().position(|entry| entry.name == name) {
            let twice = self.entries.remove(index);
            self.wrong(twice.line, format!("`{name}` twice: leave one"));
        }
        Some(taken)
    }

    fn typed<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        convert: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Option<(usize, T)> {
        let node = self.take(name)?;
        match convert(node.value) {
            Ok(value) => Some((node.line, value)),
            Err(other) => {
                self.wrong(node.line, format!("`{name}` is {}: write {wanted}", other.kind()));
                None
            }
        }
    }

    pub(super) fn text(&mut self, name: &'static str) -> Option<(usize, String)> {
        self.typed(name, "a text", |value| match value {
            Value::Text(text) => Ok(text),
            other => Err(other),
        })
    }

    /// False when nothing is said.
    pub(super) fn flag(&mut self, name: &'static str) -> bool {
        let flag = self.typed(name, "true or false", |value| match value {
            Value::Flag(flag) => Ok(flag),
            other => Err(other),
        });
        flag.is_some_and(|(_, flag)| flag)
    }

    /// A number of at least 1.
    pub(super) fn count(&mut self, name: &'static str) -> Option<u64> {
        let number = self.typed(name, "a whole number from 1", |value| match value {
            Value::Number(number) => Ok(number),
            other => Err(other),
        });
        let (line, number) = number?;
        let count = u64::try_from(number).ok().filter(|&count| count > 0);
        if count.is_none() {
            self.wrong(line, format!("`{name}` is {number}: write a whole number from 1"));
        }
        count
    }

    /// One text or a list of them, each with its line; empty when nothing is said.
    pub(super) fn texts(&mut self, name: &'static str) -> Vec<(usize, String)> {
        let Some(node) = self.take(name) else { return Vec::new() };
        let items = match node.value {
            Value::List(items) => items,
            value => vec![Node { line: node.line, value }],
        };
        if items.is_empty() {
            self.wrong(node.line, format!("`{name}` is an empty list: write a text, or leave it out"));
        }
        let mut texts = Vec::new();
        for item in items {
            match item.value {
                Value::Text(text) => texts.push((item.line, text)),
                other => {
                    self.wrong(item.line, format!("`{name}` has {} in it: write texts", other.kind()));
                }
            }
        }
        texts
    }

    /// What was not taken is nobody's.
    pub(super) fn end(mut self) {
        for entry in std::mem::take(&mut self.entries) {
            let message =
                format!("`{}` is not a setting: write one of {}", entry.name, self.known.join(", "));
            self.wrong(entry.line, message);
        }
    }
}
