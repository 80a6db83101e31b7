//! The reference of the options, and what editors show of them: one text, in two places.

use std::fs;

use syn::{Expr, ExprLit, Item, ItemConst, Lit, Meta};

use crate::options::KNOWN;

const REFERENCE: &str = include_str!("../locked_task.md");
const SHOWN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tasklock-runtime/src/__private/options.rs"
);

/// A section of the reference: what it says, and its example.
struct Section<'a> {
    key: &'a str,
    text: &'a str,
    example: &'a str,
}

fn sections() -> Vec<Section<'static>> {
    let (_, options) = REFERENCE.split_once("# Options\n").unwrap();
    let sections = options.split("\n## `").skip(1);
    let section = |section: &'static str| {
        let (key, rest) = section.split_once("`\n").unwrap();
        let (text, example) = rest.split_once("```\n").unwrap();
        Section {
            key,
            text: text.trim(),
            example,
        }
    };
    sections.map(section).collect()
}

#[test]
fn every_option_has_a_section_with_its_default_and_an_example() {
    let sections = sections();
    let written: Vec<_> = sections.iter().map(|section| section.key).collect();
    for known in KNOWN {
        let times = written.iter().filter(|key| **key == known.key).count();
        assert_eq!(times, 1, "sections of `{}`", known.key);
    }
    assert_eq!(written.len(), KNOWN.len(), "{written:?}");
    for Section { key, text, example } in sections {
        assert!(
            text.contains("Default:"),
            "`{key}` does not say its default"
        );
        assert!(
            example.contains(&format!("{key} = ")),
            "`{key}` has no example"
        );
    }
}

/// `crate` is no name that an item can have.
#[test]
fn editors_show_the_same_text() {
    let file = syn::parse_file(&fs::read_to_string(SHOWN).unwrap()).unwrap();
    let shown: Vec<_> = file
        .items
        .iter()
        .map(|item| match item {
            Item::Const(item) => (item.ident.to_string(), text(item)),
            _ => panic!("something else than the constant of an option is in options.rs"),
        })
        .collect();
    let written: Vec<_> = sections()
        .iter()
        .filter(|section| section.key != "crate")
        .map(|section| (section.key.to_owned(), section.text.to_owned()))
        .collect();
    assert_eq!(shown, written);
}

/// The lines of its documentation.
fn text(item: &ItemConst) -> String {
    let line = |meta: &Meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(line),
                ..
            }) => Some(line.value()),
            _ => None,
        },
        _ => None,
    };
    let lines = item
        .attrs
        .iter()
        .filter_map(|attribute| line(&attribute.meta));
    let lines: Vec<_> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned())
        .collect();
    lines.join("\n")
}
