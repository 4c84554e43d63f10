//! Shows the delivery state of a notification, and lists those that failed.

use super::parts::{ID, SERVICE};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{
    CountedGroup, EmailView, FailedMail, FailedQuery, FailureGroup, Failures,
};
use crate::office::orders::rule as transactions;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::table::{facts, paragraphs, table, time};
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
    let rows: Vec<_> = found.failed.iter().map(cells).collect();
    let list = match rows.is_empty() {
        true => "no failed e-mails or messages".to_owned(),
        false => table(["DAY", "ID", "SERVICE", "UNIT", "MODE", "NOW"], &rows),
    };
    let more = match found.more {
        true => "There are more: raise `--limit`, or choose a day with `--day`.".to_owned(),
        false => String::new(),
    };
    let by_cause = match groups.is_empty() {
        true => String::new(),
        false => table(GROUP_HEADS, &groups.iter().map(group_cells).collect::<Vec<_>>()),
    };
    let text = paragraphs([list, more, by_cause]);
    Answer::new(&FailedAnswer { found, groups }, text)
}

#[derive(Serialize)]
struct FailedAnswer {
    #[serde(flatten)]
    found: Failures,
    groups: Vec<CountedGroup>,
}

const GROUP_HEADS: [&str; 6] = ["NUMBER", "SERVICE", "UNIT", "MODE", "CAUSE", "MEANING"];

fn group_cells(CountedGroup { of, service, count, example }: &CountedGroup) -> [String; 6] {
    let FailureGroup { scope, cause } = of;
    [
        count.to_string(),
        service.name().to_owned(),
        scope.unit.clone(),
        scope.mode.name().to_owned(),
        cause.clone(),
        notifications::words(example).cause.into_owned(),
    ]
}

fn cells(FailedMail { day, id, service, now, problem }: &FailedMail) -> [String; 6] {
    let state = now.as_ref().map(|now| notifications::in_words(&now.mail));
    let unit = now.as_ref().map(|now| now.scope.unit.clone()).unwrap_or_default();
    let mode = now.as_ref().map(|now| now.scope.mode.name().to_owned()).unwrap_or_default();
    let state = problem.clone().or(state).unwrap_or_default();
    [day.clone(), id.clone(), service.name().to_owned(), unit, mode, state]
}
