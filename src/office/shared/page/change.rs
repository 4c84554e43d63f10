//! The dashboard's side of the table of operations: a form is rendered from an operation's arguments, and runs the operation
//! when it is sent. If the operation asks a question, a page asks it.

use super::context::PageContext;
use super::facts;
use super::form::Form;
use super::host::{FormHost, PagePlatform, PagePorts, digest};
use super::item_table::new_items;
use super::listing::bounded;
use super::operation::{FIELD, before};
use super::outcome::FormOutcome;
use super::problem::{FormProblem, initial_name, item_name};
use super::refusal::{Refusal, Result};
use super::response::{Content, Page};
use super::view;
use super::view::hidden;
use crate::office::shared::operation::call;
use crate::office::shared::operation::call::{Answer, Call, Changed, Failure};
use crate::office::shared::operation::question::{Instead, Question};
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::values::{Door, Values};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::Refused;
use crate::pledges::http::percent_decode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::cell::RefCell;

/// The name of the field that confirms a question. Its value is the question's digest.
const CONFIRMED: &str = "confirmed";
/// The name of the field with the word that a person types to confirm.
const TYPED: &str = "typed";
/// The name of the field with the steps of a change so far.
const REST: &str = "rest";
/// The name of the button that leads back from the question to the form.
const BACK: &str = "back";
/// The fields that do not come from the operation's form.
const ADDED: [&str; 5] = [FIELD, CONFIRMED, TYPED, REST, BACK];
const MISSING: &str = "some fields are missing. Reload the page and try again";

/// Runs an operation with the fields of a form. `given` has the arguments that the route fixes; they replace fields of the
/// same names. Returns a page that asks for confirmation. Otherwise returns `None`, and the page that follows shows the
/// [`FormOutcome`] of the context.
///
/// # Errors
/// If the operation fails. A refusal of an argument is an outcome, not an error.
pub(crate) async fn make<'p, S, C, E, T>(
    context: &'p PageContext<'p, S, C, E>,
    spec: &'static Spec,
    form: &'p Form,
    given: &[(&str, &str)],
    run: impl AsyncFnOnce(&Call<'_, PagePorts<'p, S, C, E>>, T) -> call::Result<Answer>,
) -> Result<Option<Page>>
where
    S: OperatorStore,
    C: Clock,
    E: Entropy,
    T: DeserializeOwned,
{
    let always_asks = spec.confirms && spec.confirms_if.is_empty();
    if !context.has_operation() && !always_asks {
        return Err(Refusal::invalid(MISSING));
    }
    if form.has(BACK) {
        let entered = form.without(&ADDED);
        let _first = context.outcome.set(FormOutcome { entered, ..FormOutcome::new(spec) });
        return Ok(None);
    }
    let host = FormHost {
        by: context.author.by(),
        confirmed: if context.has_operation() { form.text(CONFIRMED) } else { "" },
        typed: form.text(TYPED),
        form,
        question: RefCell::default(),
        notes: RefCell::default(),
        outbox: context.outbox,
    };
    let platform = PagePlatform { clock: context.clock, entropy: context.entropy };
    let call = Call {
        store: context.store,
        ledger: context.ledger,
        platform: &platform,
        host: &host,
        memberships: context.is_of_shop().then_some(&context.access.memberships.0),
        operation: context.author.operation.clone(),
        rounds: context.rounds,
        rest: form.raw(REST),
    };
    let answer = match values(spec, form, given) {
        Ok(values) => run(&call, values).await,
        Err(refused) => Err(Failure::Usage(refused)),
    };
    let (answer, failure) = match answer {
        Ok(answer) => (Some(answer), None),
        Err(Failure::Partial(failure, answer)) => (Some(*answer), Some(*failure)),
        Err(failure) => (None, Some(failure)),
    };
    let problem = match failure.map(|failure| refused(failure, &host)).transpose()? {
        Some(Told::Question(question)) => {
            return Ok(Some(ask(context, form, &question, &host)));
        }
        Some(Told::Refused(refused)) => refused.into(),
        None => FormProblem::default(),
    };
    let is_done = problem.is_none();
    let notice = |answer: &Answer| {
        let next = next_step(context, form, answer.rest.as_deref());
        html! { (notice(&answer.change, &host.notes.borrow())) (next) }
    };
    let _first = context.outcome.set(FormOutcome {
        is_done,
        is_first: answer.as_ref().is_some_and(|answer| answer.change.before.is_none()),
        notice: answer.as_ref().map(notice).unwrap_or_default(),
        data: answer.map(|answer| answer.data).unwrap_or_default(),
        entered: if is_done { Form::default() } else { form.without(&ADDED) },
        problem,
        ..FormOutcome::new(spec)
    });
    Ok(None)
}

/// Reads the arguments of an operation from its form.
///
/// # Errors
/// If the form or an argument is refused.
pub(crate) fn values<T: DeserializeOwned>(
    spec: &Spec,
    form: &Form,
    given: &[(&str, &str)],
) -> Result<T, Refused> {
    form.check_file()?;
    let values = Values::check(spec, arguments(spec, form, given), Door::Form)?;
    values.read().map_err(|_| MISSING.into())
}

