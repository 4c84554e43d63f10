//! Components that several pages use.

use super::link;
use crate::buyer::visible::shown;
use crate::office::shared::rule::coverage::{Coverage, DamagedRecords};
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::office::shared::rule::month::MONTHS;
pub(crate) use crate::office::shared::rule::month::month;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use crate::pledges::time::{TimeZones, date_of};
use crate::pledges::validate::instant::instant;
use maud::{Markup, html};

/// Turns an error message of an operation into a sentence: it gets a capital letter and a full
/// stop.
pub(crate) fn sentence(text: &str) -> String {
    let text = capital(text);
    if text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// Returns the text with its first letter in upper case, unless it begins with an e-mail address.
pub(crate) fn capital(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| word.contains('@')) {
        return text.to_owned();
    }
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

/// Renders an error message of an operation, with the values between backticks as code, and RFC
/// 3339 date-times in words. The message may contain texts that people wrote, so control characters are replaced.
pub(crate) fn inline_code(text: &str) -> Markup {
    let text: String = text.chars().map(shown).collect();
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 0 { (times_in_words(part)) } @else { code { bdi { (part) } } }
        }
    }
}

/// Replaces the RFC 3339 date-times in a message, such as `set by ada@shop.example at 2026-10-03T14:05:00Z`, by words.
pub(crate) fn times_in_words(text: &str) -> String {
    let word = |word: &str| {
        let time = word.trim_end_matches([',', ';', ':', '.', ')']);
        let words = if time.contains('T') { in_words(time) } else { None };
        match (words, word.strip_prefix(time)) {
            (Some(words), Some(end)) => [without_midnight(&words), end].concat(),
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Renders an RFC 3339 date-time as `3 Oct 2026, 14:05 UTC`; any other text unchanged.
pub(crate) fn time(text: &str) -> Markup {
    html! { time datetime=(text) { (in_words(text).unwrap_or_else(|| text.to_owned())) } }
}

/// Renders an RFC 3339 date-time at midnight UTC as `3 Oct 2026`, and any other as [`time()`] does.
pub(crate) fn day(text: &str) -> Markup {
    let words = in_words(text).unwrap_or_else(|| text.to_owned());
    html! { time datetime=(text) { (without_midnight(&words)) } }
}

/// Returns the day of a time at midnight UTC, and any other time unchanged.
fn without_midnight(words: &str) -> &str {
    words.strip_suffix(", 00:00 UTC").unwrap_or(words)
}

/// Renders an RFC 3339 date-time in this time zone, as `3 Oct 2026, 16:05`, followed by `end`. A time that local
/// clocks show twice has its offset, as `25 Oct 2026, 02:30 UTC+01:00`. Without a zone, renders it as [`time()`] does.
pub(crate) fn local_time(
    zones: &impl TimeZones,
    zone: Option<&str>,
    end: &str,
    text: &str,
) -> Markup {
    let local = zone.and_then(|zone| {
        let seconds = instant(text)?;
        let ahead = zones.utc_offset(zone, seconds)?;
        let words = minute_in_words(seconds.checked_add(i64::from(ahead))?)?;
        let offset =
            if is_repeated(zones, zone, seconds) { offset_in_words(ahead) } else { String::new() };
        Some([&words, &*offset, end].concat())
    });
    match local {
        Some(words) => html! { time datetime=(text) { (words) } },
        None => time(text),
    }
}

/// Returns whether local clocks show a time twice, because the time zone sets them back shortly before or after.
fn is_repeated(zones: &impl TimeZones, zone: &str, seconds: i64) -> bool {
    let ahead = |seconds| zones.utc_offset(zone, seconds).map(i64::from);
    let Some(own) = ahead(seconds) else { return false };
    let around = [seconds.saturating_sub(LONGEST_CHANGE), seconds.saturating_add(LONGEST_CHANGE)];
    around
        .into_iter()
        .filter_map(ahead)
        .any(|other| other != own && ahead(seconds.saturating_add(own - other)) == Some(other))
}

/// The largest change of a time zone's clocks for daylight saving time, in seconds: Antarctica/Troll has 2
/// hours.
const LONGEST_CHANGE: i64 = 3 * 3_600;

/// Writes an offset from UTC, in seconds, as ` UTC+02:00`.
fn offset_in_words(ahead: i32) -> String {
    let sign = if ahead < 0 { '-' } else { '+' };
    let all = ahead.unsigned_abs() / 60;
    let (hours, minutes) = (all / 60, all % 60);
    format!(" UTC{sign}{hours:02}:{minutes:02}")
}

fn in_words(text: &str) -> Option<String> {
    Some(minute_in_words(instant(text)?)? + " UTC")
}

/// Writes a time, in seconds since 1970, to the minute: `3 Oct 2026, 14:05`.
fn minute_in_words(seconds: i64) -> Option<String> {
    let (year, month, day) = date_of(seconds)?;
    let month = MONTHS.get(usize::from(month).checked_sub(1)?)?;
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute) = (of_day / 3_600, of_day / 60 % 60);
    Some(format!("{day} {month} {year:04}, {hour:02}:{minute:02}"))
}

/// Renders a form that is posted to a path of the dashboard. It prevents phones from beginning a field with a
/// capital letter, which would be wrong in IDs.
pub(crate) fn form(action: &str, content: &Markup) -> Markup {
    form_of(action, false, content)
}

/// Renders a form as [`form`] does. With `is_upload`, it can have a field for a file.
pub(crate) fn form_of(action: &str, is_upload: bool, content: &Markup) -> Markup {
    let kind = is_upload.then_some("multipart/form-data");
    html! {
        form method="post" action=(action) enctype=[kind] autocomplete="off" autocapitalize="none" { (content) }
    }
}

/// Renders a form that opens a page with the form's fields as query parameters.
pub(crate) fn filter(action: &str, content: &Markup) -> Markup {
    html! { form method="get" action=(action) autocomplete="off" autocapitalize="none" { (content) } }
}

/// Renders the filters above a list. They are unfolded if `is_open` is true. Otherwise they are folded away,
/// so that they do not fill the screen of a phone.
pub(crate) fn filters(is_open: bool, form: &Markup) -> Markup {
    html! { details.filters open[is_open] { summary { "Filter" } (form) } }
}

pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// A text field of a form. Its ID is its name, so each name occurs only once on a page.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field<'f> {
    pub name: &'f str,
    pub label: &'f str,
    pub value: &'f str,
    /// Help below the field; may be empty.
    pub hint: &'f str,
    pub required: bool,
    /// The input's type, such as `date`; empty for a line of text.
    pub kind: &'f str,
    /// What is wrong with the value; empty if nothing is.
    pub problem: &'f str,
    /// The ID of a `datalist` with suggestions; empty if there is none.
    pub list: &'f str,
}

impl Field<'_> {
    pub fn render(&self) -> Markup {
        let list = Some(self.list).filter(|list| !list.is_empty());
        let (kind, described) = (Some(self.kind).filter(|kind| !kind.is_empty()), self.described());
        self.labelled(&html! {
            input type=[kind] id=(self.name) name=(self.name) value=(self.value) required[self.required]
                list=[list] aria-invalid=[self.invalid()] aria-describedby=[described];
        })
    }

    /// Renders a field for a file of these media types.
    pub fn render_file(&self, types: &str) -> Markup {
        self.labelled(&html! {
            input type="file" id=(self.name) name=(self.name) accept=(types) required[self.required]
                aria-invalid=[self.invalid()] aria-describedby=[self.described()];
        })
    }

    pub fn render_lines(&self) -> Markup {
        self.labelled(&html! {
            textarea id=(self.name) name=(self.name) rows="3" required[self.required]
                aria-invalid=[self.invalid()] aria-describedby=[self.described()] { (self.value) }
        })
    }

    /// Renders a field for several lines of code. An extra line break precedes the value, because HTML
    /// removes the first line break in a `textarea`.
    pub fn render_code(&self, rows: u32, placeholder: &str) -> Markup {
        self.labelled(&html! {
            textarea.code id=(self.name) name=(self.name) rows=(rows) required[self.required] spellcheck="false"
                placeholder=(placeholder) aria-invalid=[self.invalid()] aria-describedby=[self.described()] { "\n" (self.value) }
        })
    }

    /// Renders a drop-down list. Each option is a value and its label.
    pub fn render_select(&self, options: &[(&str, &str)]) -> Markup {
        self.labelled(&html! {
            select id=(self.name) name=(self.name) required[self.required]
                aria-invalid=[self.invalid()] aria-describedby=[self.described()] {
                @for (value, text) in options {
                    option value=(value) selected[*value == self.value] { (text) }
                }
            }
        })
    }

    /// Renders a checkbox, with its label beside it.
    pub fn render_box(&self, is_checked: bool) -> Markup {
        html! {
            div.field {
                label.choice for=(self.name) {
                    input type="checkbox" id=(self.name) name=(self.name) value=(self.value)
                        required[self.required] checked[is_checked]
                        aria-invalid=[self.invalid()] aria-describedby=[self.described()];
                    (self.label)
                }
                (self.texts())
            }
        }
    }

    /// Renders the label, the control, and the texts below it. For screen readers, the texts are the control's
    /// description, not a part of its name.
    fn labelled(&self, control: &Markup) -> Markup {
        html! { div.field { label for=(self.name) { (self.label) } (control) (self.texts()) } }
    }

    fn texts(&self) -> Markup {
        html! {
            @if !self.problem.is_empty() {
                small.problem id=(self.part("problem")) { (inline_code(&sentence(self.problem))) }
            }
            @if !self.hint.is_empty() { small id=(self.part("hint")) { (self.hint) } }
        }
    }

    fn invalid(&self) -> Option<&'static str> {
        (!self.problem.is_empty()).then_some("true")
    }

    /// Returns the IDs of the texts that describe the control; `None` if it has none.
    fn described(&self) -> Option<String> {
        let parts = [("problem", self.problem), ("hint", self.hint)];
        let parts = parts.iter().filter(|(_, text)| !text.is_empty());
        let ids: Vec<_> = parts.map(|(part, _)| self.part(part)).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    fn part(&self, part: &str) -> String {
        [self.name, "-", part].concat()
    }
}

