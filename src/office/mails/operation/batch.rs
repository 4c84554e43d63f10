//! Resends or dismisses many failed notifications, in steps.

use super::parts::{CAUSE, Group, MODE, NOTHING_SENT, SERVICE, UNIT, all_of};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{BatchQuery, BatchStep, FailureGroup};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::operation::steps::Steps;
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::reason::check_reason;
use crate::office::shared::rule::refused::Refused;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};

/// Largest number of e-mails and messages that one step of a command handles.
const STEP: usize = 100;
/// Largest number of e-mails and messages that the dashboard resends in a step.
const PAGE_STEP: usize = 20;

/// The sums of all steps.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sums {
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    queued: usize,
    already_queued: usize,
    ended: usize,
    refused: Vec<(String, String)>,
}

impl Sums {
    fn add(&mut self, step: BatchStep) {
        self.queued += step.queued;
        self.already_queued += step.before;
        self.ended += step.ended;
        self.refused.extend(step.refused);
    }

    fn facts(&self) -> Facts {
        [
            ("Queued", self.queued),
            ("Already queued", self.already_queued),
            ("Sent, skipped or failed again in the meantime", self.ended),
            ("Cannot be sent", self.refused.len()),
        ]
        .map(|(label, count)| (label, Fact::Words(count.to_string())))
        .to_vec()
    }

    fn refused(&self) -> Listing {
        Listing::new(
            &self.refused,
            "",
            &[
                ("Transaction", &|(id, _)| Fact::transaction(id)),
                ("Why it cannot be sent", &|(_, why)| Fact::Message(why.clone())),
            ],
        )
    }
}

/// Says whether all notifications were handled.
fn said<T>(steps: &Steps<T>) -> &'static str {
    match steps.next {
        Some(_) => "There are more of these notifications.",
        None => "All of these notifications were processed.",
    }
}

// ---- Resend --------------------------------------------------------------------------------------

pub(super) async fn resend_batch<P: Ports>(
    call: &Call<'_, P>,
    query: BatchQuery,
) -> Result<Answer> {
    call.host.open_queue().await?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let count = if call.host.is_page() { PAGE_STEP } else { STEP };
    let begin = async || {
        call.confirm(question_of_resend(&query)).await?;
        Ok(Sums { day: query.day.clone(), ..Sums::default() })
    };
    let step = async |steps: &mut Steps<Sums>| {
        let query = BatchQuery { from: steps.next.take(), count, ..query.clone() };
        let (store, ledger, rounds) = (call.store, call.ledger, call.rounds);
        let done =
            notifications::resend_batch(store, ledger, &author, call.host, rounds, &query).await?;
        let is_untaken = done.outcome.untaken;
        steps.next = done.outcome.next.clone();
        steps.done.add(done.outcome);
        if is_untaken { Err(Failure::Aborted) } else { Ok(()) }
    };
    let (steps, failure) = call.in_steps(begin, step).await?;
    let sums = &steps.done;
    let change = Changed::new(said(&steps), sums.facts()).with_rows(sums.refused());
    let answer = Answer { rest: steps.rest()?, ..Answer::of(sums, change)? };
    match failure {
        Some(Failure::Aborted) => {
            Err(Failure::Partial(Box::new(Failure::Aborted), Box::new(answer)))
        }
        Some(failure) => Err(failure),
        None => Ok(answer),
    }
}

/// Returns the question before failed notifications are resent.
fn question_of_resend(query: &BatchQuery) -> Question {
    let ask = format!("Resend all {} and have not been sent since then?", what(query));
    Question::new(ask, NOTHING_SENT).button("Resend")
}

/// Returns words such as `e-mails of the unit shop (live) that failed because of no-more-attempts`.
fn what(BatchQuery { day, service, group, .. }: &BatchQuery) -> String {
    let unit = group.as_ref().map(|FailureGroup { scope, .. }| {
        format!(" of the unit {} ({})", scope.unit, scope.mode.name())
    });
    let day = day.as_ref().map(|day| format!(" on {day}"));
    let cause = group.as_ref().map(|group| format!(" because of `{}`", group.cause));
    let [unit, day, cause] = [unit, day, cause].map(Option::unwrap_or_default);
    [&*all_of(*service), &unit, " that failed", &day, &cause].concat()
}

// ---- Dismiss -------------------------------------------------------------------------------------

pub const DISMISS: Spec = Spec::changes(
    "emails",
    "dismiss",
    "take all e-mails and messages of a unit that failed for the same cause off the list of failures",
    &[
        UNIT.about("the unit").required(),
        CAUSE.required(),
        MODE.about("which transactions: live or test").or("live"),
        SERVICE.about("only notifications of this service"),
        Argument::option("reason", text("text"), "why they are not resent, for the audit log")
            .required()
            .field("Reason", ""),
    ],
)
.confirmed()
.button("Dismiss")
.permission(Permission::Support)
.answers("`dismissed`: the number of e-mails and messages that were taken off the list")
.noted("The delivery states stay as they are. What fails again is listed again.");

#[derive(Deserialize)]
pub struct Dismiss {
    #[serde(flatten)]
    group: Group,
    service: Option<NotificationService>,
    reason: String,
}

impl Dismiss {
    fn what(self) -> Result<(BatchQuery, String), Refused> {
        let Dismiss { group, service, reason } = self;
        let group = group.what()?;
        let reason = reason.trim().to_owned();
        check_reason(&reason)?;
        Ok((BatchQuery { service, group, count: STEP, ..BatchQuery::default() }, reason))
    }
}

pub fn check_dismiss(values: &Values) -> Result<(), Refused> {
    values.read::<Dismiss>()?.what().map(drop)
}

pub async fn dismiss<P: Ports>(call: &Call<'_, P>, asked: Dismiss) -> Result<Answer> {
    let (query, reason) = asked.what().map_err(Failure::Usage)?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let begin = async || {
        call.confirm(question_of_dismissal(&query)).await?;
        Ok(Dismissed::default())
    };
    let step = async |steps: &mut Steps<Dismissed>| {
        let query = BatchQuery { from: steps.next.take(), ..query.clone() };
        let done =
            notifications::dismiss_batch(call.store, call.ledger, &author, (&query, &reason))
                .await?;
        steps.done.dismissed += done.outcome.dismissed;
        steps.next = done.outcome.next;
        Ok(())
    };
    let (steps, failure) = call.in_steps(begin, step).await?;
    let count = Fact::Words(steps.done.dismissed.to_string());
    let change = Changed::new(said(&steps), vec![("Dismissed", count)]);
    let answer = Answer { rest: steps.rest()?, ..Answer::of(&steps.done, change)? };
    failure.map_or(Ok(answer), Err)
}

#[derive(Default, Serialize, Deserialize)]
struct Dismissed {
    dismissed: usize,
}

/// Returns the question before failed notifications are dismissed.
fn question_of_dismissal(query: &BatchQuery) -> Question {
    let ask = format!("Take all {} off the list of failures?", what(query));
    Question::new(ask, "nothing was dismissed").button("Dismiss")
}
