//! What an application sees of its runs: events, what it puts around them, spans.

mod around;
mod events;
mod spans;
