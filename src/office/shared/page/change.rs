//! The dashboard's side of the table of operations: a form is rendered from an operation's arguments, and runs the operation
//! when it is sent. If the operation asks a question, a page asks it.

use super::arguments::MISSING;
pub(crate) use super::arguments::values;
use super::ask::{ADDED, BACK, CONFIRMED, REST, TYPED, ask, next_step};
use super::context::PageContext;
use super::facts;
use super::form::Form;
use super::host::{FormHost, PagePlatform, PagePorts};
use super::listing::bounded;
use super::operation::before;
use super::outcome::FormOutcome;
use super::problem::FormProblem;
use super::refusal::{Refusal, Result};
use super::response::{Content, Page};
use super::view;
use crate::office::shared::operation::call;
use crate::office::shared::operation::call::{Answer, Call, Changed, Failure};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::Spec;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::Refused;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};
use serde::de::DeserializeOwned;
use std::cell::RefCell;

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
