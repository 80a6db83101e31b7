//! Names that nobody else has, and what is done with them at their end.

use std::fmt::Display;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{process, thread};

/// Lower-case letters, digits and `_`, at most 32 of them.
pub(crate) fn name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Two runs on one server, perhaps in two containers, may have the same process id.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}_{:x}_{number}", process::id(), now.as_micros())
}

/// Removes something from a server while its handle is dropped, and waits for it. What cannot be
/// removed is told on standard error.
pub(crate) fn remove<E: Display + Send + 'static>(
    what: &str,
    removing: impl Future<Output = Result<(), E>> + Send + 'static,
) {
    // A thread, since a drop can neither wait in the test's runtime nor start one inside it.
    let removing = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime
            .block_on(removing)
            .map_err(|error| error.to_string())
    });
    match removing.join() {
        Ok(Ok(())) => {}
        Ok(Err(error)) => eprintln!("{what} is left: {error}"),
        Err(_) => eprintln!("{what} is left"),
    }
}
