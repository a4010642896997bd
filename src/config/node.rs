//! A file as a tree whose every value knows its line, whatever format it came in.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, ScanError, YamlData};
use saphyr_parser::{Event, Parser};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::mistake::Mistake;

/// How many lists and tables may be in each other: four are of use.
const MAX_DEPTH: usize = 16;

/// A value and the line that it begins on, from 1.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// What no setting is: a date, a fraction, nothing.
    Other(&'static str),
}

/// A named value in a table. Two of one table may have one name.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) node: Node,
}

impl Value {
    /// What it is, for messages.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Number(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(kind) => kind,
        }
    }
}

/// Where the lines of a text end, by the offset of a byte.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(offset, _)| offset).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|&end| end < offset) + 1
    }
}

/// Reads TOML. All that is wrong with its syntax is told at once.
pub(super) fn from_toml(text: &str) -> Result<Node, Vec<Mistake>> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(Node { line: 1, value: toml_table(table.get_ref(), &lines) });
    }
    let mistake = |error: toml::de::Error| {
        let line = error.span().map_or(1, |span| lines.at(span.start));
        Mistake::new(line, error.message().to_owned())
    };
    Err(errors.into_iter().map(mistake).collect())
}

fn toml_table(table: &DeTable<'_>, lines: &Lines) -> Value {
    let entry = |(name, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| Entry {
        name: name.get_ref().to_string(),
        line: lines.at(name.span().start),
        node: toml_node(value, lines),
    };
    Value::Table(table.iter().map(entry).collect())
}

fn toml_node(node: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = i64::from_str_radix(number.as_str(), number.radix());
            digits.map_or(Value::Other("a number beyond 64 bits"), Value::Number)
        }
        DeValue::Float(_) => Value::Other("a fraction"),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(list) => Value::List(list.iter().map(|node| toml_node(node, lines)).collect()),
        DeValue::Table(table) => toml_table(table, lines),
    };
    Node { line: lines.at(node.span().start), value }
}

/// Reads YAML, of which JSON is a part.
pub(super) fn from_yaml(text: &str) -> Result<Node, Vec<Mistake>> {
    let syntax = |error: ScanError| vec![Mistake::new(error.marker().line(), error.info().to_owned())];
    if let Some(line) = too_deep(text).map_err(syntax)? {
        let message =
            format!("more than {MAX_DEPTH} lists and tables in each other: no setting is that deep");
        return Err(vec![Mistake::new(line, message)]);
    }
    let documents = MarkedYaml::load_from_str(text).map_err(syntax)?;
    match &documents[..] {
        [] => Ok(Node { line: 1, value: Value::Table(Vec::new()) }),
        [document] => Ok(yaml_node(document)),
        [_, second, ..] => {
            let line = second.span.start.line();
            Err(vec![Mistake::new(line, "a second document: write all rules in one".to_owned())])
        }
    }
}

/// Where the lists and tables of a text are too many in each other, those behind aliases with them: a tree is built and taken down by
/// recursion, which has to end before the stack does.
fn too_deep(text: &str) -> Result<Option<usize>, ScanError> {
    // The anchors of the lists and tables that are open, and how deep each is so far.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut depths = HashMap::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event?;
        let closed = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                open.push((anchor, 1));
                0
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (anchor, depth) = open.pop().unwrap_or_default();
                depths.insert(anchor, depth);
                depth
            }
            Event::Alias(anchor) => depths.get(&anchor).copied().unwrap_or(0),
            _ => 0,
        };
        if open.len() + closed > MAX_DEPTH {
            return Ok(Some(span.start.line()));
        }
        if let Some((_, depth)) = open.last_mut() {
            *depth = (*depth).max(closed + 1);
        }
    }
    Ok(None)
}

fn yaml_node(node: &MarkedYaml<'_>) -> Node {
    let value = match &node.data {
        YamlData::Value(Scalar::String(text)) => Value::Text(text.to_string()),
        YamlData::Value(Scalar::Integer(number)) => Value::Number(*number),
        YamlData::Value(Scalar::Boolean(flag)) => Value::Flag(*flag),
        YamlData::Value(Scalar::FloatingPoint(_)) => Value::Other("a fraction, or beyond 64 bits"),
        YamlData::Value(Scalar::Null) => Value::Other("nothing"),
        YamlData::Sequence(list) => Value::List(list.iter().map(yaml_node).collect()),
        YamlData::Mapping(table) => Value::Table(table.iter().map(yaml_entry).collect()),
        YamlData::Tagged(_, node) => return yaml_node(node),
        YamlData::Representation(..) | YamlData::Alias(_) | YamlData::BadValue => {
            Value::Other("what cannot be read")
        }
    };
    Node { line: node.span.start.line(), value }
}

fn yaml_entry((name, value): (&MarkedYaml<'_>, &MarkedYaml<'_>)) -> Entry {
    let line = name.span.start.line();
    let name = match yaml_node(name).value {
        Value::Text(text) => text,
        other => other.kind().to_owned(),
    };
    Entry { name, line, node: yaml_node(value) }
}
