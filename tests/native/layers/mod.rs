//! Compares what the modules of src use with ARCHITECTURE.md: its list of layers, and the modules that may use JavaScript types.

mod circles;
mod source;

use source::{Source, files, read, sources};
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

/// The compiler ignores a file that no `mod` declaration names, so the tests in such a file would never run.
#[test]
fn each_file_is_a_module() {
    for root in ["src", "tests/native", "tests/proofs/simulation"] {
        let files = files(root);
        for file in files.iter().map(|source| &*source.file) {
            let is_folder = file.file_name().unwrap() == "mod.rs";
            let module = if is_folder { file.parent().unwrap() } else { file };
            let name = module.file_stem().unwrap().to_str().unwrap();
            let parents =
                ["lib.rs", "main.rs", "mod.rs"].map(|parent| module.with_file_name(parent));
            let declares = |source: &&Source| {
                parents.contains(&source.file) && source.code.contains(&format!("mod {name};"))
            };
            let is_root = ["lib.rs", "main.rs"].map(Path::new).contains(&file);
            assert!(is_root || files.iter().any(|it| declares(&it)), "{root}: {}", file.display());
        }
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

/// For each module, the number of the line in ARCHITECTURE.md that lists the module.
struct Layers(BTreeMap<String, usize>);

impl Layers {
    /// Reads the layers from the last block of code marked as `text`. Each of its lines is a layer.
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

    /// Returns the forbidden modules that a file uses. A file may use only modules that ARCHITECTURE.md lists
    /// on lines above the file's own module.
    fn violations(&self, source: &Source) -> Vec<String> {
        let own = source.module();
        let is_wrong = |used: &String| {
            used != own && self.0.get(used).is_some_and(|line| *line >= self.0[own])
        };
        source.modules().into_iter().filter(is_wrong).collect()
    }
}

fn architecture() -> String {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md"))
}
