//! The arguments that set the members of an update.

use crate::office::shared::operation::call::{Call, Failure, Host as _, Ports};
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::updates::rule::{NewUpdate, keep_picture};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Members {
    stage: Option<String>,
    date: Option<String>,
    text: Vec<String>,
    place: Option<String>,
    latitude: Option<String>,
    longitude: Option<String>,
    partner: Option<String>,
    quantity: Option<String>,
    picture: Option<String>,
    picture_file: Option<String>,
    picture_text: Option<String>,
    report: Option<String>,
    remove: Vec<String>,
}

pub struct MemberEdits {
    members: Members,
    /// The sentences to set, each with its language tag.
    texts: Vec<(String, String)>,
}

impl Members {
    /// Returns an update with these members. The file of a picture was stored before.
    ///
    /// # Errors
    /// As [`edits`](Self::edits).
    pub(crate) fn over(self, mut update: NewUpdate) -> Result<NewUpdate, Refused> {
        self.edits()?.apply(&mut update);
        Ok(update)
    }

    /// Parses the sentences, and returns the edits.
    ///
    /// # Errors
    /// If a sentence is not written as `language=sentence`, two sentences have the same language, or there are two pictures.
    pub fn edits(mut self) -> Result<MemberEdits, Refused> {
        if self.picture.is_some() && self.picture_file.is_some() {
            let problem = "give either `--picture` or `--picture-file`";
            return Err(Refused::at("picture-file", RefusalCode::Invalid, problem));
        }
        let texts = std::mem::take(&mut self.text);
        let texts: Result<Vec<_>, _> = texts.iter().map(|text| sentence(text)).collect();
        let texts = texts?;
        let mut tags = BTreeSet::new();
        for (tag, _) in &texts {
            if !tags.insert(tag.to_ascii_lowercase()) {
                let problem = format!("`--text` has two sentences for the language `{tag}`");
                return Err(Refused::at(("text", &**tag), RefusalCode::Invalid, problem));
            }
        }
        Ok(MemberEdits { members: self, texts })
    }
}

/// Parses `language=sentence`. The sentence may contain `=`.
fn sentence(text: &str) -> Result<(String, String), Refused> {
    let (tag, sentence) = text.split_once('=').ok_or_else(|| {
        let problem =
            "write `--text` as a language and a sentence, such as `en=We planted the trees.`";
        Refused::at("text", RefusalCode::Invalid, problem)
    })?;
    Ok((tag.to_owned(), sentence.to_owned()))
}

impl MemberEdits {
    /// Stores the file of a picture, if one is given. The update then has the picture's path.
    ///
    /// # Errors
    /// If the file cannot be read, or is not an acceptable picture, or the store keeps no pictures or fails.
    pub async fn with_picture<P: Ports>(mut self, call: &Call<'_, P>) -> Result<Self, Failure> {
        if let Some(file) = self.members.picture_file.take() {
            let bytes = call.host.read(&file).await?;
            self.members.picture = Some(keep_picture(call.store, &bytes).await?);
        }
        Ok(self)
    }

    /// Applies the edits to an update: removes members first, then sets the given ones.
    pub fn apply(self, update: &mut NewUpdate) {
        let Members { stage, date, place, latitude, longitude, partner, quantity, .. } =
            self.members;
        let Members { picture, picture_text, report, remove, .. } = self.members;
        for member in &remove {
            for text in removed(update, member) {
                text.clear();
            }
        }
        for (text, given) in [
            (&mut update.stage, stage),
            (&mut update.date, date),
            (&mut update.place, place),
            (&mut update.latitude, latitude),
            (&mut update.longitude, longitude),
            (&mut update.partner, partner),
            (&mut update.quantity, quantity),
            (&mut update.picture, picture),
            (&mut update.picture_text, picture_text),
            (&mut update.report, report),
        ] {
            if let Some(given) = given {
                *text = given;
            }
        }
        for (tag, sentence) in self.texts {
            update.texts.retain(|(own, _)| !own.eq_ignore_ascii_case(&tag));
            update.texts.push((tag, sentence));
        }
    }
}

/// Returns the texts to clear when a member is removed. For example, a removed `place` also loses its
/// coordinates.
fn removed<'u>(update: &'u mut NewUpdate, member: &str) -> Vec<&'u mut String> {
    let NewUpdate { place, latitude, longitude, partner, quantity, picture, picture_text, .. } =
        update;
    match member {
        "place" => vec![place, latitude, longitude],
        "coordinates" => vec![latitude, longitude],
        "partner" => vec![partner],
        "quantity" => vec![quantity],
        "picture" => vec![picture, picture_text],
        "report" => vec![&mut update.report],
        _ => Vec::new(),
    }
}
