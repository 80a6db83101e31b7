//! Panics of handlers, turned into texts.
//!
//! A panic is caught where the handler is called, and that is all that Rust answers there: a value, no
//! place. The place is known to the panic hook alone. So a hook is installed, once for the process, that
//! notes the places of panics on a thread while it runs a handler, and then calls the hook that was there
//! before, which prints as it always did.
//!
//! Nothing here is needed for the catching itself: where the application installs a hook of its own later,
//! and does not call ours, the text is the message alone.
//!
//! What cannot be caught is a destructor that panics while the handler is unwinding already: Rust ends the
//! process then. Its leases expire, as after any crash. So it is with `panic = "abort"`.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use super::text::{MAX_TEXT, bounded};

/// The most panics that are noted of one call: all but the last were caught by the handler itself.
const MOST_NOTED: usize = 8;
/// The longest path of a source file that is kept, in bytes.
const MAX_PATH: usize = 512;

/// A panic as the hook sees it.
struct Noted {
    /// `None`: with a value that is no text.
    message: Option<String>,
    place: String,
}

thread_local! {
    /// The panics since a handler was called; `None` while none runs on this thread.
    static NOTED: Cell<Option<VecDeque<Noted>>> = const { Cell::new(None) };
}

/// Makes the places of panics known, from now on and for the whole process.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    // The hook of a thread that panics cannot be replaced.
    if std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            note(info);
            before(info);
        }));
    });
}

/// Must not panic, whatever it meets: that would end the process.
fn note(info: &PanicHookInfo<'_>) {
    let Some(place) = info.location() else { return };
    // A thread that is ending may have no locals any more.
    let _ = NOTED.try_with(|noted| {
        let Some(mut panics) = noted.take() else {
            return;
        };
        if panics.len() == MOST_NOTED {
            panics.pop_front();
        }
        let path = place.file();
        panics.push_back(Noted {
            message: info.payload_as_str().map(|text| bounded(text).to_owned()),
            place: format!(
                "{}:{}",
                &path[..path.floor_char_boundary(MAX_PATH)],
                place.line()
            ),
        });
        noted.set(Some(panics));
    });
}

/// Calls a part of a handler; a panic in it is answered as its message and place. Unwind safety is
/// asserted: whoever calls this never touches again what has panicked, and what that shares with others is
/// theirs to poison.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let outside = NOTED.replace(Some(VecDeque::new()));
    let answer = catch_unwind(AssertUnwindSafe(call));
    let noted = NOTED.replace(outside).unwrap_or_default();
    answer.map_err(|panic| described(panic, noted))
}

fn described(panic: Box<dyn Any + Send>, noted: VecDeque<Noted>) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .map(|text| bounded(text).to_owned());
    dispose_of(panic);
    // Not simply the last: a destructor may have panicked, and caught it, since this one began to unwind;
    // and a panic that was caught elsewhere and goes on here was never noted.
    let same = noted.into_iter().rfind(|panic| panic.message == message);
    let place = same.map(|panic| format!(" at {}", panic.place));
    let place = place.unwrap_or_default();
    let mut text = message.unwrap_or_else(|| "with a value that is no text".to_owned());
    text.truncate(text.floor_char_boundary(MAX_TEXT.saturating_sub(place.len())));
    text + &place
}

/// Drops what a panic carries, which runs code of the handler's: that may panic again, with a value that
/// does the same.
fn dispose_of(mut panic: Box<dyn Any + Send>) {
    for _ in 0..MOST_NOTED {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(next) => panic = next,
        }
    }
    std::mem::forget(panic);
}

#[cfg(test)]
mod tests {
    use std::panic::{panic_any, resume_unwind};

    use super::*;

    /// The line after this one, as the text of a panic on it ends.
    macro_rules! next_line {
        () => {
            format!(" at {}:{}", file!(), line!() + 1)
        };
    }

    fn caught_text(call: impl FnOnce()) -> String {
        install_hook();
        match caught(call) {
            Ok(()) => "nothing".into(),
            Err(text) => text,
        }
    }

    #[test]
    fn message_and_place_are_told() {
        let mut place = String::new();
        let text = caught_text(|| {
            place = next_line!();
            panic!("no {}", 1);
        });
        assert_eq!(text, format!("no 1{place}"));
        assert_eq!(caught(|| 7), Ok(7));
    }

    #[test]
    fn a_value_that_is_no_text_has_a_place() {
        let mut place = String::new();
        let text = caught_text(|| {
            place = next_line!();
            panic_any(7);
        });
        assert_eq!(text, format!("with a value that is no text{place}"));
    }

    #[test]
    fn the_place_is_of_the_panic_that_came_out() {
        let mut place = String::new();
        // An earlier one that the handler has caught itself.
        let text = caught_text(|| {
            let _ = catch_unwind(|| panic!("inner"));
            place = next_line!();
            panic!("outer");
        });
        assert_eq!(text, format!("outer{place}"));

        // A later one in a destructor, which is caught there.
        struct CatchesInDrop;
        impl Drop for CatchesInDrop {
            fn drop(&mut self) {
                let _ = catch_unwind(|| panic!("inner"));
            }
        }
        let text = caught_text(|| {
            let _held = CatchesInDrop;
            place = next_line!();
            panic!("outer");
        });
        assert_eq!(text, format!("outer{place}"));

        // One from elsewhere, which no hook has seen here.
        let text = caught_text(|| {
            let _ = catch_unwind(|| panic!("inner"));
            resume_unwind(Box::new("from another thread"));
        });
        assert_eq!(text, "from another thread");
    }

    #[test]
    fn calls_within_calls_keep_their_places_apart() {
        let mut place = String::new();
        let text = caught_text(|| {
            let inner = caught_text(|| panic!("same"));
            assert!(inner.starts_with("same at "), "{inner}");
            place = next_line!();
            panic!("same");
        });
        assert_eq!(text, format!("same{place}"));
    }

    #[test]
    fn nothing_is_noted_outside_of_handlers() {
        install_hook();
        let _ = catch_unwind(|| panic!("the application's own"));
        assert!(NOTED.take().is_none());
    }

    #[test]
    fn many_panics_that_a_handler_catches_are_not_gathered() {
        let mut noted = 0;
        let text = caught_text(|| {
            for _ in 0..3 * MOST_NOTED {
                let _ = catch_unwind(|| panic!("inner"));
            }
            let panics = NOTED.take().unwrap_or_default();
            noted = panics.len();
        });
        assert_eq!((noted, &*text), (MOST_NOTED, "nothing"));
    }

    #[test]
    fn what_a_panic_carries_may_panic_when_dropped() {
        struct Again(u32);
        impl Drop for Again {
            fn drop(&mut self) {
                panic_any(Again(self.0 + 1));
            }
        }
        let text = caught_text(|| panic_any(Again(0)));
        assert!(
            text.starts_with("with a value that is no text at "),
            "{text}"
        );
    }

    #[test]
    fn long_messages_are_cut_and_keep_their_place() {
        let text = caught_text(|| panic!("{}", "ä".repeat(5_000)));
        assert!(
            text.len() <= MAX_TEXT && text.len() > MAX_TEXT - 3,
            "{}",
            text.len()
        );
        assert!(text.contains(file!()), "{text}");
    }
}
