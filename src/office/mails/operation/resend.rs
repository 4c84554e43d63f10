//! Resends one notification, or many.

use super::batch::resend_batch;
use super::parts::{CAUSE, Group, ID, MODE, NOTHING_SENT, SERVICE, UNIT};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{BatchQuery, EmailView, Resent, State, Status};
use crate::office::orders::rule as transactions;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::Facts;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::delays::MAILED_SECONDS;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Mode;
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};

pub const RESEND: Spec = Spec::changes(
    "emails",
    "resend",
    "resend a transaction's e-mail or message, or all that failed on a day or for the same cause",
    &[
        ID.optional(),
        SERVICE.about("the notification service; by default `Email`, with `--failed-on` or `--cause` all"),
        Argument::option(
            "failed-on",
            Kind::Day,
            "resend all e-mails and messages that failed on this day, in UTC, each once",
        ),
        UNIT,
        CAUSE,
        MODE,
        Argument::option("again", Kind::Flag, "resend the notification even if it is already queued"),
    ],
)
.confirmed()
.button("Resend")
.queued()
.permission(Permission::Support)
.answers(
    "`id`, `createdAt`, `round`, `service` (left out for an e-mail): the message that was queued; `before`: the `mail` of `emails show` before that. If it was already queued: `id`, `queued` (`false`), `before`. With `--failed-on` or `--cause`: `day`, if you gave it; `queued`, `alreadyQueued`, `ended`: numbers of e-mails and messages that were queued now, were queued before, or were sent, skipped or failed again since; `refused`: pairs of an ID and the reason why it cannot be sent",
);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Resend {
    id: Option<String>,
    service: Option<NotificationService>,
    failed_on: Option<String>,
    #[serde(flatten)]
    group: Group,
    #[serde(default)]
    again: bool,
}

enum Resending {
    One { id: String, service: NotificationService, is_again: bool },
    Batch(BatchQuery),
}

impl Resend {
    fn what(self) -> Result<Resending, Refused> {
        let Resend { id, service, failed_on: day, group, again } = self;
        let group = group.what()?;
        match id {
            Some(id) if day.is_none() && group.is_none() => {
                let service = service.unwrap_or_default();
                Ok(Resending::One { id, service, is_again: again })
            }
            None if (day.is_some() || group.is_some()) && !again => {
                Ok(Resending::Batch(BatchQuery { day, service, group, ..BatchQuery::default() }))
            }
            None if again => {
                let problem = "`--again` is for the ID of one transaction";
                Err(Refused::at("again", RefusalCode::NotAllowed, problem))
            }
            _ => Err(
                "give either the ID of a transaction, or `--failed-on`, or `--unit` and `--cause`"
                    .into(),
            ),
        }
    }
}

pub fn check(values: &Values) -> Result<(), Refused> {
    values.read::<Resend>()?.what().map(drop)
}

pub async fn resend<P: Ports>(call: &Call<'_, P>, asked: Resend) -> Result<Answer> {
    match asked.what().map_err(Failure::Usage)? {
        Resending::One { id, service, is_again } => {
            resend_one(call, (&id, service), is_again).await
        }
        Resending::Batch(query) => resend_batch(call, query).await,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Queued<'q> {
    id: &'q str,
    created_at: &'q str,
    round: u32,
    #[serde(skip_serializing_if = "NotificationService::is_email")]
    service: NotificationService,
    before: &'q Status,
}

#[derive(Serialize)]
struct NotQueued<'q> {
    id: &'q str,
    queued: bool,
    before: &'q Status,
}

async fn resend_one<P: Ports>(
    call: &Call<'_, P>,
    (id, service): (&str, NotificationService),
    is_again: bool,
) -> Result<Answer> {
    let record = transactions::get(call.store, id).await?;
    let EmailView { scope, recipient, mail, .. } =
        notifications::show(call.store, call.platform, &record, service).await?;
    let message = notifications::next_message(call.store, &record, &mail).await?;
    call.host.open_queue().await?;
    let now = notifications::in_words(&mail);
    let was_done = call.was_done().await?;
    let is_queued = mail.state == State::Waiting && mail.round.is_some();
    if is_queued && !is_again && !call.host.is_page() {
        let text = format!(
            "The notification is already queued, and was not queued again: {now}. To send it a second \
             time, use `--again`."
        );
        return Answer::new(&NotQueued { id, queued: false, before: &mail }, text);
    }
    let round = message.round;
    if !was_done {
        let to = match (scope.mode, service.is_email()) {
            (Mode::Test, true) => "the address of MAIL_TEST_TO",
            _ => &recipient,
        };
        let risk = notifications::risk_in_words(&mail);
        let ask = format!("Send the {} of {id} to {to} (round {round})?", noun(service));
        let effect = format!("Delivery state: {now}. {risk}.");
        call.confirm(Question::new(ask, NOTHING_SENT).effect(effect).button("Send it again"))
            .await?;
    }
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let (store, ledger, rounds) = (call.store, call.ledger, call.rounds);
    let resent =
        notifications::queue_round(store, ledger, &author, call.host, rounds, &message).await?;
    let said = match resent.outcome {
        Resent::Untaken => return Err(Failure::Aborted), // the host keeps the queue's error
        Resent::Before => {
            "The notification is already queued, and was not queued again.".to_owned()
        }
        Resent::Queued => format!("The notification is queued as round {round}."),
    };
    let said = format!("{said} Its delivery state is known after about {MAILED_SECONDS} s.");
    let (id, created_at) = (&*message.id, &*message.created_at);
    let queued = resent.map(|_| Queued { id, created_at, round, service, before: &mail });
    Answer::changed(&queued, Changed::new(said, Facts::new()))
}

/// Returns words such as `e-mail` or `message by MessagingServiceA`.
fn noun(service: NotificationService) -> String {
    match service.is_email() {
        true => "e-mail".to_owned(),
        false => format!("message by {}", service.name()),
    }
}