/// Renders a drop-down list. Each option is a value and its label; `chosen` is the selected value.
pub(crate) fn select(name: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
    select_with(name, label, options, chosen, "")
}

/// Renders a menu like [`select`], with a hint below it.
pub(crate) fn select_with(
    name: &str,
    label: &str,
    options: &[(&str, &str)],
    chosen: &str,
    hint: &str,
) -> Markup {
    Field { name, label, value: chosen, hint, ..Field::default() }.render_select(options)
}

/// Renders a text that people copy. A click selects the whole text.
pub(crate) fn copyable(text: &str) -> Markup {
    html! { code.copy { (text) } }
}

pub(crate) fn copyable_lines(text: &str) -> Markup {
    html! { pre.copy tabindex="0" role="group" aria-label="Text to copy" { (text) } }
}

/// Maximum number of characters of a text that a page shows.
const MAX_TEXT: usize = 2_000;

/// Renders a text that a shop, a recipient or an operator wrote, truncated to [`MAX_TEXT`]. The
/// text gets its own text direction. Control characters, and characters that change the direction
/// of text, are replaced.
pub(crate) fn untrusted_text(text: &str) -> Markup {
    html! { bdi { (beginning(text, MAX_TEXT)) } }
}

/// Returns at most the first `most` characters of an untrusted text, and `…` if there are more.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let is_long = text.chars().nth(most).is_some();
    text.chars().take(most).map(shown).chain(is_long.then_some('…')).collect()
}

