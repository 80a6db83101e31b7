//! SQLite database files.

use std::path::{Path, PathBuf};

use crate::temp::TempDir;

/// A place for one database file; nothing is created in it yet. The whole folder, with what SQLite
/// puts beside the file, is removed on drop.
#[derive(Debug)]
pub struct File {
    folder: TempDir,
    path: PathBuf,
}

/// A place for one new database file.
///
/// # Panics
///
/// If the temporary folder cannot be made.
pub fn file() -> File {
    let folder = TempDir::new();
    let path = folder.path().join("tasklock.db");
    File { folder, path }
}

impl File {
    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder in which nothing but this database lies: to make it read-only, or full.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `sqlite:///…/tasklock.db`
    pub fn url(&self) -> String {
        format!("sqlite://{}", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_file_lies_in_a_folder_of_its_own_that_goes_with_it() {
        let file = super::file();
        assert_eq!(file.url(), format!("sqlite://{}", file.path().display()));
        assert!(file.folder().is_dir() && !file.path().exists());
        std::fs::write(file.path(), "").unwrap();
        let folder = file.folder().to_owned();
        drop(file);
        assert!(!folder.exists());
    }
}
