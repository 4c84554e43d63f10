//! The arguments of operations on updates.

use crate::office::shared::operation::spec::{Argument, Kind, text};

pub(super) const ID: Argument =
    Argument::positional("update", text("id"), "the update's ID, such as upd_…");
/// Describes the JSON of an update.
pub(super) const UPDATE: &str = "`id`, `mode`, `month`, `offering`, `state`; `update`: what timelines show, with `stage`, `date`, `texts` by language, and, if given, `place` (`name`, `latitude`, `longitude`), `partner`, `quantity`, `picture` (`url`, a path if it was uploaded, and `text`), `report`; `fulfilment`: the ID of the fulfilment that it was made from, or `null`; `revision`: counts the changes, from 1; `by`, `at`, `changedBy`, `changedAt`";

pub(crate) const STAGE: Argument = Argument::option(
    "stage",
    Kind::Choice { choices: &["funded", "under-way", "done", "verified"] },
    "how far the work has progressed",
)
.menu("Stage", &["Funded", "Under way", "Done", "Verified"]);
pub(super) const DATE: Argument =
    Argument::option("date", Kind::Day, "the day that the update is about, such as 2026-11-03")
        .field("Date", "The day on which it happened.");
pub(super) const TEXT: Argument = Argument::option(
    "text",
    text("language=sentence"),
    "a sentence for buyers in one language, such as en=\"We planted the trees.\"",
)
.repeatable()
.field(
    "Sentence for buyers",
    "One line of at most 400 characters in one or more languages. A timeline shows the sentence in its own language. If \
     there is no such sentence, the timeline shows the English one, or else the first. Write what happened, without names \
     of persons.",
);
pub(super) const PLACE: Argument = Argument::option("place", text("place"), "where it happened")
    .field("Place", "For example Kitui, Kenya.");
pub(super) const LATITUDE: Argument =
    Argument::option("latitude", text("degrees"), "degrees north, such as -1.3733")
        .field("Latitude", "Optional, in degrees. Buyers see the place as a link to a map.");
pub(super) const LONGITUDE: Argument =
    Argument::option("longitude", text("degrees"), "degrees east, such as 38.0106")
        .field("Longitude", "For example 38.0106.");
pub(super) const PARTNER: Argument =
    Argument::option("partner", text("name"), "the organisation that did it; not a person")
        .field("Partner", "The organisation that did it; not a person.");
pub(super) const QUANTITY: Argument = Argument::option(
    "quantity",
    text("quantity"),
    "how much of the offering was done, for all buyers together, such as 1200",
)
.field("Quantity", "The quantity done for the pledges of all buyers together, for example 1200.");
pub(super) const PICTURE: Argument =
    Argument::option("picture", text("url"), "the address of a picture, with https://")
        .field("Picture", "The https address of an image.");
pub(super) const PICTURE_FILE: Argument = Argument::option(
    "picture-file",
    Kind::Input,
    "a JPEG, PNG or WebP file of at most 5 MiB to upload; what the file says about place and time is removed; `-` is standard input",
)
.upload(
    "Upload a picture",
    "A JPEG, PNG or WebP file of at most 5 MiB, instead of an address. What the file says about place, time and camera is \
     removed.",
    "image/jpeg,image/png,image/webp",
);
pub(super) const PICTURE_TEXT: Argument = Argument::option(
    "picture-text",
    text("text"),
    "what the picture shows, for people who cannot see it",
)
.field("What the picture shows", "One line, for people who cannot see it.");
pub(super) const REPORT: Argument =
    Argument::option("report", text("url"), "the address of a report, with https://")
        .field("Report", "A web address, with https://.");
pub(super) const REVISION: Argument = Argument::option(
    "revision",
    Kind::Number { least: 0, most: u64::MAX },
    "the revision that you have seen: if the update has another by now, nothing is changed",
);
