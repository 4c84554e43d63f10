//! The form of an update: the languages of its sentences, and its preview.

use crate::buyer::recipient::Language;
use crate::office::shared::page::fields::Item;
use crate::office::shared::page::form::Form;
use crate::office::shops::page::profile::LANGUAGES;
use crate::office::updates::operation::updates::STAGE;
use crate::office::updates::rule::NewUpdate;
use maud::{Markup, html};

/// Path of the page that shows a month's updates, and of the form that adds an update.
pub(super) const PATH: &str = "/updates";
/// Title and path of the page that shows a month's updates.
pub(super) const PAGE: (&str, &str) = ("Updates", PATH);

/// Returns the words by which pages name a stage, such as `Under way` for `under-way`.
pub(crate) fn stage_in_words(name: &str) -> &str {
    STAGE.label_of(name).unwrap_or(name)
}

/// Returns the update that a form describes.
pub(super) fn sent(form: &Form) -> NewUpdate {
    let text = |name| form.text(name).to_owned();
    let sentence = |(tag, text): (&str, &str)| (tag.to_owned(), text.to_owned());
    NewUpdate {
        stage: text("stage"),
        date: text("date"),
        place: text("place"),
        latitude: text("latitude"),
        longitude: text("longitude"),
        partner: text("partner"),
        quantity: text("quantity"),
        picture: text("picture"),
        picture_text: text("picture-text"),
        report: text("report"),
        texts: form
            .with_prefix("text-")
            .filter(|(_, text)| !text.is_empty())
            .map(sentence)
            .collect(),
    }
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
