//! Temporary folders.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// A new, empty folder, removed with everything in it on drop.
///
/// It lies in `TMPDIR` or `/tmp`. A test process that is killed leaves it behind; `scripts/test`
/// points `TMPDIR` to a folder of its own, and removes that.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl TempDir {
    /// Makes one.
    ///
    /// # Panics
    ///
    /// If the folder cannot be made.
    pub fn new() -> TempDir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let parent = std::env::temp_dir();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("tasklock-test-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return TempDir { path },
                // Left behind by a killed process that had the same id.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!(
                    "cannot make a temporary folder {}: {error}; set TMPDIR to a folder that can \
                     be written",
                    path.display()
                ),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Default for TempDir {
    fn default() -> Self {
        TempDir::new()
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_differ_and_are_removed_with_their_content() {
        let (one, two) = (TempDir::new(), TempDir::new());
        assert_ne!(one.path(), two.path());
        fs::write(one.path().join("file"), "content").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
        assert!(two.path().exists());
    }
}
