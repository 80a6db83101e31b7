//! Worker processes whose wall clocks are wrong.
//!
//! The linker's own C compiler makes a library of `clock.c`, which stands before the system's in the process.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use tasklock_test_support::process::Worker;
use tasklock_tests::stage::worker;

use crate::log::PROGRAM;

/// A worker whose clock is ahead by `base` seconds, and by `step` more or less in turns of so many seconds.
pub(crate) fn worker_at(url: &str, tasks: &str, (base, step, period): (i64, i64, i64)) -> Worker {
    let clock = format!("{base} {step} {period}");
    let library = library().to_str().expect("a plain path");
    let more = [
        ("LD_PRELOAD", library),
        ("WORKER_CLOCK", &clock),
        ("TASKLOCK_POLL_INTERVAL", "50ms"),
    ];
    worker(PROGRAM, url, tasks, &more)
}

/// Made once.
pub(crate) fn library() -> &'static PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let library = folder.join(format!("clock-{}.so", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schedules/clock.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([library.as_os_str(), source.as_ref()])
            .arg("-ldl")
            .output()
            .expect("Rust links with `cc`, so it is there");
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        library
    })
}
