//! Every rule of `#[locked_task]` as a pair: `fail/<rule>.rs` with the whole error that the compiler
//! shows, and `pass/<rule>.rs`, the same thing done right.
//!
//! After a wanted change of a message, `TRYBUILD=overwrite cargo test -p tasklock-ui-tests` writes
//! the `.stderr` files again: read the difference. They hold for the toolchain that is pinned in
//! `rust-toolchain.toml`.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/**/*.rs");
    cases.compile_fail("fail/**/*.rs");
}

#[test]
fn every_rule_has_a_passing_twin() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (fail, pass) = (folder.join("fail"), folder.join("pass"));
    let rules = files(&fail);
    assert!(!rules.is_empty());
    for rule in rules
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
    {
        let rule = rule.strip_prefix(&fail).unwrap();
        assert!(
            pass.join(rule).is_file(),
            "pass/{} is missing",
            rule.display()
        );
    }
}

/// A machine's own paths in an expected error would fail everywhere else.
#[test]
fn no_expected_error_names_a_machines_path() {
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fail")) {
        let text = fs::read_to_string(&path).unwrap();
        let absolute = text.contains("--> /") || text.contains(".cargo") || text.contains("/home/");
        assert!(!absolute, "{} names a path of one machine", path.display());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}