/// Renders `1.50 USD`.
pub(crate) fn money(amount: &str, currency: &str) -> Markup {
    html! { span.number { (grouped(amount)) " " (currency) } }
}

/// Writes a decimal with commas between thousands, as `1,234,567.50`. Returns any other text unchanged.
pub(crate) fn grouped(number: impl ToString) -> String {
    let text = number.to_string();
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return text;
    }
    let mut grouped = String::with_capacity(text.len() + text.len() / 3);
    for (index, digit) in whole.char_indices() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

pub(crate) fn id_link(id: &str) -> Markup {
    html! { a href=(link::path(&["transactions", id])) { code.id { (id) } } }
}

/// Renders the link to a transaction: its reference, or its ID if the reference is not known.
pub(crate) fn order_link(id: &str, reference: Option<&str>) -> Markup {
    match reference.filter(|reference| !reference.trim().is_empty()) {
        Some(reference) => {
            html! { a.reference href=(link::path(&["transactions", id])) { (untrusted_text(reference)) } }
        }
        None => id_link(id),
    }
}

/// Renders a list of facts: pairs of a label and a value.
pub(crate) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        dl { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } }
    }
}

/// Renders a table, or the text `empty` if there are no rows. The first cell of each row is the row's
/// heading. On narrow screens each row becomes a card, in which every cell shows the name of its column.
pub(crate) fn table(headings: &[&str], rows: &[Vec<Markup>], empty: &str) -> Markup {
    table_of(headings, &[], rows, empty)
}

/// Renders a [`table`], and aligns the columns whose headings are in `numbers` as numbers.
pub(crate) fn table_of(
    headings: &[&str],
    numbers: &[&str],
    rows: &[Vec<Markup>],
    empty: &str,
) -> Markup {
    if rows.is_empty() {
        return html! { p.soft { (empty) } };
    }
    let class = |is_number: bool| is_number.then_some("number");
    html! {
        div.table tabindex="0" role="group" aria-label={ "Table: " (headings.join(", ")) } {
            table {
                thead { tr { @for heading in headings {
                    th scope="col" class=[class(numbers.contains(heading))] { (heading) }
                } } }
                tbody {
                    @for row in rows {
                        tr { @for (index, (cell, heading)) in row.iter().zip(headings).enumerate() {
                            @let label = heading.replace('/', "/\u{200b}"); // a time zone may break behind its slash
                            @if index == 0 { th scope="row" class=[class(numbers.contains(heading))] data-label=(label) { (cell) } }
                            @else { td class=[class(numbers.contains(heading))] data-label=(label) { (cell) } }
                        } }
                    }
                }
            }
        }
    }
}

