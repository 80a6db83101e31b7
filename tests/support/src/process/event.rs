//! What a worker said.

use std::time::Duration;

use serde_json::Value;

/// One line of a worker's standard output.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The line as it was written, without its end.
    pub line: String,
    /// The line as JSON; null if it is none.
    pub json: Value,
}

impl Event {
    pub(crate) fn new(line: String) -> Event {
        let json = serde_json::from_str(&line).unwrap_or(Value::Null);
        Event { line, json }
    }

    /// The name that the worker gave it: its field `event`; empty if it has none.
    pub fn name(&self) -> &str {
        self.str("event").unwrap_or_default()
    }

    /// Whether this is its name.
    pub fn is(&self, name: &str) -> bool {
        self.name() == name
    }

    /// A field.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.json.get(field)
    }

    /// A field that is a text.
    pub fn str(&self, field: &str) -> Option<&str> {
        self.get(field)?.as_str()
    }

    /// A field that is a whole number, not negative.
    pub fn u64(&self, field: &str) -> Option<u64> {
        self.get(field)?.as_u64()
    }

    /// When the worker wrote it, by [`boottime`](super::boottime).
    pub fn boottime(&self) -> Option<Duration> {
        self.u64("boottime_ns").map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_their_kind() {
        let event = Event::new(r#"{"event":"lost","fence":7,"boottime_ns":1000}"#.to_owned());
        assert!(event.is("lost") && !event.is("los"));
        assert_eq!(event.u64("fence"), Some(7));
        assert_eq!(event.str("fence"), None);
        assert_eq!(event.boottime(), Some(Duration::from_micros(1)));
    }

    #[test]
    fn any_line_is_an_event() {
        let event = Event::new("hello".to_owned());
        assert_eq!((event.name(), &event.json), ("", &Value::Null));
    }
}
