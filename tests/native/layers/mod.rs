//! Compares what the files of src use with the list of layers in ARCHITECTURE.md. Checks that only the doors use
//! JavaScript types.

mod circles;
mod source;
mod types;

use source::{PARTS, Source, files, read, sources};
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
fn a_file_uses_only_layers_of_the_lines_above_its_own() {
    let layers = Layers::of(&architecture());
    let sources = sources();
    let found: BTreeSet<_> = sources.iter().filter_map(Source::layer).filter(is_layer).collect();
    assert_eq!(layers.0.keys().cloned().collect::<BTreeSet<_>>(), found);
    for source in &sources {
        assert_eq!(layers.violations(source), [""; 0], "{}", source.file.display());
    }
}

#[test]
fn only_the_doors_use_javascript_types() {
    for source in sources().iter().filter(|source| !source.file.starts_with("doors")) {
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

/// Every file must be named in a `mod` declaration. The compiler ignores other files, so their tests would
/// never run.
#[test]
fn each_file_is_a_module() {
    for root in ["src", "tests/native", "tests/proofs/simulation"] {
        let files = files(root);
        for file in files.iter().map(|source| &*source.file) {
            let is_folder = file.file_name().unwrap() == "mod.rs";
            let module = if is_folder { file.parent().unwrap() } else { file };
            let name = module.file_stem().unwrap().to_str().unwrap();
            let mut parents: Vec<_> =
                ["lib.rs", "main.rs", "mod.rs"].map(|parent| module.with_file_name(parent)).into();
            parents.push("lib.rs".into()); // which declares the modules of the doors
            let declares = |source: &&Source| {
                parents.contains(&source.file) && source.code.contains(&format!("mod {name};"))
            };
            let is_root = ["lib.rs", "main.rs"].map(Path::new).contains(&file);
            assert!(is_root || files.iter().any(|it| declares(&it)), "{root}: {}", file.display());
        }
    }
}

#[test]
fn finds_the_layers_that_a_file_uses() {
    let layers = Layers::of(
        "```text\npledges  time  scope\npledges  http\npledges  store\nbuyer  notify\noffice  rows\noffice  page  rule\n```",
    );
    let rows = [
        ("pledges/http.rs", "use crate::pledges::scope::Mode;", &[][..]),
        ("pledges/http.rs", "use crate::pledges::store::Key;", &["pledges/store"]),
        (
            "pledges/http.rs",
            "pub use crate::pledges::{scope, store::Key, http::{self}};",
            &["pledges/store"],
        ),
        ("pledges/http.rs", "use super::store::Key;", &["pledges/store"]),
        ("pledges/http.rs", "use crate::buyer::notify::State;", &["buyer/notify"]),
        ("pledges/http/mod.rs", "use super::{store, scope};", &["pledges/store"]),
        ("pledges/http/request.rs", "use super::store;", &[]), // a neighbour in the folder
        ("pledges/http/request.rs", "use super::super::store::Key;", &["pledges/store"]),
        (
            "pledges/http/request.rs",
            "fn f() { html! { p { (crate::buyer::notify::f()) } } }",
            &["buyer/notify"],
        ),
        (
            "pledges/http/request.rs",
            "#[serde(with = \"crate::buyer::notify\")] struct A;",
            &["buyer/notify"],
        ),
        (
            "pledges/http/request.rs",
            "/// [`Key`](crate::buyer::notify::Key)\nstruct A; // crate::buyer",
            &[],
        ),
        ("pledges/time.rs", "use crate::pledges::scope;", &["pledges/scope"]), // in its own line
        ("office/keys/rows.rs", "use crate::office::shops::rule::teams::Team;", &["office/rule"]),
        ("office/keys/rule/make.rs", "use crate::office::shops::rows::names;", &[]),
        ("office/keys/rule/make.rs", "use crate::office::shops::rule::teams;", &[]), // the same part
        ("office/keys/rule/make.rs", "use crate::office::shops::page::unit;", &["office/page"]),
    ];
    for (file, code, expected) in rows {
        let source = Source { file: PathBuf::from(file), code: code.to_owned() };
        assert_eq!(layers.violations(&source), expected, "{code}");
    }
}

/// Returns whether a layer has code. The file of a subject that has parts only lists these parts.
fn is_layer(layer: &String) -> bool {
    let subject = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(layer);
    let has =
        |part: &str| subject.join(part).exists() || subject.join([part, ".rs"].concat()).exists();
    !(layer.starts_with("office/") && PARTS.into_iter().any(has))
}

/// The layers, each with the number of the line in ARCHITECTURE.md that lists it.
struct Layers(BTreeMap<String, usize>);

impl Layers {
    /// Reads the layers from the last block of code marked as `text`. Each of its lines names a room and some of its
    /// modules.
    fn of(text: &str) -> Self {
        let (_, block) = text.rsplit_once("```text\n").unwrap();
        let (lines, _) = block.split_once("```").unwrap();
        let mut layers = BTreeMap::new();
        for (index, line) in lines.lines().enumerate() {
            let mut words = line.split_whitespace();
            let room = words.next().unwrap();
            for name in words {
                let layer = [room, "/", name].concat();
                assert_eq!(layers.insert(layer, index), None, "{name} stands twice");
            }
        }
        Layers(layers)
    }

    /// Returns the forbidden layers that a file uses. A file may use its own layer, and those that ARCHITECTURE.md lists
    /// on lines above.
    fn violations(&self, source: &Source) -> Vec<String> {
        let Some((own, line)) = source.layer().and_then(|own| self.0.get_key_value(&own)) else {
            return Vec::new(); // it only lists modules
        };
        let is_wrong =
            |used: &String| used != own && self.0.get(used).is_some_and(|other| other >= line);
        source.layers().into_iter().filter(is_wrong).collect()
    }
}

fn architecture() -> String {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md"))
}
