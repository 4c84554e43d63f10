//! The dashboard's side of the table of operations: a form is rendered from an operation's arguments, and runs the operation
//! when it is sent. If the operation asks a question, a page asks it.

use super::context::PageContext;
use super::facts;
use super::form::Form;
use super::host::{FormHost, PagePlatform, PagePorts, digest};
use super::link;
use super::operation::{FIELD, before};
use super::outcome::FormOutcome;
use super::problem::FormProblem;
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
/// The fields of forms about a month that are in the address of their page.
const IN_ADDRESS: [&str; 3] = ["mode", "month", "list"];
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
    let host = FormHost {
        by: context.author.by(),
        confirmed: if context.has_operation() { form.text(CONFIRMED) } else { "" },
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
            return Ok(Some(ask(context, form, &question, &host.notes.borrow())));
        }
        Some(Told::Refused(refused)) => refused.into(),
        None => FormProblem::default(),
    };
    let notes = host.notes.into_inner();
    let _first = context.outcome.set(outcome(spec, answer, &notes, (form, problem)));
    Ok(None)
}

fn values<T: DeserializeOwned>(
    spec: &Spec,
    form: &Form,
    given: &[(&str, &str)],
) -> Result<T, Refused> {
    form.check_file()?;
    let values = Values::check(spec, arguments(spec, form, given), Door::Form)?;
    values.read().map_err(|_| MISSING.into())
}

fn outcome(
    spec: &'static Spec,
    answer: Option<Answer>,
    notes: &[String],
    (form, problem): (&Form, FormProblem),
) -> FormOutcome {
    let (data, change) = answer.map(|answer| (answer.data, answer.change)).unzip();
    FormOutcome {
        spec,
        is_first: change.as_ref().is_some_and(|change| change.before.is_none()),
        data: data.unwrap_or_default(),
        notice: change.map(|change| notice(&change, notes)).unwrap_or_default(),
        entered: if problem.is_none() { Form::default() } else { form.clone() },
        problem,
    }
}

/// Returns the arguments of an operation as its form has them.
fn arguments(spec: &Spec, form: &Form, given: &[(&str, &str)]) -> Map<String, Value> {
    let value = |argument: &Argument| {
        if let Some((_, text)) = given.iter().find(|(name, _)| *name == argument.name) {
            let is_flag = matches!(argument.kind, Kind::Flag);
            return Some(if is_flag { true.into() } else { Value::from(*text) });
        }
        let is_sent = spec.is_filled_in && form.has(argument.name);
        match argument.kind {
            Kind::Flag => form.given(argument.name).map(|_| Value::from(true)),
            _ if argument.is_repeatable => items(spec, form, argument.name),
            _ if is_sent => Some(form.text(argument.name).into()),
            _ => form.given(argument.name).map(Value::from),
        }
    };
    let all = spec.arguments.iter();
    all.filter_map(|argument| Some((argument.name.to_owned(), value(argument)?))).collect()
}

/// Returns the values of a repeatable argument. Each has a field of its own: a field `text-de` has the item `de`.
fn items(spec: &Spec, form: &Form, name: &str) -> Option<Value> {
    let plain = form.given(name).map(str::to_owned);
    let prefix = [name, "-"].concat();
    let is_sent = |(_, text): &(&str, &str)| spec.is_filled_in || !text.is_empty();
    let items = form.with_prefix(&prefix).filter(is_sent);
    let items = items.map(|(item, text)| [&*percent_decode(item), "=", text].concat());
    let all: Vec<_> = plain.into_iter().chain(items).collect();
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
            None => Err(Refusal::invalid("nothing was done: the queue does not accept messages")),
        },
        Failure::Partial(failure, _) => refused(*failure, host), // has no other part inside
    }
}

fn notice(change: &Changed, notes: &[String]) -> Markup {
    let Changed { said, facts, before: at } = change;
    html! {
        (before(at.as_ref()))
        (view::done(&html! { (view::inline_code(said)) }))
        @for note in notes { (view::notice(&view::inline_code(note))) }
        @if !facts.is_empty() { section { (facts::list(facts)) } }
    }
}

/// Renders the page that asks a question. Its form has all fields of the form that was sent.
fn ask<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    question: &Question,
    notes: &[String],
) -> Page {
    let kept = form.fields().filter(|(name, _)| ![FIELD, CONFIRMED].contains(name));
    let kept: Vec<_> = kept.collect();
    let fields = html! {
        @for (name, value) in &kept { (hidden(name, value)) }
        (hidden(CONFIRMED, &digest(question)))
        button.alarm { (question.button) }
    };
    let is_other = form.given(CONFIRMED).is_some();
    let content = html! {
        @if is_other {
            (view::problem("nothing was changed: the records have changed since you opened this page. Check them below"))
        }
        @for note in notes { (view::notice(&view::inline_code(note))) }
        section {
            (facts::list(&question.facts))
            @for paragraph in question.effect.split("\n\n").filter(|text| !text.is_empty()) {
                p { (view::inline_code(paragraph)) }
            }
            div.row {
                @if let Some(instead) = &question.instead { (instead_form(context, &kept, instead)) }
                (context.form(context.path, &fields))
            }
        }
        p { "Nothing was changed yet. " a href=(address_back(context.back, &kept)) { "Back" } }
    };
    let status = if is_other { 422 } else { 200 };
    Page { status, ..Page::new(question.ask.replace('`', ""), content) }
}

/// Returns the address of the page with the form that was sent. The address of a page about a month names the month.
fn address_back(page: &str, kept: &[(&str, &str)]) -> String {
    let is_of_month = kept.iter().any(|(name, _)| *name == "month");
    let query = kept.iter().filter(|(name, _)| is_of_month && IN_ADDRESS.contains(name));
    link::with(page, &query.copied().collect::<Vec<_>>())
}

/// Renders the form with the arguments that the person may have meant instead. Renders nothing if the form does not have
/// these arguments, because its page fixes them.
fn instead_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    kept: &[(&str, &str)],
    Instead { button, arguments }: &Instead,
) -> Markup {
    let other =
        |name: &str| arguments.iter().find(|(own, _)| *own == name).map(|(_, value)| &**value);
    let fields = html! {
        @for (name, value) in kept { (hidden(name, other(name).unwrap_or(value))) }
        button { (button) }
    };
    let has = |name: &str| kept.iter().any(|(own, _)| *own == name);
    html! { @if arguments.iter().all(|(name, _)| has(name)) { (context.form(context.path, &fields)) } }
}

/// Returns a page that asks a question, unless the form already confirms it. For forms that are not generated from an
/// operation.
pub(crate) fn question_page<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
    question: &Question,
) -> Option<Page> {
    (form.text(CONFIRMED) != digest(question)).then(|| ask(context, form, question, &[]))
}

impl<S, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
    /// Returns whether the request's form was carried out.
    pub(crate) fn is_done(&self) -> bool {
        self.outcome.get().is_some_and(|outcome| outcome.problem.is_none())
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
