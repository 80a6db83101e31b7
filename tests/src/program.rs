//! Programs, started as on a machine where nothing is set for tasklock.

use std::path::Path;
use std::process::Command;

/// A command in this folder, without the variables that tasklock reads.
pub fn command(program: impl AsRef<Path>, folder: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(folder);
    for (variable, _) in std::env::vars_os() {
        let read = variable.to_str().is_some_and(|variable| {
            variable.starts_with("TASKLOCK_") || matches!(variable, "DATABASE_URL" | "RUST_LOG")
        });
        if read {
            command.env_remove(variable);
        }
    }
    command
}
