//! Shows the delivery state of a notification, and lists those that failed.

use super::parts::{ID, SERVICE};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{CountedGroup, EmailView, FailedMail, FailedQuery, Failures};
use crate::office::orders::rule as transactions;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::table::{facts, paragraphs, time};
use crate::office::shared::operation::unit_names::UnitNames;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::Clock as _;
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};

pub const SHOW: Spec =
    Spec::reads("emails", "show", "print the delivery state of a transaction's e-mail or message", &[ID, SERVICE])
.permission(Permission::Support)
.answers("`id`, `mode`, `unit`, `reference`, `createdAt`; `recipient`: the masked address; `mail`: `state` (see [E-mails](emails.md#check-preview-and-resend)) and, if known, `service` (left out for an e-mail), `reason`, `round`, `at`, `until`, `attempts`, `providerId`, `language`, `cancelled` (when the transaction was cancelled)");

#[derive(Deserialize)]
pub struct EmailArguments {
    id: String,
    #[serde(default)]
    service: NotificationService,
}

pub async fn show<P: Ports>(
    call: &Call<'_, P>,
    EmailArguments { id, service }: EmailArguments,
) -> Result<Answer> {
    let shown = shown(call, &id, service).await?;
    let text = facts([
        ("ID", Some(shown.id.clone())),
        ("Created", Some(time(&shown.created_at))),
        ("Mode", Some(shown.scope.mode.name().to_owned())),
        ("Unit", Some(shown.scope.unit.clone())),
        ("Recipient", Some(shown.recipient.clone())),
        (label(service), Some(notifications::in_words(&shown.mail))),
    ]);
    Answer::new(&shown, text)
}

async fn shown<P: Ports>(
    call: &Call<'_, P>,
    id: &str,
    service: NotificationService,
) -> Result<EmailView> {
    let record = transactions::get(call.store, id).await?;
    Ok(notifications::show(call.store, call.platform, &record, service).await?)
}

/// Returns the label under which commands print a notification of this service.
fn label(service: NotificationService) -> &'static str {
    if service.is_email() { "E-mail" } else { service.name() }
}

pub const FAILED: Spec = Spec::reads(
    "emails",
    "failed",
    "list the e-mails and messages that failed, newest first, with their current delivery state, and count them by unit and cause",
    &[
        Argument::option("day", Kind::Day, "only e-mails and messages that failed on this day, in UTC"),
        SERVICE.about("only notifications of this service"),
        Argument::option("limit", Kind::Number { least: 1, most: 1_000 }, "the largest number of rows to print")
            .or("20"),
    ],
)
.permission(Permission::Support)
.answers(
    "`failed`: for each `day`, `id`, `service` (left out for an e-mail), and `now` with the members of `emails show`, or a `problem`; `more`: whether there are more; `groups`: for each unit, mode, service and cause `unit`, `mode`, `service` (left out for an e-mail), `cause`: the code of the cause, and `count`",
);

#[derive(Deserialize)]
pub struct Failed {
    day: Option<String>,
    service: Option<NotificationService>,
    limit: usize,
}

pub async fn failed<P: Ports>(call: &Call<'_, P>, asked: Failed) -> Result<Answer> {
    let Failed { day, service, limit } = asked;
    let query = FailedQuery { day, service, limit, ..FailedQuery::default() };
    let found = notifications::failed(call.store, call.platform, &query).await?;
    let groups = notifications::groups(call.store, call.ledger, call.platform.now_ms()).await?;
    let more = match found.more {
        true => "There are more: raise `--limit`, or choose a day with `--day`.".to_owned(),
        false => String::new(),
    };
    let by_cause = by_cause(&groups, &UnitNames::default());
    let text = paragraphs([listing(&found.failed).in_lines(), more, by_cause.in_lines()]);
    Answer::new(&FailedAnswer { found, groups }, text)
}

#[derive(Serialize)]
struct FailedAnswer {
    #[serde(flatten)]
    found: Failures,
    groups: Vec<CountedGroup>,
}

/// Returns the failures by unit and cause.
pub(crate) fn by_cause(groups: &[CountedGroup], names: &UnitNames) -> Listing {
    Listing::new(
        groups,
        "",
        &[
            ("Unit", &|it| names.unit(&it.of.scope.unit)),
            ("Mode", &|it| Fact::Mode(it.of.scope.mode)),
            ("Service", &|it| Fact::words(it.service.name())),
            ("Cause", &|it| Fact::Message(notifications::words(&it.example).cause.into_owned())),
            ("Code", &|it| Fact::Text(it.of.cause.clone())),
            ("Number", &|it| Fact::number(it.count)),
        ],
    )
}

fn listing(failed: &[FailedMail]) -> Listing {
    let now = |it: &FailedMail, of: &dyn Fn(&EmailView) -> Fact| {
        it.now.as_ref().map_or_else(Fact::none, of)
    };
    Listing::new(
        failed,
        "No failed e-mails or messages.",
        &[
            ("Day", &|it| Fact::Day(it.day.clone())),
            ("ID", &|it| Fact::transaction(&it.id)),
            ("Service", &|it| Fact::words(it.service.name())),
            ("Unit", &|it| now(it, &|now| Fact::unit(&now.scope.unit))),
            ("Mode", &|it| now(it, &|now| Fact::Mode(now.scope.mode))),
            ("Now", &|it| match &it.problem {
                Some(problem) => Fact::Message(problem.clone()),
                None => now(it, &|now| Fact::Message(notifications::in_words(&now.mail))),
            }),
        ],
    )
}
