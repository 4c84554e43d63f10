//! Finds the names that a source file of src uses.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The parts of a subject of the office.
pub const PARTS: [&str; 4] = ["rows", "rule", "operation", "page"];

/// Returns the layer of a path: the room and the module in this room. In the office, it is the room and the
/// part of a subject.
fn layer(path: &[&str]) -> Option<String> {
    let part = path.get(2).filter(|part| path[0] == "office" && PARTS.contains(part));
    Some([path.first()?, "/", part.or(path.get(1))?].concat())
}

/// A file in src.
pub struct Source {
    pub file: PathBuf,
    pub code: String,
}

impl Source {
    /// Returns the layer that the file belongs to, such as `pledges/http` or `office/rule`.
    pub fn layer(&self) -> Option<String> {
        layer(&self.path())
    }

    /// Returns the path of the file's module.
    pub fn path(&self) -> Vec<&str> {
        let names = self.file.iter().map(|name| name.to_str().unwrap().trim_end_matches(".rs"));
        names.filter(|name| *name != "mod").collect()
    }

    /// Returns the layers whose names the file uses, including its own.
    pub fn layers(&self) -> BTreeSet<String> {
        self.names().into_iter().filter_map(|name| self.resolve(&name)).collect()
    }

    fn resolve(&self, name: &[String]) -> Option<String> {
        let (own, rest): (Vec<_>, Vec<_>) =
            (self.path(), name.iter().map(|part| &**part).collect());
        let supers = rest.iter().take_while(|part| **part == "super").count();
        let base = if rest[0] == "crate" { 0 } else { own.len().checked_sub(supers.max(1))? };
        let is_path = rest[0] == "crate" || supers > 0;
        let path = [&own[..base], &rest[supers.max(1)..]].concat();
        is_path.then(|| layer(&path)).flatten()
    }

    /// Returns the names in the code, split at `::`.
    pub fn names(&self) -> Vec<Vec<String>> {
        let mut names = Vec::new();
        add_names(self.code.parse().unwrap(), &[], &mut names);
        names
    }

    /// Returns the names that the file imports or re-exports, each with the path that it stands for.
    pub fn imports(&self) -> BTreeMap<String, Vec<String>> {
        let mut imports = BTreeMap::new();
        add_imports(self.code.parse().unwrap(), &mut imports);
        imports
    }
}

/// Adds the names in some code. For `a::{b, c}`, it adds `a::b` and `a::c`. It also looks into brackets and
/// into strings in attributes.
fn add_names(code: TokenStream, before: &[String], names: &mut Vec<Vec<String>>) {
    let (mut name, mut goes_on, mut is_half) = (before.to_vec(), true, false);
    for token in code {
        let was_half = std::mem::take(&mut is_half);
        match &token {
            TokenTree::Ident(part) => {
                if !goes_on {
                    let is_alias = part == "as" || name == ["as"]; // stands alone
                    let before = if is_alias { &[] } else { before };
                    names.push(std::mem::replace(&mut name, before.to_vec()));
                }
                name.push(part.to_string());
                goes_on = false;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => {
                goes_on = was_half;
                is_half = mark.spacing() == Spacing::Joint;
            }
            TokenTree::Group(group) if goes_on => add_names(group.stream(), &name, names),
            other => {
                names.push(std::mem::replace(&mut name, before.to_vec()));
                goes_on = true;
                add_inner(other, names);
            }
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
}

fn add_inner(token: &TokenTree, names: &mut Vec<Vec<String>>) {
    match token {
        TokenTree::Group(group) => add_names(group.stream(), &[], names),
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            if let Some(path) = text.strip_prefix("\"crate::") {
                let path = path.trim_end_matches('"').split("::");
                names.push(["crate"].into_iter().chain(path).map(str::to_owned).collect());
            }
        }
        _ => {}
    }
}

/// Adds what each `use` declaration imports.
fn add_imports(code: TokenStream, imports: &mut BTreeMap<String, Vec<String>>) {
    let mut tokens = code.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "use" => {
                let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';');
                let mut names = Vec::new();
                add_names(
                    tokens.by_ref().take_while(|token| !is_end(token)).collect(),
                    &[],
                    &mut names,
                );
                add_declaration(names, imports);
            }
            TokenTree::Group(group) => add_imports(group.stream(), imports),
            _ => {}
        }
    }
}

/// Adds the names of one `use` declaration. Here `a as b` consists of three names: `a`, `as` and `b`.
fn add_declaration(names: Vec<Vec<String>>, imports: &mut BTreeMap<String, Vec<String>>) {
    let mut names = names.into_iter().peekable();
    while let Some(mut path) = names.next() {
        path.retain(|part| part != "self");
        let alias = names.next_if(|next| next[0] == "as").and_then(|_| names.next());
        if let Some(name) = alias.as_ref().map_or(path.last(), |alias| alias.last()) {
            imports.insert(name.clone(), path);
        }
    }
}

/// Returns all files in src, except `lib.rs`.
pub fn sources() -> Vec<Source> {
    let mut sources = files("src");
    sources.retain(|source| source.file != Path::new("lib.rs"));
    sources
}

/// Returns all files in a folder and its subfolders.
pub fn files(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = path.strip_prefix(&root).unwrap().to_owned();
                files.push(Source { file, code: read(&path) });
            }
        }
    }
    files
}

#[track_caller]
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
