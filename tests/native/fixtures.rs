//! Reads the rows of data in `tests/fixtures`.

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Returns every file of a folder, with its name. The test fails if a file does not have the shape `F`.
#[track_caller]
pub fn files<F: DeserializeOwned>(folder: &str) -> Vec<(String, F)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

#[track_caller]
fn read<F: DeserializeOwned>(path: &Path) -> (String, F) {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    assert_eq!(path.extension().unwrap(), "json", "`{}` is no fixture", path.display());
    let file = serde_json::from_slice(&fs::read(path).unwrap());
    (name, file.unwrap_or_else(|error| panic!("`{}`: {error}", path.display())))
}

/// Sets the value that a JSON pointer names; `-` stands for the end of an array. `None` removes the value.
#[track_caller]
pub fn put(body: &mut Value, pointer: &str, value: Option<Value>) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (body.pointer_mut(parent).unwrap(), value) {
        (Value::Array(items), Some(value)) if name == "-" => items.push(value),
        (Value::Array(items), Some(value)) => {
            *items.get_mut(name.parse::<usize>().unwrap()).unwrap() = value;
        }
        (Value::Object(members), Some(value)) => drop(members.insert(name.to_owned(), value)),
        (Value::Object(members), None) => drop(members.remove(name)),
        _ => panic!("there is nothing at `{pointer}`"),
    }
}
