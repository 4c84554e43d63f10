//! The pages between a form and its change: the question before it, and the button that continues a change in steps.

use super::context::PageContext;
use super::facts;
use super::form::Form;
use super::host::{FormHost, digest};
use super::listing::bounded;
use super::operation::FIELD;
use super::problem::FormProblem;
use super::response::Page;
use super::view;
use super::view::hidden;
use crate::office::shared::operation::question::{Instead, Question};
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// The name of the field that confirms a question. Its value is the question's digest.
pub(super) const CONFIRMED: &str = "confirmed";
/// The name of the field with the word that a person types to confirm.
pub(super) const TYPED: &str = "typed";
/// The name of the field with the steps of a change so far.
pub(super) const REST: &str = "rest";
/// The name of the button that leads back from the question to the form.
pub(super) const BACK: &str = "back";
/// The fields that do not come from the operation's form.
pub(super) const ADDED: [&str; 5] = [FIELD, CONFIRMED, TYPED, REST, BACK];

/// Renders the form that continues a change in steps. It has all fields of the form that was sent.
pub(super) fn next_step<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    rest: Option<&str>,
) -> Markup {
    let fields = html! {
        @for (name, value) in form.without(&ADDED).fields() { (hidden(name, value)) }
        @if let Some(rest) = rest { (hidden(REST, rest)) }
        button { "Continue" }
    };
    html! { @if rest.is_some() { (context.form(context.path, &fields)) } }
}

/// Renders the page that asks a question. Its form has all fields of the form that was sent.
pub(super) fn ask<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    question: &Question,
    host: &FormHost<'_>,
) -> Page {
    let kept = form.without(&ADDED);
    let digest = digest(question);
    let is_other = !host.confirmed.is_empty() && host.confirmed != digest;
    let problem = match host.confirmed == digest {
        true => FormProblem::at(
            TYPED,
            format!("nothing was changed: type “{}” to confirm", question.typed),
        ),
        false => FormProblem::default(),
    };
    let typed = view::Field {
        name: TYPED,
        label: &format!("Type “{}” to confirm", question.typed),
        required: true,
        problem: problem.of(TYPED),
        ..view::Field::default()
    };
    let fields = html! {
        @for (name, value) in kept.fields() { (hidden(name, value)) }
        (hidden(CONFIRMED, &digest))
        @if !question.typed.is_empty() { (typed.render()) }
        div.row {
            button.alarm { (question.button) }
            button.quiet name=(BACK) value="yes" formnovalidate { "Back" }
        }
    };
    let content = html! {
        @if is_other {
            (view::problem("nothing was changed: the records have changed since you opened this page. Check them below"))
        }
        @for note in &*host.notes.borrow() { (view::notice(&view::inline_code(note))) }
        section {
            (facts::list(&question.facts))
            (bounded(&question.rows))
            @for paragraph in question.effect.split("\n\n").filter(|text| !text.is_empty()) {
                p { (view::inline_code(paragraph)) }
            }
            @if let Some(instead) = &question.instead { (instead_form(context, &kept, instead)) }
            (context.form(context.path, &fields))
        }
        p { "Nothing was changed yet." }
    };
    let status = if is_other || !problem.is_none() { 422 } else { 200 };
    Page { status, ..Page::new(question.ask.replace('`', ""), problem.above(&content)) }
}

/// Renders the form with the arguments that the person may have meant instead. Renders nothing if the form does not have
/// these arguments, because its page fixes them.
fn instead_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    kept: &Form,
    Instead { button, arguments }: &Instead,
) -> Markup {
    let other =
        |name: &str| arguments.iter().find(|(own, _)| *own == name).map(|(_, value)| &**value);
    let fields = html! {
        @for (name, value) in kept.fields() { (hidden(name, other(name).unwrap_or(value))) }
        button { (button) }
    };
    html! { @if arguments.iter().all(|(name, _)| kept.has(name)) { (context.form(context.path, &fields)) } }
}
