//! The worker's side: its JSON lines.

use std::io::Write;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// The time since the machine was booted, suspend included: one clock for all processes.
pub fn boottime() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::try_from(now).expect("it is not negative")
}

/// Writes one event as a JSON line on standard output, at once: `{"event": name, "boottime_ns":
/// …}` and the `fields`, which are a JSON object.
///
/// If nobody listens any more, nothing happens.
///
/// # Panics
///
/// If `fields` is not an object.
///
/// ```
/// use serde_json::json;
/// tasklock_test_support::process::emit("start", json!({"task": "sync", "fence": 3}));
/// ```
pub fn emit(name: &str, fields: Value) {
    let Value::Object(mut line) = fields else {
        panic!("the fields of the event {name:?} are not a JSON object: {fields}");
    };
    line.insert("event".to_owned(), json!(name));
    let nanos = u64::try_from(boottime().as_nanos()).expect("it fits for 584 years");
    line.insert("boottime_ns".to_owned(), json!(nanos));
    // One write for the whole line, so that threads do not mix theirs.
    let line = format!("{}\n", Value::Object(line));
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boottime_goes_forward() {
        let before = boottime();
        assert!(before > Duration::ZERO);
        assert!(boottime() >= before);
    }

    #[test]
    #[should_panic(expected = "\"start\" are not a JSON object: 3")]
    fn fields_are_an_object() {
        emit("start", json!(3));
    }
}
