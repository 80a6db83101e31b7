//! What scripts answer.

use redis::{ErrorKind, RedisError, RedisResult, Value};

/// The answer is none that the script gives.
fn odd(what: &'static str) -> RedisError {
    RedisError::from((ErrorKind::UnexpectedReturnType, what))
}

pub(super) fn list(value: Value) -> RedisResult<Vec<Value>> {
    match value {
        Value::Array(values) => Ok(values),
        _ => Err(odd("no list where a script answers one")),
    }
}

/// Any text; bytes that are none are read as well as they can be.
pub(super) fn text(value: &Value) -> RedisResult<String> {
    match value {
        Value::BulkString(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Ok(text.clone()),
        Value::Int(number) => Ok(number.to_string()),
        _ => Err(odd("no text where a script answers one")),
    }
}

pub(super) fn number(value: &Value) -> RedisResult<i64> {
    maybe_number(value)?.ok_or_else(|| odd("no number where a script answers one"))
}

/// A number; nothing or an empty text is none.
pub(super) fn maybe_number(value: &Value) -> RedisResult<Option<i64>> {
    let text = match value {
        Value::Nil => return Ok(None),
        value => text(value)?,
    };
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = text.parse();
    parsed
        .map(Some)
        .map_err(|_| odd("a text where a script answers a number"))
}

pub(super) fn numbers(value: Value) -> RedisResult<Vec<i64>> {
    list(value)?.iter().map(number).collect()
}

pub(super) fn texts(value: Value) -> RedisResult<Vec<String>> {
    list(value)?.iter().map(text).collect()
}

/// So many values.
pub(super) fn several<const N: usize>(value: Value) -> RedisResult<[Value; N]> {
    let values = list(value)?;
    values
        .try_into()
        .map_err(|_| odd("a list of another length than a script answers"))
}
