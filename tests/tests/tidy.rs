//! The house's rules, as tests. ARCHITECTURE.md and CONTRIBUTING.md give the reasons.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const RUNTIME: &str = "tasklock-runtime/src";
/// The runtime's top-level modules in the order of imports; each may import itself and those before.
const ORDER: [&str; 7] = ["fault", "error", "lease", "task", "store", "run", "client"];
/// These are right of all others: they may import everything, and only the root imports them.
const OUTERMOST: [&str; 3] = ["runtime", "testing", "__private"];
const MOST_LINES: usize = 320;
const MOST_LINES_OF_AN_EXAMPLE: usize = 150;

#[test]
fn the_runtimes_modules_import_leftwards_only() {
    let mut wrong = Vec::new();
    for file in runtime_files() {
        let module = file.module.first().map(String::as_str);
        // The root sees everything.
        let Some(own) = module.filter(|module| *module != "lib") else {
            continue;
        };
        let rank = rank(own).unwrap_or_else(|| {
            panic!("{}: the module `{own}` has no place in ORDER", file.name);
        });
        for import in imports(&file) {
            // Not a module: one of the names that the root exports.
            let leftwards = self::rank(&import).is_some_and(|other| other <= rank);
            if !leftwards && own != "__private" {
                wrong.push(format!("{}: `{own}` imports crate::{import}", file.name));
            }
        }
    }
    assert_none(&wrong, "imports that do not go leftwards");
}

#[test]
fn errors_import_nothing() {
    for file in runtime_files() {
        if file.module == ["error"] {
            assert_none(&imports(&file), "imports of error.rs");
        }
    }
}

#[test]
fn only_the_store_names_the_database_driver() {
    let wrong: Vec<String> = runtime_files()
        .into_iter()
        .filter(|file| file.module[0] != "store")
        .filter(|file| words(file.tokens.clone()).iter().any(|word| word == "sqlx"))
        .map(|file| file.name)
        .collect();
    assert_none(&wrong, "files outside store/ that name sqlx");
}

#[test]
fn no_source_file_is_long() {
    let limit = |name: &str| {
        if name.starts_with("examples/examples/") {
            Some(MOST_LINES_OF_AN_EXAMPLE)
        } else {
            name.contains("src/").then_some(MOST_LINES)
        }
    };
    let long: Vec<String> = texts()
        .into_iter()
        .filter(|(name, _)| name.ends_with(".rs"))
        .filter_map(|(name, text)| {
            let lines = text.lines().count();
            (lines > limit(&name)?).then(|| format!("{name}: {lines}"))
        })
        .collect();
    assert_none(&long, "files to split, with their lines");
}

#[test]
fn nothing_is_left_to_do_or_left_out() {
    // In two parts, so that this file does not have them.
    let marks = [
        ("todo", "!("),
        ("unimplemented", "!("),
        ("dbg", "!("),
        ("#[ign", "ore"),
    ]
    .map(|(one, two)| format!("{one}{two}"));
    assert_none(&found(".rs", &marks), "unfinished or ignored code");
}

