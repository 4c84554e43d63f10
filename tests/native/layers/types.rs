//! Checks that a type's name means one thing in the three rooms outside of the office.

use super::source::sources;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[test]
fn no_two_types_have_one_name() {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for source in sources().into_iter().filter(|source| !source.file.starts_with("office")) {
        for name in types(source.code.parse().unwrap()) {
            found.entry(name).or_default().push(source.file.clone());
        }
    }
    assert!(found.len() > 200, "{}", found.len());
    found.retain(|_, files| files.len() > 1);
    assert_eq!(found, BTreeMap::new());
}

#[test]
fn finds_the_types_of_a_file() {
    let rows = [
        ("pub struct A<T>(T); enum B {} trait C {} type D = A<u8>;", &["A", "B", "C", "D"][..]),
        ("impl Visitor for A { type Value = u8; } trait C { type E; }", &["C"]),
        ("#[wasm_bindgen] extern \"C\" { pub type F; fn g(this: &F); }", &["F"]),
        ("fn f() { struct G; } static NAME: &str = \"struct H\";", &[]),
    ];
    for (code, expected) in rows {
        assert_eq!(types(code.parse().unwrap()), expected, "{code}");
    }
}

/// Returns the names of the types that a file or a block of foreign items declares.
fn types(code: TokenStream) -> Vec<String> {
    let tokens: Vec<_> = code.into_iter().collect();
    let word = |index: usize| tokens.get(index).map(ToString::to_string).unwrap_or_default();
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident)
                if ["struct", "enum", "trait", "type"].contains(&&*ident.to_string()) =>
            {
                found.push(word(index + 1));
            }
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Brace
                    && index > 1
                    && word(index - 2) == "extern" =>
            {
                found.extend(types(group.stream()));
            }
            _ => {}
        }
    }
    found
}
