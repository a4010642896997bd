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
        match value {
            Value::Array(parts) => Self::of_numbers(parts),
            Value::BulkString(bytes) => Self::unpack(&bytes),
            _ => None,
        }
    }

    fn of_numbers(parts: Vec<Value>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let choice = number(&parts.next()?)? as usize;
        let now_us = number(&parts.next()?)?;
        let states = parts.map(|state| match state {
            Value::Array(numbers) => numbers.iter().map(number).collect(),
            _ => None,
        });
        Some(Self { choice, now_us, states: states.collect::<Option<_>>()? })
    }

    /// Of one rule, as packed doubles.
    fn unpack(bytes: &[u8]) -> Option<Self> {
        let (doubles, []) = bytes.as_chunks() else { return None };
        let mut numbers = doubles.iter().map(|&double| whole(f64::from_le_bytes(double)));
        let (choice, now_us) = (numbers.next()?? as usize, numbers.next()??);
        Some(Self { choice, now_us, states: vec![numbers.collect::<Option<_>>()?] })
    }
}

fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
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
        let packed =
            |numbers: &[f64]| Value::BulkString(numbers.iter().flat_map(|it| it.to_le_bytes()).collect());
        let reply = Reply { choice: 1, now_us: 7, states: vec![vec![5, 1 << 52]] };
        assert_eq!(Reply::new(packed(&[1.0, 7.0, 5.0, 2_f64.powi(52)])), Ok(reply));
        for bad in [
            Value::Nil,
            Value::Okay,
            Value::Array(vec![]),
            Value::Array(vec![int(1)]),
            Value::Array(vec![int(1), int(7), int(3), Value::Nil]),
            Value::Array(vec![int(1), Value::Nil]),
            Value::Array(vec![int(1), int(7), int(3)]),
            Value::BulkString(vec![0; 15]),
            packed(&[]),
            packed(&[1.0]),
            packed(&[1.0, 7.0, 0.5]),
            packed(&[1.0, 7.0, f64::NAN]),
            packed(&[1.0, 7.0, f64::INFINITY]),
            packed(&[1.0, -7.0]),
        ] {
            assert!(matches!(Reply::new(bad), Err(Failure::Other(_))));
        }
    }
}
