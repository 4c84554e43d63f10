//! The form of an update: the languages of its sentences, and its preview.

use crate::buyer::recipient::Language;
use crate::office::shared::page::fields::Item;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::settings::Settings;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shops::page::profile::LANGUAGES;
use crate::office::updates::rule::{NewUpdate, keep_picture};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Path of the page that shows a month's updates, and of the form that adds an update.
pub(super) const PATH: &str = "/updates";
/// Title and path of the page that shows a month's updates.
pub(super) const PAGE: (&str, &str) = ("Updates", PATH);

/// Stores the picture that a form uploads. The form then has the picture's path, so that pages with questions and forms that
/// are shown again keep it.
pub(crate) async fn with_picture(store: &impl OperatorStore, mut form: Form) -> Form {
    let Some(file) = form.take_file() else { return form };
    match keep_picture(store, &file).await {
        Ok(path) => form.set("picture", path),
        Err(OperatorError::Invalid(refused)) => form.refuse(refused),
        Err(_) => {
            let problem = "nothing was saved: the bucket did not accept the picture. Choose the file again, and send the form again";
            form.refuse(Refused::at("picture-file", RefusalCode::TryAgain, problem));
        }
    }
    form
}

/// Returns the arguments without a field: that of the picture's file, if no bucket is bound.
pub(super) fn left_out(settings: &Settings) -> &'static [&'static str] {
    if settings.has_pictures { &[] } else { &["picture-file"] }
}

/// Returns a field for the sentence in each language, English first.
pub(super) fn sentences(update: &NewUpdate) -> Vec<Item<'_>> {
    let value = |tag: &str| {
        let own = update.texts.iter().find(|(own, _)| own.eq_ignore_ascii_case(tag));
        own.map_or("", |(_, text)| text)
    };
    let others =
        LANGUAGES.iter().filter(|(tag, _)| Language::from_tag(tag).is_some() && *tag != "en");
    std::iter::once(&("en", "English"))
        .chain(others)
        .map(|(tag, label)| Item { item: tag, label, value: value(tag), hint: "" })
        .collect()
}

/// Renders the button that shows the update of a form as buyers would see it.
pub(super) fn preview_button(path: &str) -> Markup {
    html! { button.quiet formaction=(path) formtarget="_blank" formnovalidate { "Preview" } }
}