/// Returns the arguments of an operation as its form has them.
fn arguments(spec: &Spec, form: &Form, given: &[(&str, &str)]) -> Map<String, Value> {
    let value = |argument: &Argument| {
        if let Some((_, text)) = given.iter().find(|(name, _)| *name == argument.name) {
            let is_flag = matches!(argument.kind, Kind::Flag);
            let value = if is_flag { true.into() } else { Value::from(*text) };
            return (!text.is_empty()).then_some(value);
        }
        let is_sent = spec.is_filled_in && form.has(argument.name);
        let names = argument.field.filter(|_| matches!(argument.kind, Kind::Text { .. }));
        match argument.kind {
            _ if names.is_some_and(|field| !field.choices.is_empty()) => ticked(form, argument),
            _ if is_unchanged(form, argument.name) => None,
            Kind::Flag => form.given(argument.name).map(|_| Value::from(true)),
            _ if argument.is_repeatable => items(spec, form, argument.name),
            _ if is_sent => Some(form.text(argument.name).into()),
            _ => form.given(argument.name).map(Value::from),
        }
    };
    let all = spec.arguments.iter();
    all.filter_map(|argument| Some((argument.name.to_owned(), value(argument)?))).collect()
}

/// Returns whether a field still has the value that it had at first.
fn is_unchanged(form: &Form, name: &str) -> bool {
    let initial = initial_name(name);
    let lines = |name: &str| form.text(name).replace("\r\n", "\n");
    form.has(&initial) && form.has(name) && lines(&initial) == lines(name)
}

/// Returns the names whose boxes are ticked, separated by commas; `None` if they were ticked at first.
fn ticked(form: &Form, argument: &Argument) -> Option<Value> {
    let all = argument.field.map_or(&[][..], |field| field.choices);
    let names = all.iter().filter(|name| form.has(&item_name(argument.name, name)));
    let names = names.copied().collect::<Vec<_>>().join(",");
    let initial = initial_name(argument.name);
    let is_changed = form.has(&initial) && form.text(&initial) != names;
    is_changed.then(|| if names.is_empty() { "none".into() } else { names.into() })
}

/// Returns the values of a repeatable argument. Each has a field of its own: a field `text-de` has the item `de`.
fn items(spec: &Spec, form: &Form, name: &str) -> Option<Value> {
    let plain = form.given(name).map(str::to_owned);
    let prefix = [name, "-"].concat();
    let is_sent = |(item, text): &(&str, &str)| {
        let is_unchanged = || is_unchanged(form, &[&*prefix, item].concat());
        (spec.is_filled_in || !text.is_empty()) && !is_unchanged()
    };
    let items = form.with_prefix(&prefix).filter(is_sent);
    let items = items.map(|(item, text)| [&*percent_decode(item), "=", text].concat());
    let all: Vec<_> = plain.into_iter().chain(items).chain(new_items(form, name)).collect();
    (!all.is_empty()).then(|| all.into())
}

/// What a form that did not succeed tells the person.
enum Told {
    Question(Question),
    Refused(Refused),
}

fn refused(failure: Failure, host: &FormHost<'_>) -> Result<Told> {
    match failure {
        Failure::Usage(refused) | Failure::Operator(OperatorError::Invalid(refused)) => {
            Ok(Told::Refused(refused))
        }
        Failure::Operator(error) => Err(error.into()),
        Failure::Aborted => match host.question.take() {
            Some(question) => Ok(Told::Question(question)),
            None => Ok(Told::Refused(UNTAKEN.into())),
        },
        Failure::Partial(failure, _) => refused(*failure, host), // has no other part inside
    }
}

const UNTAKEN: &str = "the queue did not accept all messages. Try again later";

fn notice(change: &Changed, notes: &[String]) -> Markup {
    let Changed { said, facts, rows, before: at } = change;
    html! {
        (before(at.as_ref()))
        @if !said.is_empty() { (view::done(&html! { (view::inline_code(said)) })) }
        @for note in notes { (view::notice(&view::inline_code(note))) }
        @if !facts.is_empty() || !rows.rows.is_empty() { section { (facts::list(facts)) (bounded(rows)) } }
    }
}

/// Renders the form that continues a change in steps. It has all fields of the form that was sent.
fn next_step<S, C: Clock, E: Entropy>(
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
fn ask<S, C: Clock, E: Entropy>(
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

impl<S, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
    /// Returns whether the request's form was carried out.
    pub(crate) fn is_done(&self) -> bool {
        self.outcome.get().is_some_and(|outcome| outcome.is_done)
    }

    /// Returns whether this request made a change with this operation.
    pub(crate) fn has_made(&self, spec: &Spec) -> bool {
        self.outcome.get().is_some_and(|outcome| outcome.is_first && outcome.spec.is(spec))
    }

    /// Returns members of the JSON object that the request's operation answered; `None` if it does not have them.
    pub(crate) fn answered<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.outcome.get()?.data).ok()
    }

    /// Returns whether a form of the operation was refused, and this argument was entered or is what was wrong.
    pub(crate) fn is_asked_for(&self, spec: &Spec, argument: &str) -> bool {
        let refused = self.outcome.get().filter(|outcome| outcome.spec.is(spec));
        refused.is_some_and(|it| {
            it.problem.field() == Some(argument) || it.entered.given(argument).is_some()
        })
    }

    /// Adds what the form did, or why it was refused, to the page that follows it.
    pub(crate) fn with_outcome(&self, page: Page) -> Page {
        let Some(FormOutcome { notice, problem, .. }) = self.outcome.get() else { return page };
        let Content::Framed(title, content) = page.content else { return page };
        let status = if problem.is_none() { page.status } else { 422 };
        let content = html! { (notice) (problem.above(&content)) };
        Page { status, content: Content::Framed(title, content) }
    }
}
