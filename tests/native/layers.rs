//! Compares what the modules of src use with ARCHITECTURE.md: its list of layers, and the modules that may use JavaScript types.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const JAVASCRIPT: [&str; 8] = [
    "gloo_net",
    "js_sys",
    "lol_alloc",
    "serde_wasm_bindgen",
    "wasm_bindgen",
    "wasm_bindgen_futures",
    "web_sys",
    "worker",
];

#[test]
fn a_module_uses_only_modules_of_the_lines_above_its_own() {
    let layers = Layers::of(&architecture());
    let sources = sources();
    let modules: BTreeSet<_> = sources.iter().map(Source::module).collect();
    assert_eq!(layers.0.keys().map(String::as_str).collect::<BTreeSet<_>>(), modules);
    for source in &sources {
        assert_eq!(layers.violations(source), [""; 0], "{}", source.file.display());
    }
}

#[test]
fn only_the_entry_points_and_their_ports_use_javascript_types() {
    let architecture = architecture();
    let (_, allowed) = architecture.split_once("Only these modules use JavaScript types:").unwrap();
    let (allowed, _) = allowed.split_once("\n\n").unwrap();
    let may_use = |module: &str| {
        let names = [format!("`src/{module}`"), format!("`src/{module}.rs`")];
        names.iter().any(|name| allowed.contains(name))
    };
    for source in sources().iter().filter(|source| !may_use(source.module())) {
        let mut names = source.names().into_iter();
        let name = names.find(|path| path.len() > 1 && JAVASCRIPT.contains(&&*path[0]));
        assert_eq!(name, None, "{}", source.file.display());
    }
}

#[test]
fn only_lib_rs_names_features_and_targets() {
    for source in sources() {
        let mut names = source.names().into_iter().flatten();
        assert_eq!(names.find(|name| name.starts_with("cfg")), None, "{}", source.file.display());
    }
}

#[test]
fn finds_the_modules_that_a_file_uses() {
    let layers = Layers::of("```text\nscope  time\nhttp\nstore  api\n```");
    let rows = [
        ("http.rs", "use crate::scope::Mode;", &[][..]),
        ("http.rs", "use crate::store::Key;", &["store"]),
        ("http.rs", "pub use crate::{scope, store::Key, api::{self}};", &["api", "store"]),
        ("http.rs", "use super::store::Key;", &["store"]),
        ("http/mod.rs", "use super::{store, scope};", &["store"]),
        ("http/request.rs", "use super::store;", &[]), // a neighbour in the folder
        ("http/request.rs", "use super::super::store::Key;", &["store"]),
        ("http/request.rs", "use crate::http::Address;", &[]),
        (
            "http/request.rs",
            "fn f(a: &str) { g(|b: crate::api::B| [crate::store::f()]) }",
            &["api", "store"],
        ),
        ("http/request.rs", "fn f() { html! { p { (crate::api::f()) } } }", &["api"]),
        ("http/request.rs", "#[serde(with = \"crate::api::text\")] struct A;", &["api"]),
        ("http/request.rs", "/// [`Key`](crate::store::Key)\nstruct A; // crate::api", &[]),
        ("time.rs", "use crate::scope;", &["scope"]), // in its own line
    ];
    for (file, code, expected) in rows {
        let source = Source { file: PathBuf::from(file), code: code.to_owned() };
        assert_eq!(layers.violations(&source), expected, "{code}");
    }
}

/// The line in ARCHITECTURE.md that each module stands on.
struct Layers(BTreeMap<String, usize>);

impl Layers {
    /// Reads the last `text` block. Each line is a layer.
    fn of(text: &str) -> Self {
        let (_, block) = text.rsplit_once("```text\n").unwrap();
        let (lines, _) = block.split_once("```").unwrap();
        let mut layers = BTreeMap::new();
        for (index, line) in lines.lines().enumerate() {
            for name in line.split_whitespace() {
                assert_eq!(layers.insert(name.to_owned(), index), None, "{name} stands twice");
            }
        }
        Layers(layers)
    }

    /// Returns the modules that a file must not use but does: those that are not on a line above its own.
    fn violations(&self, source: &Source) -> Vec<String> {
        let own = source.module();
        let is_wrong = |used: &String| {
            used != own && self.0.get(used).is_some_and(|line| *line >= self.0[own])
        };
        source.modules().into_iter().filter(is_wrong).collect()
    }
}

/// A file in src.
struct Source {
    file: PathBuf,
    code: String,
}

impl Source {
    /// The top-level module that the file belongs to.
    fn module(&self) -> &str {
        self.path()[0]
    }

    /// The path of the file's module.
    fn path(&self) -> Vec<&str> {
        let names = self.file.iter().map(|name| name.to_str().unwrap().trim_end_matches(".rs"));
        names.filter(|name| *name != "mod").collect()
    }

    /// The top-level modules that the file names, including its own.
    fn modules(&self) -> BTreeSet<String> {
        self.names().into_iter().filter_map(|name| self.resolve(&name)).collect()
    }

    fn resolve(&self, name: &[String]) -> Option<String> {
        let depth = self.path().len();
        let supers = name.iter().take_while(|part| *part == "super").count();
        let is_outside = name[0] == "crate" || supers == depth;
        is_outside.then(|| name.get(supers.max(1)).cloned()).flatten()
    }

    /// The names in the code, split at `::`.
    fn names(&self) -> Vec<Vec<String>> {
        let mut names = Vec::new();
        add_names(self.code.parse().unwrap(), &[], &mut names);
        names
    }
}

/// Adds `a::b` and `a::c` for `a::{b, c}`. Also looks into brackets, and into attribute strings.
fn add_names(code: TokenStream, before: &[String], names: &mut Vec<Vec<String>>) {
    let (mut name, mut goes_on, mut is_half) = (before.to_vec(), true, false);
    for token in code {
        let was_half = std::mem::take(&mut is_half);
        match &token {
            TokenTree::Ident(part) => {
                if !goes_on {
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
                names.push(vec!["crate".to_owned(), path.split(':').next().unwrap().to_owned()]);
            }
        }
        _ => {}
    }
}

fn architecture() -> String {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md"))
}

/// All files in src, except `lib.rs`.
fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = path.strip_prefix(&src).unwrap().to_owned();
                sources.push(Source { file, code: read(&path) });
            }
        }
    }
    sources.retain(|source| source.file != Path::new("lib.rs"));
    sources
}

#[track_caller]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
