//! Finds circular imports: files that use each other, directly or through further files.

use super::source::{Source, files, sources};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

#[test]
fn no_file_uses_a_file_that_uses_it() {
    for sources in [sources(), files("tests/proofs/simulation")] {
        assert_eq!(Files::new(&sources).circle(), None);
    }
}

#[test]
fn finds_circles() {
    let of_mod = ("a/mod.rs", "mod b; mod c; pub use b::B; pub use c::C; pub use c::{D as Other};");
    let rows = [
        (vec![of_mod, ("a/b.rs", "struct B;"), ("a/c.rs", "use super::b::B;")], None),
        (vec![("a/b.rs", "use super::c::C;"), ("a/c.rs", "use super::b::B;")], Some("a/b a/c a/b")),
        // A name that mod.rs exports again belongs to the file that defines it.
        (vec![of_mod, ("a/b.rs", "use super::C;"), ("a/c.rs", "struct C;")], None),
        (
            vec![of_mod, ("a/b.rs", "use super::C;"), ("a/c.rs", "use super::B;")],
            Some("a/b a/c a/b"),
        ),
        (
            vec![of_mod, ("a/b.rs", "use super::{Other as _};"), ("a/c.rs", "use crate::a::B;")],
            Some("a/b a/c a/b"),
        ),
        (
            vec![("a/mod.rs", "pub use b::B; struct A;"), ("a/b.rs", "use super::A;")],
            Some("a a/b a"),
        ),
        (
            vec![
                ("a/mod.rs", "use crate::d::A; use b::B;"),
                ("a/b.rs", "use super::A;"),
                ("d.rs", ""),
            ],
            None,
        ),
        // An import of a module uses nothing of it yet.
        (vec![("a/b.rs", "use super::c;"), ("a/c.rs", "use super::b::B;")], None),
        (
            vec![("a/b.rs", "use super::c; fn f() { c::g() }"), ("a/c.rs", "use super::b::B;")],
            Some("a/b a/c a/b"),
        ),
        (
            vec![
                (
                    "a/b.rs",
                    "use super::{c::{self as other}}; fn f() { html! { p { (other::g()) } } }",
                ),
                ("a/c.rs", "fn g() -> super::b::B {}"),
            ],
            Some("a/b a/c a/b"),
        ),
        (
            vec![
                ("a/b.rs", "use crate::a::c::C;"),
                ("a/c.rs", "fn f() { use super::d::D; }"),
                ("a/d.rs", "#[serde(with = \"crate::a::b::text\")] struct D;"),
            ],
            Some("a/b a/c a/d a/b"),
        ),
    ];
    for (files, expected) in rows {
        let source = |(file, code): &(&str, &str)| Source {
            file: PathBuf::from(file),
            code: (*code).to_owned(),
        };
        let sources: Vec<_> = files.iter().map(source).collect();
        assert_eq!(Files::new(&sources).circle().as_deref(), expected, "{files:?}");
    }
}

/// The path of a file's module, from the root.
type ModulePath = Vec<String>;

/// The modules' files, each with the names that it imports.
struct Files<'s> {
    sources: &'s [Source],
    imports: BTreeMap<ModulePath, BTreeMap<String, Vec<String>>>,
}

impl<'s> Files<'s> {
    fn new(sources: &'s [Source]) -> Self {
        let imports = sources.iter().map(|source| (module(source), source.imports())).collect();
        Files { sources, imports }
    }

    /// Returns one of the shortest circles of files that import each other, such as `a/b a/c a/b`. Returns
    /// `None` if there is no circle.
    fn circle(&self) -> Option<String> {
        let edges = self.sources.iter().map(|source| (module(source), self.used(source))).collect();
        let circles = self.imports.keys().filter_map(|file| circle_from(file, &edges));
        let shortest = circles.min_by_key(Vec::len)?;
        Some(shortest.iter().map(|file| file.join("/")).collect::<Vec<_>>().join(" "))
    }

    /// Returns the other files that define the names used in a file.
    fn used(&self, source: &Source) -> BTreeSet<ModulePath> {
        let own = module(source);
        let paths = source.names().into_iter().filter_map(|name| self.absolute(&own, &name));
        paths.filter_map(|path| self.definer(&path)).filter(|file| *file != own).collect()
    }

    /// Returns a name as a path from the crate's root, or `None` if the name is local or belongs to another
    /// crate.
    fn absolute(&self, file: &ModulePath, name: &[String]) -> Option<ModulePath> {
        let supers = name.iter().take_while(|part| *part == "super").count();
        let child = [file.as_slice(), &name[..1]].concat();
        let (base, rest) = match &*name[0] {
            "crate" => (Vec::new(), &name[1..]),
            "self" => (file.clone(), &name[1..]),
            "super" => (file[..file.len().checked_sub(supers)?].to_vec(), &name[supers..]),
            _ if self.imports.contains_key(&child) => (child, &name[1..]),
            alias => {
                let import = self.imports[file].get(alias).filter(|import| import[0] != alias)?;
                (self.absolute(file, import)?, &name[1..])
            }
        };
        Some(base.into_iter().chain(rest.iter().filter(|part| *part != "self").cloned()).collect())
    }

    /// Returns the file that defines the item at a path. Follows re-exports. `None` if the path names only a
    /// module.
    fn definer(&self, path: &[String]) -> Option<ModulePath> {
        let lengths = (1..=path.len()).rev();
        let file =
            lengths.map(|length| &path[..length]).find(|file| self.imports.contains_key(*file))?;
        let rest = &path[file.len()..];
        match self.imports[file].get(rest.first()?) {
            None => Some(file.to_vec()),
            Some(import) => {
                let import = self.absolute(&file.to_vec(), import)?;
                self.definer(&[&import, &rest[1..]].concat())
            }
        }
    }
}

fn module(source: &Source) -> ModulePath {
    source.path().into_iter().map(str::to_owned).collect()
}

/// Returns one of the shortest circles of imports that lead from a file back to itself.
fn circle_from(
    file: &ModulePath,
    edges: &BTreeMap<ModulePath, BTreeSet<ModulePath>>,
) -> Option<Vec<ModulePath>> {
    let mut seen = BTreeSet::new();
    let mut ways = VecDeque::from([vec![file.clone()]]);
    while let Some(way) = ways.pop_front() {
        for used in &edges[way.last()?] {
            let longer = [way.as_slice(), std::slice::from_ref(used)].concat();
            if used == file {
                return Some(longer);
            }
            if seen.insert(used) {
                ways.push_back(longer);
            }
        }
    }
    None
}
