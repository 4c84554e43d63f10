//! The fields of an update.

use crate::buyer::recipient::Language;
use crate::buyer::updates::{MAX_NAME, MAX_SENTENCE};
use crate::office::shared::page::form::Form;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::view::Field;
use crate::office::shops::page::profile::LANGUAGES;
use crate::office::updates::rule::NewUpdate;
use maud::{Markup, html};

/// Path of the page that shows a month's updates, and of the form that adds an update.
pub(super) const PATH: &str = "/updates";
/// Title and path of the page that shows a month's updates.
pub(super) const PAGE: (&str, &str) = ("Updates", PATH);
/// Prefix of the names of the fields that contain the sentence in each language, such as `text-en`.
const SENTENCE: &str = "text-";

const STAGES: [(&str, &str); 4] =
    [("funded", "Funded"), ("under-way", "Under way"), ("done", "Done"), ("verified", "Verified")];

/// Returns the words by which pages name a stage, such as `Under way` for `under-way`.
pub(super) fn stage_in_words(name: &str) -> &str {
    STAGES.iter().find(|(stage, _)| *stage == name).map_or(name, |(_, words)| words)
}

pub(super) const CONFIRMED: &str = "confirmed";

/// What a page shows after a form was sent.
#[derive(Default)]
pub(super) struct FormResult {
    pub notice: Markup,
    /// The values of a form that is shown again.
    pub wanted: Option<NewUpdate>,
    pub offering: String,
    pub problem: FormProblem,
}

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
        texts: form.with_prefix(SENTENCE).map(sentence).collect(),
    }
}

/// Renders the fields, and marks the one that `problem` is about.
pub(super) fn fields(update: &NewUpdate, problem: &FormProblem) -> Markup {
    let field = |name, label, hint, value| Field {
        name,
        label,
        hint,
        value,
        problem: problem.of(name),
        ..Field::default()
    };
    let day = Field {
        required: true,
        kind: "date",
        ..field("date", "Date", "The day on which it happened.", &update.date)
    };
    let coordinates = "Optional, in degrees. Buyers see the place as a link to a map.";
    let name = format!("One line of at most {MAX_NAME} characters.");
    html! {
        div.fields {
            (field("stage", "Stage", "", &update.stage).render_select(&STAGES))
            (day.render())
            (field("quantity", "Quantity", "The quantity done for the pledges of all buyers together, \
                                            for example 1200.", &update.quantity).render())
            (field("partner", "Partner", "The organisation that did it; not a person.", &update.partner).render())
            (field("place", "Place", "For example Kitui, Kenya.", &update.place).render())
            (field("report", "Report", "A web address, with https://.", &update.report).render())
            (field("latitude", "Latitude", coordinates, &update.latitude).render())
            (field("longitude", "Longitude", "For example 38.0106.", &update.longitude).render())
            (field("picture", "Picture", "The https address of an image.", &update.picture).render())
            (field("picture-text", "What the picture shows", &name, &update.picture_text).render())
        }
        (sentences(update, problem))
    }
}

/// Renders a field for the sentence in each language. The fields other than English are folded away, unless
/// one of them has a text or an error.
fn sentences(update: &NewUpdate, problem: &FormProblem) -> Markup {
    let is = |tag: &str, other: &str| tag.eq_ignore_ascii_case(other);
    let value =
        |tag: &str| update.texts.iter().find(|(own, _)| is(own, tag)).map_or("", |(_, text)| text);
    let field = |tag: &str, language: &str| {
        let name = [SENTENCE, tag].concat();
        let problem = problem.of(&name);
        Field { name: &name, label: language, value: value(tag), problem, ..Field::default() }
            .render()
    };
    let others =
        || LANGUAGES.iter().filter(|(tag, _)| Language::from_tag(tag).is_some() && *tag != "en");
    let is_open = update.texts.iter().any(|(tag, _)| !is(tag, "en"))
        || problem.field().is_some_and(|name| name.starts_with(SENTENCE) && name != "text-en");
    html! {
        fieldset {
            legend { "Sentence for buyers" }
            p.soft {
                "One line of at most " (MAX_SENTENCE) " characters in one or more languages. A timeline \
                                                       shows the sentence in its own "
                "language. If there is no such sentence, the timeline shows the English one, or else \
                 the first. Write what happened, without "
                "names of persons."
            }
            div.fields.wide { (field("en", "English")) }
            details open[is_open] {
                summary { "Other languages" }
                div.fields.wide { @for (tag, language) in others() { (field(tag, language)) } }
            }
        }
    }
}