/// Renders an input for a month. Some browsers show it as a line of text. `problem` says what is wrong with
/// the value; it is empty if nothing is wrong.
pub(crate) fn month_field(value: &str, problem: &str) -> Markup {
    let field = Field { name: "month", label: "Month (UTC)", value, problem, ..Field::default() };
    field.labelled(&html! {
        input type="month" id=(field.name) name=(field.name) value=(value) placeholder="2026-10"
            pattern="[0-9]{4}-[0-9]{2}" title="Write the month as 2026-10."
            aria-invalid=[field.invalid()] aria-describedby=[field.described()];
    })
}

/// Renders a note that says up to what time the ledger's data is complete, and what is missing.
pub(crate) fn coverage(coverage: &Coverage) -> Markup {
    let Coverage { complete_up_to, complete_from, damaged } = coverage;
    html! {
        p.soft {
            @match complete_up_to {
                Some(at) => { "Complete up to " (time(at)) ". Later transactions usually appear within seconds." }
                None => "Transactions may be missing: the ledger has not yet been compared with all records.",
            }
        }
        @if let Some(from) = complete_from {
            p.soft { "Transactions before " (time(from)) " are not in the ledger. Their months are shown only if they are marked as paid." }
        }
        @if let Some(first) = &damaged.first {
            p.problem {
                "Unreadable records, missing from all lists and sums: " (damaged.count) ", the first is "
                (untrusted_text(first)) "."
            }
        }
    }
}

/// Renders a notice about the transactions that are missing from the sums of offerings, if there are any.
pub(crate) fn left_out(DamagedRecords { count, first }: &DamagedRecords) -> Markup {
    html! {
        @if let Some(first) = first {
            p.problem {
                "These sums leave out transactions with too many quantities. Number of such transactions, in \
                 all months: " (count) ", the first is " (untrusted_text(first)) "."
            }
        }
    }
}

/// Renders links that switch a page between live and test mode. `mode` is the current mode.
pub(crate) fn modes(path: &str, mode: Mode, month: Option<Month>) -> Markup {
    let month = month.map(|month| month.to_string());
    modes_of(path, mode, month.as_deref().map(|month| ("month", month)).as_slice())
}

/// Renders links that switch a page between live and test mode, and keep the query parameters in `kept`.
pub(crate) fn modes_of(path: &str, mode: Mode, kept: &[(&str, &str)]) -> Markup {
    let address = |mode: Mode| link::with(path, &[&[("mode", mode.name())], kept].concat());
    html! {
        nav aria-label="Mode" {
            ul { @for (other, name) in [(Mode::Live, "Live mode"), (Mode::Test, "Test mode")] {
                li {
                    a href=(address(other))
                        aria-current=[(other == mode).then_some("page")] { (name) }
                }
            } }
        }
    }
}

/// Maximum number of rows in a table of records.
pub(crate) const MAX_ROWS: usize = 1_000;

/// Says that a table of this many rows was truncated to [`MAX_ROWS`].
pub(crate) fn more(rows: usize) -> Markup {
    html! { @if rows > MAX_ROWS { p { "Only the first " (MAX_ROWS) " of " (rows) " are shown." } } }
}

/// Says that entries may be missing, because only the beginning of a long list was searched.
pub(crate) fn picked(has_more: bool, of_all: &str) -> Markup {
    html! {
        @if has_more {
            p { "Some may be missing: only the first 10,000 " (of_all) " were searched. " a href="/" { "Find" } " opens the others by their IDs." }
        }
    }
}

/// Returns a count with its noun, such as `1 unit` or `3 units`. `one` is the noun in the singular.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Renders the confirmation at the top of the response to a form.
pub(crate) fn done(text: &Markup) -> Markup {
    html! { div.notice.done role="status" { (text) } }
}

/// Renders a notice that people must read before they continue.
pub(crate) fn notice(text: &Markup) -> Markup {
    html! { div.notice { (text) } }
}

pub(crate) fn problem(text: &str) -> Markup {
    html! { div.notice.alarm role="alert" { (inline_code(&sentence(text))) } }
}

/// Renders the error above a form that was refused and is shown again, with a link to the wrong [`Field`].
/// The error has the focus, so that screen readers and keyboard users start there.
pub(crate) fn form_problem(text: &str, field: Option<&str>) -> Markup {
    html! {
        div.notice.alarm role="alert" tabindex="-1" autofocus {
            (inline_code(&sentence(text)))
            @if let Some(name) = field { " " a href={ "#" (name) } { "Go to the field" } "." }
        }
    }
}

/// Says that lists in Workers KV may lack the latest changes.
pub(crate) fn staleness_note() -> Markup {
    html! {
        p { small { "Changes of the last " (SHOWN_SECONDS) " s may not show yet." } }
    }
}
