//! GUARANTEES.md against the sources: every test, control and event that it names is there, and every
//! line of its tables says what shows it, or that no test does and where it is argued.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// A folder's tests, and what their names begin with on the page.
const TESTS: [(&str, &str); 4] = [
    ("tests/tests", ""),
    ("tasklock-runtime/src", "runtime::"),
    ("tasklock-grammar/tests", "grammar::"),
    ("model/tests", "model::"),
];
const UNSHOWN: &str = "not shown by a test: argued in ";
const SHOWN_BY: &str = "shown by";

#[test]
fn every_test_that_the_page_names_is_there() {
    let known = known();
    let page = read("GUARANTEES.md");
    let named: Vec<&str> = spans(&page).filter(|span| is_name(span)).collect();
    assert!(
        named.len() > 100,
        "{} names: is this the page?",
        named.len()
    );
    let missing: BTreeSet<&str> = named
        .into_iter()
        .filter(|name| !known.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn every_promise_says_what_shows_it() {
    let page = read("GUARANTEES.md");
    let mut promises = 0;
    let mut wrong = Vec::new();
    let mut in_table = false;
    for line in page.lines() {
        let last = line
            .strip_suffix(" |")
            .and_then(|line| Some(line.rsplit_once("| ")?.1));
        match last {
            None => in_table = false,
            Some(SHOWN_BY) => in_table = true,
            Some(cell) if in_table && !cell.starts_with("---") => {
                promises += 1;
                let shown = !cell.is_empty() && cell.split(", `").all(is_one_name);
                if !shown && !is_argued(cell) {
                    wrong.push(line);
                }
            }
            Some(_) => {}
        }
    }
    assert!(promises > 40, "{promises} promises: is this the page?");
    assert!(wrong.is_empty(), "neither shown nor argued: {wrong:#?}");
}

#[test]
fn where_something_is_argued_is_there() {
    let page = read("GUARANTEES.md");
    let page: Vec<&str> = page.split_whitespace().collect();
    let page = page.join(" ");
    // At the beginning of a sentence, too.
    let argued = page.split(UNSHOWN.trim_start_matches("not")).skip(1);
    let missing: Vec<&str> = argued
        .map(|rest| spans(rest).next().unwrap_or_default())
        .filter(|file| !Path::new(ROOT).join(file).is_file())
        .collect();
    assert!(missing.is_empty(), "no such files: {missing:#?}");
}

/// A part of a cell that is split before each name but the first.
fn is_one_name(part: &str) -> bool {
    let part = part.strip_prefix('`').unwrap_or(part);
    part.strip_suffix('`').is_some_and(is_name)
}

fn is_argued(cell: &str) -> bool {
    cell.strip_prefix(UNSHOWN)
        .is_some_and(|file| file.starts_with('`') && file.matches('`').count() == 2)
}

/// What stands in backticks, whatever lines are broken in it.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether it has the form of a test's name. A path of Rust on this page is a test's.
fn is_name(span: &str) -> bool {
    let is_path = span.contains("::") && !span.contains([' ', '…', '(', '\n']);
    is_path || (span.starts_with("model") && span.contains(": ") && !span.contains('…'))
}

/// Every test, case, scenario, control and event, as the page names them.
fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for (folder, prefix) in TESTS {
        for (module, tokens) in sources(&Path::new(ROOT).join(folder), "") {
            tests(&tokens, &mut |test| {
                known.insert(format!("{prefix}{module}::{test}"));
            });
        }
    }
    let controls = parse("model/src/controls.rs");
    names_of_controls(&controls, &mut |name| {
        known.insert(format!("model: {name}"));
    });
    for event in events(&parse("model/src/properties.rs")) {
        known.insert(format!("model reaches: {event}"));
    }
    known
}

/// The Rust files in a folder and those below it, with their modules: `a/b.rs`, `a/b/mod.rs` and
/// `a/b/main.rs` are `a::b`.
fn sources(folder: &Path, module: &str) -> Vec<(String, Vec<TokenTree>)> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).expect("the folder is there");
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.expect("its name is text");
        let inner = match stem {
            "mod" | "main" => module.to_owned(),
            _ if module.is_empty() => stem.to_owned(),
            _ => format!("{module}::{stem}"),
        };
        if path.is_dir() {
            found.extend(sources(&path, &inner));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let tokens = text_of(&path).parse::<TokenStream>();
            let tokens = tokens.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.push((inner, tokens.into_iter().collect()));
        }
    }
    found
}

