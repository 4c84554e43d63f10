use crate::office::mails::rule::{State, Status, Words, words};
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::view;
use crate::pledges::time::TimeZones;
use maud::{Markup, html};

pub(crate) fn tag(status: &Status) -> Markup {
    let class = match status.state {
        State::Off | State::Waiting | State::Skipped => "tag note",
        State::Failed => "tag alarm",
        State::NotAsked | State::Erased | State::Test | State::Sent | State::Forgotten => "tag",
    };
    html! { span class=(class) { (view::capital(words(status).name)) } }
}

pub(crate) fn explanation(status: &Status) -> Markup {
    let Words { cause, advice, .. } = words(status);
    html! {
        @if !cause.is_empty() { (view::inline_code(&view::sentence(&cause))) " " }
        (view::inline_code(&advice))
    }
}

/// Renders the state of a notification. The mail service's ID is of use only to the service's staff.
pub(crate) fn facts(
    status: &Status,
    times: &ListTimes<'_, impl TimeZones>,
    shows_ids: bool,
) -> Markup {
    let number = |number: Option<u32>| number.filter(|number| *number > 1);
    let mut rows = vec![("State", html! { (tag(status)) " " (explanation(status)) })];
    rows.extend(
        words(status).code.map(|code| ("Code", html! { code { (view::untrusted_text(code)) } })),
    );
    rows.extend(status.at.as_ref().map(|at| ("Updated", times.text(at))));
    rows.extend(status.until.as_ref().map(|until| ("Next attempt", times.text(until))));
    rows.extend(number(status.attempts).map(|attempts| ("Attempts", html! { (attempts) })));
    rows.extend(number(status.round).map(|round| ("Sent again", html! { (round - 1) " ×" })));
    rows.extend(
        status.language.as_ref().map(|tag| ("Language", html! { (view::untrusted_text(tag)) })),
    );
    let provider = status.provider_id.as_ref().filter(|_| shows_ids);
    rows.extend(
        provider.map(|id| ("Mail service ID", html! { code { (view::untrusted_text(id)) } })),
    );
    view::facts(&rows)
}