#[test]
fn no_file_names_a_place_on_one_machine() {
    let folders = [
        ("/wo", "rk/"),
        ("/ho", "me/"),
        ("/ro", "ot/"),
        ("/Us", "ers/"),
    ];
    let wrong: Vec<String> = texts()
        .into_iter()
        .flat_map(|(name, text)| {
            let named = |line: &&str| {
                folders.iter().any(|(one, two)| {
                    let folder = format!("{one}{two}");
                    // Followed by a name: the mere words, as in a test like this, are none.
                    line.match_indices(&folder).any(|(at, _)| {
                        let rest = &line[at + folder.len()..];
                        rest.starts_with(|char: char| char.is_alphanumeric() || char == '.')
                    })
                })
            };
            text.lines()
                .filter(named)
                .map(|line| format!("{name}: {line}"))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_none(&wrong, "lines with a machine's own paths");
}

#[test]
fn published_crates_say_what_they_are_and_under_which_licence() {
    let mut published = 0;
    for (name, text) in texts() {
        if !name.ends_with("Cargo.toml") || !text.contains("[package]") {
            continue;
        }
        let has = |key: &str| {
            text.lines().any(|line| {
                line.split(['=', '.'])
                    .next()
                    .is_some_and(|k| k.trim() == key)
            })
        };
        assert!(has("description"), "{name} has no description");
        assert!(has("license"), "{name} has no license");
        assert!(
            text.contains("[lints]\nworkspace = true"),
            "{name} has other lints"
        );
        published += usize::from(!text.contains("publish = false"));
    }
    assert_eq!(published, 3, "grammar, macros and runtime are published");
}

#[test]
fn readme_and_changelog_are_up_to_date() {
    let readme = read("README.md");
    let (_, tests) = readme
        .split_once("## Tests\n")
        .expect("the README tells how to run the tests");
    assert!(tests.trim_start().starts_with("```sh\nscripts/test\n```"));

    let manifest = read("Cargo.toml");
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = "))
        .expect("the workspace has a version")
        .trim_matches('"');
    let heading = |line: &str| {
        line.starts_with("##") && (line.contains(version) || line.contains("Unreleased"))
    };
    assert!(
        read("CHANGELOG.md").lines().any(heading),
        "CHANGELOG.md has neither {version} nor Unreleased"
    );
}

#[test]
fn imports_are_seen_in_every_form() {
    let file = File {
        name: "store/sql/retry.rs".into(),
        module: ["store", "sql", "retry"].map(str::to_owned).into(),
        tokens: r#"
            //! [`crate::run`] is told of in a comment.
            use crate::error::{Error, StoreError};
            use crate::{lease::Clock, task::{self, Next}};
            use super::super::super::client::Client;
            use super::super::run_elsewhere;
            fn call() { crate::runtime::go("crate::store"); }
        "#
        .parse()
        .expect("it is Rust"),
    };
    assert_eq!(
        imports(&file),
        ["error", "lease", "task", "client", "runtime"]
    );
}

/// A file of the runtime.
struct File {
    name: String,
    /// The path of its module: `store/sql/mod.rs` is `[store, sql]`.
    module: Vec<String>,
    /// Without comments; doc comments are string literals here.
    tokens: TokenStream,
}

fn runtime_files() -> Vec<File> {
    let files: Vec<File> = texts()
        .into_iter()
        .filter_map(|(name, text)| {
            let path = name.strip_prefix(RUNTIME)?.strip_suffix(".rs")?;
            let module = path.trim_start_matches('/').trim_end_matches("/mod");
            let tokens = match text.parse() {
                Ok(tokens) => tokens,
                Err(error) => panic!("{name}: {error}"),
            };
            Some(File {
                module: module.split('/').map(str::to_owned).collect(),
                tokens,
                name,
            })
        })
        .collect();
    assert!(files.len() > 20, "the runtime is not where it was");
    files
}

fn rank(module: &str) -> Option<usize> {
    if OUTERMOST.contains(&module) {
        return Some(ORDER.len());
    }
    ORDER.iter().position(|other| *other == module)
}

/// What the file takes from the crate's root: the first names after `crate::`, or after as many
/// `super::` as lead there.
fn imports(file: &File) -> Vec<String> {
    let words = words(file.tokens.clone());
    let mut imports = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let supers = words[at..]
            .chunks(2)
            .take_while(|pair| *pair == ["super", "::"])
            .count();
        let from_root = words[at..].starts_with(&["crate".to_owned(), "::".to_owned()]);
        // `$crate` is what a macro's user sees.
        let exported = at > 0 && words[at - 1] == "$";
        if from_root && !exported {
            imports.extend(first_names(&words[at + 2..]));
        } else if supers >= file.module.len() {
            // In an inner module the root is one further up: then this is no module's name.
            let names = first_names(&words[at + 2 * supers..]);
            imports.extend(names.into_iter().filter(|name| rank(name).is_some()));
        }
        at += (2 * supers).max(1);
    }
    imports
}

/// `a::b` gives a; `{a::b, c}` gives a and c.
fn first_names(words: &[String]) -> Vec<String> {
    if words.first().is_none_or(|word| word != "{") {
        return words.first().cloned().into_iter().collect();
    }
    let mut names = Vec::new();
    let mut depth = 0;
    let mut fresh = true;
    for word in words {
        match &**word {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => fresh = true,
            name if depth == 1 && fresh => {
                names.push(name.to_owned());
                fresh = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The identifiers and punctuation of a file in their order, `::` as one word.
fn words(tokens: TokenStream) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Punct(punct) => match words.last_mut() {
                Some(last) if *last == ":" && punct.as_char() == ':' => last.push(':'),
                _ => words.push(punct.as_char().to_string()),
            },
            TokenTree::Literal(_) => words.push("\"\"".to_owned()),
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::None => ("", ""),
                };
                words.push(open.to_owned());
                words.extend(self::words(group.stream()));
                words.push(close.to_owned());
            }
        }
    }
    words
}

/// The lines of such files that contain one of these.
fn found(extension: &str, marks: &[String]) -> Vec<String> {
    texts()
        .into_iter()
        .filter(|(name, _)| name.ends_with(extension))
        .flat_map(|(name, text)| {
            text.lines()
                .filter(|line| marks.iter().any(|mark| line.contains(mark)))
                .map(|line| format!("{name}: {line}"))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn assert_none(found: &[String], what: &str) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

fn read(path: &str) -> String {
    match fs::read_to_string(Path::new(ROOT).join(path)) {
        Ok(text) => text,
        Err(error) => panic!("{path}: {error}"),
    }
}

/// Every text of the project with its path, but what cargo and git keep for themselves.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(ROOT);
    let mut folders = vec![root.to_owned()];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                // Cargo marks what it builds into.
                if !path.ends_with(".git") && !path.join("CACHEDIR.TAG").exists() {
                    folders.push(path);
                }
            } else if let Ok(text) = fs::read_to_string(&path) {
                let name = path.strip_prefix(root).expect("it is below the root");
                texts.push((name.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    texts.sort();
    texts
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => panic!("{}: {error}", folder.display()),
    }
}