/// Calls `found` with each test, whatever makes it one: an attribute, or a macro's list.
fn tests(tokens: &[TokenTree], found: &mut impl FnMut(String)) {
    let mut attributed = false;
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize| tokens.get(at.checked_sub(back)?);
        match token {
            TokenTree::Ident(name) if attributed && before(1).is_some_and(|it| is(it, "fn")) => {
                found(name.to_string());
                attributed = false;
            }
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                if before(1).is_some_and(|it| is(it, "#")) {
                    attributed |= is_test(&inner);
                    continue;
                }
                let called = before(1).filter(|it| is(it, "!")).and(before(2));
                let called = called.map(ToString::to_string).unwrap_or_default();
                listed(&called, &inner, found);
                tests(&inner, found);
                // A function's body, and no test before it.
                attributed &= group.delimiter() != Delimiter::Brace;
            }
            _ => {}
        }
    }
}

/// Whether an attribute is `test` or `…::test(…)`.
fn is_test(attribute: &[TokenTree]) -> bool {
    let path = attribute
        .iter()
        .take_while(|token| !matches!(token, TokenTree::Group(_)));
    path.last().is_some_and(|last| is(last, "test"))
}

/// What the lists of these macros make tests of.
fn listed(called: &str, list: &[TokenTree], found: &mut impl FnMut(String)) {
    for pair in list.windows(2) {
        match (called, &pair[0], &pair[1]) {
            // `scenario on sqlite postgres => Canary;`, `control on sqlite postgres: …`
            ("scenarios" | "controls", TokenTree::Ident(name), on) if is(on, "on") => {
                found(name.to_string())
            }
            // `alone: case,`
            ("on_both", colon, TokenTree::Ident(name)) if is(colon, ":") => found(name.to_string()),
            // `group { case, case, }`
            ("cases", TokenTree::Ident(group), TokenTree::Group(cases)) => {
                for case in idents(cases) {
                    found(format!("{group}::{case}"));
                }
            }
            _ => {}
        }
    }
}

/// Literals after `name:`, and first in the arguments of `two` and `three`.
fn names_of_controls(tokens: &[TokenTree], found: &mut impl FnMut(String)) {
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize| tokens.get(at.checked_sub(back)?);
        match token {
            TokenTree::Literal(name)
                if before(1).is_some_and(|it| is(it, ":"))
                    && before(2).is_some_and(|it| is(it, "name")) =>
            {
                found(unquoted(&name.to_string()));
            }
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let makes = before(1).is_some_and(|it| is(it, "two") || is(it, "three"));
                if let (true, Some(TokenTree::Literal(name))) = (makes, inner.first()) {
                    found(unquoted(&name.to_string()));
                }
                names_of_controls(&inner, found);
            }
            _ => {}
        }
    }
}

/// The literals of `REACHABLE`.
fn events(tokens: &[TokenTree]) -> Vec<String> {
    let mut tokens = tokens.iter().skip_while(|token| !is(token, "REACHABLE"));
    tokens.find(|token| is(token, "="));
    match tokens.next() {
        Some(TokenTree::Group(list)) => list
            .stream()
            .into_iter()
            .filter(|token| matches!(token, TokenTree::Literal(_)))
            .map(|token| unquoted(&token.to_string()))
            .collect(),
        other => panic!("REACHABLE is no list: {other:?}"),
    }
}

fn idents(group: &Group) -> Vec<String> {
    group
        .stream()
        .into_iter()
        .filter(|token| matches!(token, TokenTree::Ident(_)))
        .map(|token| token.to_string())
        .collect()
}

fn is(token: &TokenTree, text: &str) -> bool {
    !matches!(token, TokenTree::Group(_)) && token.to_string() == text
}

fn unquoted(literal: &str) -> String {
    literal.trim_matches('"').to_owned()
}

fn parse(path: &str) -> Vec<TokenTree> {
    let tokens = read(path).parse::<TokenStream>();
    let tokens = tokens.unwrap_or_else(|error| panic!("{path}: {error}"));
    tokens.into_iter().collect()
}

fn read(path: &str) -> String {
    text_of(&Path::new(ROOT).join(path))
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
