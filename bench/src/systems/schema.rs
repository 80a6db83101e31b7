//! The tables of those who ask their users to copy them: they are taken from their sources, which cargo has.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The statements in this folder of a dependency, those of one migration after those of the one before.
pub fn of(package: &str, folder: &str) -> Result<String> {
    let mut files = Vec::new();
    let mut folders = vec![source(package)?.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("{folder:?}"))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with("up.sql") {
                files.push(path);
            }
        }
    }
    // Their names begin with numbers that grow.
    files.sort();
    ensure!(!files.is_empty(), "{package} has no migrations in {folder}");
    let texts: Vec<String> = files
        .iter()
        .map(std::fs::read_to_string)
        .collect::<Result<_, _>>()?;
    Ok(texts.join("\n"))
}

fn source(package: &str) -> Result<PathBuf> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--offline", "--locked", "--format-version=1"]);
    cargo.args(["--features=peers", "--manifest-path", manifest]);
    let output = cargo.output().context("cargo metadata")?;
    ensure!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("it has packages")?;
    let found = packages.iter().find(|other| other["name"] == package);
    let path = found.and_then(|found| found["manifest_path"].as_str());
    let path = path.with_context(|| format!("{package} is no dependency"))?;
    Ok(PathBuf::from(path)
        .parent()
        .context("a manifest is in a folder")?
        .to_owned())
}
