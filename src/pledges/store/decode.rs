use super::StoreError;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

/// Decodes a record.
///
/// # Errors
/// [`StoreError::Damaged`] if the record is not a JSON object, or does not have the shape of `T`.
pub fn decode<'a, T: Deserialize<'a>>(kind: &str, json: &'a [u8]) -> Result<T, StoreError> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let record = deserializer.deserialize_map(RecordVisitor(PhantomData));
    let whole = record.and_then(|record| deserializer.end().map(|()| record));
    whole.map_err(|error| StoreError::damaged(kind, &error))
}

/// Deserializes a record from a JSON object only. serde's own implementation also accepts arrays, which
/// doubles the size of the code. Also adds the position in the JSON to errors of `try_from`.
struct RecordVisitor<T>(PhantomData<T>);

impl<'a, T: Deserialize<'a>> Visitor<'a> for RecordVisitor<T> {
    type Value = T;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }
}
