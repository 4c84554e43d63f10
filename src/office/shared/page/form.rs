use super::refusal::{Refusal, Result};
use crate::office::shared::rule::refused::Refused;
use crate::pledges::scope::Mode;
use futures_util::stream;
use multer::Multipart;
use std::convert::Infallible;
use std::future::ready;

/// Maximum number of fields; the rest are ignored. A table of prices has 2 fields in each of 200 rows.
const MAX_FIELDS: usize = 500;

/// The fields of a form, or the parameters of a query string. If a name occurs twice, the first value counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
    /// The content of a file that was uploaded, until it is stored.
    file: Option<Vec<u8>>,
    /// Why the file was refused.
    refused: Option<Refused>,
}

impl Form {
    pub fn parse(encoded: &[u8]) -> Self {
        let fields = form_urlencoded::parse(encoded).take(MAX_FIELDS);
        Form::new(
            fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect(),
            None,
        )
    }

    fn new(fields: Vec<(String, String)>, file: Option<Vec<u8>>) -> Self {
        Form { fields, file, refused: None }
    }

    /// Parses a form with files, of the media type `multipart/form-data`. Keeps the first file that is not empty. Returns
    /// `None` if the form is not complete.
    pub async fn parse_parts(body: Vec<u8>, media: &str) -> Option<Self> {
        let boundary = multer::parse_boundary(media).ok()?;
        let body = stream::once(ready(Ok::<_, Infallible>(body)));
        let mut parts = Multipart::new(body, boundary);
        let (mut fields, mut file) = (Vec::new(), None);
        while let Some(part) = parts.next_field().await.ok()? {
            let (name, is_file) = (part.name().map(str::to_owned), part.file_name().is_some());
            let content = part.bytes().await.ok()?;
            match name {
                _ if is_file && !content.is_empty() => drop(file.get_or_insert(content)),
                Some(name) if !is_file && fields.len() < MAX_FIELDS => {
                    fields.push((name, String::from_utf8_lossy(&content).into_owned()));
                }
                _ => {}
            }
        }
        Some(Form::new(fields, file.map(Vec::from)))
    }

    pub fn take_file(&mut self) -> Option<Vec<u8>> {
        self.file.take()
    }

    /// Sets a field, instead of the value that was sent.
    pub fn set(&mut self, name: &str, value: String) {
        self.fields.retain(|(own, _)| own != name);
        self.fields.push((name.to_owned(), value));
    }

    /// Makes the form one that is refused, whatever its fields are.
    pub fn refuse(&mut self, refused: Refused) {
        self.refused = Some(refused);
    }

    /// # Errors
    /// If the form's file was refused.
    pub fn check_file(&self) -> Result<(), Refused> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Returns a field, trimmed; empty if it was not sent.
    pub fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns a field as it was sent; empty if it was not sent.
    pub fn raw(&self, name: &str) -> &str {
        self.fields.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns a field, trimmed; `None` if it is empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns the fields whose names begin with this prefix. The names are without the prefix, and the values are trimmed.
    pub fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .filter_map(move |(name, text)| Some((name.strip_prefix(prefix)?, text.trim())))
    }

    /// Returns whether the form has a field of this name.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(own, _)| own == name)
    }

    pub fn only(&self, names: &[&str]) -> Self {
        let mut fields = self.fields.clone();
        fields.retain(|(name, _)| names.contains(&&**name));
        Form::new(fields, None)
    }

    pub fn without(&self, names: &[&str]) -> Self {
        let mut fields = self.fields.clone();
        fields.retain(|(name, _)| !names.contains(&&**name));
        Form::new(fields, None)
    }

    /// Returns the field `mode`, which defaults to live.
    pub fn mode(&self) -> Result<Mode> {
        match self.given("mode") {
            None => Ok(Mode::Live),
            Some(name) => {
                Mode::from_name(name).ok_or_else(|| Refusal::invalid("`mode` must be live or test"))
            }
        }
    }
}
