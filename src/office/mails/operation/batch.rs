//! Resends or dismisses many failed notifications, in steps.

use super::parts::{CAUSE, Group, MODE, NOTHING_SENT, SERVICE, UNIT, all_of};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{BatchQuery, BatchStep, FailureGroup, QueuedRounds};
use crate::office::shared::operation::call::{Answer, Call, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Spec, text};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::reason::check_reason;
use crate::office::shared::rule::refused::Refused;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};

/// Largest number of e-mails and messages that one step of a command handles.
const STEP: usize = 100;

/// The sums of all steps.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sums {
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<String>,
    queued: usize,
    already_queued: usize,
    ended: usize,
    #[serde(skip)]
    dismissed: usize,
    refused: Vec<(String, String)>,
}

impl Sums {
    /// Adds the counts of a step. Returns where the next step begins; `None` after the last step.
    fn add(&mut self, step: BatchStep) -> Option<String> {
        self.queued += step.queued;
        self.already_queued += step.before;
        self.ended += step.ended;
        self.dismissed += step.dismissed;
        self.refused.extend(step.refused);
        step.next
    }

    fn in_words(&self) -> String {
        let counts = format!(
            "Queued: {}\nAlready queued: {}\nSent, skipped or failed again in the meantime: {}\nCannot \
             be sent: {}",
            self.queued,
            self.already_queued,
            self.ended,
            self.refused.len()
        );
        let refused = self.refused.iter().map(|(id, why)| format!("{id}: {why}"));
        std::iter::once(counts).chain(refused).collect::<Vec<_>>().join("\n")
    }
}

// ---- Resend --------------------------------------------------------------------------------------

pub(super) async fn resend_batch<P: Ports>(
    call: &Call<'_, P>,
    query: BatchQuery,
) -> Result<Answer> {
    call.host.open_queue().await?;
    call.confirm(question_of_resend(&query)).await?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let mut sums = Sums { day: query.day.clone(), ..Sums::default() };
    let mut from = None;
    loop {
        let query = BatchQuery { from, count: STEP, ..query.clone() };
        let rounds = QueuedRounds::default();
        let (store, ledger) = (call.store, call.ledger);
        let step = notifications::resend_batch(store, ledger, &author, call.host, &rounds, &query);
        let step = step.await?.outcome;
        let is_untaken = step.untaken;
        from = sums.add(step);
        if is_untaken {
            let answer = Answer::new(&sums, sums.in_words())?;
            return Err(Failure::Partial(Box::new(Failure::Aborted), Box::new(answer)));
        }
        if from.is_none() {
            return Answer::new(&sums, sums.in_words());
        }
    }
}

/// Returns the question before failed notifications are resent.
pub(crate) fn question_of_resend(query: &BatchQuery) -> Question {
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
            .required(),
    ],
)
.confirmed()
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
        Ok((BatchQuery { service, group, ..BatchQuery::default() }, reason))
    }
}

pub fn check_dismiss(values: &Values) -> Result<(), Refused> {
    values.read::<Dismiss>()?.what().map(drop)
}

pub async fn dismiss<P: Ports>(call: &Call<'_, P>, asked: Dismiss) -> Result<Answer> {
    let (query, reason) = asked.what().map_err(Failure::Usage)?;
    call.confirm(question_of_dismissal(&query)).await?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let mut sums = Sums::default();
    let mut from = None;
    loop {
        let query = BatchQuery { from, count: STEP, ..query.clone() };
        let step =
            notifications::dismiss_batch(call.store, call.ledger, &author, (&query, &reason));
        from = sums.add(step.await?.outcome);
        if from.is_none() {
            return Answer::new(
                &Dismissed { dismissed: sums.dismissed },
                format!("Dismissed: {}", sums.dismissed),
            );
        }
    }
}

#[derive(Serialize)]
struct Dismissed {
    dismissed: usize,
}

/// Returns the question before failed notifications are dismissed.
pub(crate) fn question_of_dismissal(query: &BatchQuery) -> Question {
    let ask = format!("Take all {} off the list of failures?", what(query));
    Question::new(ask, "nothing was dismissed").button("Dismiss")
}
