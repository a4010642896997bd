//! What a script replies: which cost was charged, the time, and the state of each rule.

use redis::Value;

use crate::redis::failure::Failure;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// From 1; 0 if none.
    pub(super) choice: usize,
    pub(super) now_us: u64,
    pub(super) states: Vec<Vec<u64>>,
}

impl Reply {
    pub(super) fn new(value: Value) -> Result<Self, Failure> {
        Self::read(value).ok_or_else(|| Failure::Other("Redis replied what no script does".to_owned()))
    }

    /// It says of a rule what none of its kind says.
    pub(super) fn is_foreign(&self) -> Failure {
        Failure::Other(format!("Redis replied what no script does: {self:?}"))
    }

    fn read(value: Value) -> Option<Self> {
        let Value::Array(parts) = value else { return None };
        let mut parts = parts.into_iter();
        let choice = number(&parts.next()?)? as usize;
        let now_us = number(&parts.next()?)?;
        // One state may be told without a table of its own.
        if matches!(parts.as_slice(), [Value::Int(_), ..]) {
            let state = parts.map(|value| number(&value)).collect::<Option<_>>()?;
            return Some(Self { choice, now_us, states: vec![state] });
        }
        let states = parts.map(|state| match state {
            Value::Array(numbers) => numbers.iter().map(number).collect(),
            _ => None,
        });
        Some(Self { choice, now_us, states: states.collect::<Option<_>>()? })
    }
}

/// The start of a window may be negative: it wraps.
fn number(value: &Value) -> Option<u64> {
    match value {
        &Value::Int(number) => Some(number as u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_script_replies_is_an_error() {
        let int = Value::Int;
        let good = Value::Array(vec![int(1), int(7), Value::Array(vec![int(5), int(-2)])]);
        let reply = Reply { choice: 1, now_us: 7, states: vec![vec![5, u64::MAX - 1]] };
        assert_eq!(Reply::new(good), Ok(reply));
        for bad in [
            Value::Nil,
            Value::Okay,
            Value::Array(vec![]),
            Value::Array(vec![int(1)]),
            Value::Array(vec![int(1), int(7), int(3), Value::Nil]),
            Value::Array(vec![int(1), Value::Nil]),
        ] {
            assert!(matches!(Reply::new(bad), Err(Failure::Other(_))));
        }
    }
}
