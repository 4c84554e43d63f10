//! Operations on notifications of recipients: e-mails, and messages by messaging services.

use super::rule as notifications;
use super::rule::{
    DayQuery, DayStep, EmailView, FailedMail, FailedQuery, QueuedRounds, Resent, State, Status,
};
use crate::office::orders::rule as transactions;
use crate::office::shared::operation::call::{Answer, Call, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::{facts, paragraphs, table, time};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::delays::MAILED_SECONDS;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::scope::Mode;
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};

/// The option that selects the service of a notification. Without this option, a command is about e-mails.
const SERVICE: Argument = Argument::option(
    "service",
    Kind::Choice {
        choices: &["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"],
    },
    "the notification service; by default, `Email`",
);

const ID: Argument = Argument::positional("id", text("id"), "the ID of the transaction");

// ---- Show and list -------------------------------------------------------------------------------

pub const SHOW: Spec =
    Spec::reads("emails", "show", "print the delivery state of a transaction's e-mail or message", &[ID, SERVICE])
.permission(Permission::Support)
.answers("`id`, `mode`, `unit`, `createdAt`; `recipient`: the masked address; `mail`: `state` (see [E-mails](emails.md#check-preview-and-resend)) and, if known, `service` (left out for an e-mail), `reason`, `round`, `at`, `until`, `attempts`, `providerId`, `language`, `cancelled` (when the transaction was cancelled)");

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
pub(crate) fn label(service: NotificationService) -> &'static str {
    if service.is_email() { "E-mail" } else { service.name() }
}

pub const FAILED: Spec = Spec::reads(
    "emails",
    "failed",
    "list the e-mails and messages that failed, newest first, with their current delivery state",
    &[
        Argument::option("day", Kind::Day, "only e-mails and messages that failed on this day, in UTC"),
        SERVICE.about("only notifications of this service"),
        Argument::option("limit", Kind::Number { least: 1, most: 1_000 }, "the largest number of rows to print")
            .or("20"),
    ],
)
.permission(Permission::Support)
.answers(
    "`failed`: for each `day`, `id`, `service` (left out for an e-mail), and `now` with the members of `emails show`, or a `problem`; `more`: whether there are more",
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
    let rows: Vec<_> = found.failed.iter().map(cells).collect();
    let list = match rows.is_empty() {
        true => "no failed e-mails or messages".to_owned(),
        false => table(["DAY", "ID", "SERVICE", "UNIT", "MODE", "NOW"], &rows),
    };
    let more = match found.more {
        true => "There are more: raise `--limit`, or choose a day with `--day`.".to_owned(),
        false => String::new(),
    };
    Answer::new(&found, paragraphs([list, more]))
}

fn cells(FailedMail { day, id, service, now, problem }: &FailedMail) -> [String; 6] {
    let state = now.as_ref().map(|now| notifications::in_words(&now.mail));
    let unit = now.as_ref().map(|now| now.scope.unit.clone()).unwrap_or_default();
    let mode = now.as_ref().map(|now| now.scope.mode.name().to_owned()).unwrap_or_default();
    let state = problem.clone().or(state).unwrap_or_default();
    [day.clone(), id.clone(), service.name().to_owned(), unit, mode, state]
}

// ---- Resend --------------------------------------------------------------------------------------

pub const RESEND: Spec = Spec::changes(
    "emails",
    "resend",
    "resend a transaction's e-mail or message, or all that failed on a day",
    &[
        ID.optional(),
        SERVICE.about("the notification service; by default `Email`, with `--failed-on` all"),
        Argument::option(
            "failed-on",
            Kind::Day,
            "resend all e-mails and messages that failed on this day, in UTC, each once",
        ),
        Argument::option("again", Kind::Flag, "resend the notification even if it is already queued"),
    ],
)
.confirmed()
.queued()
.permission(Permission::Support)
.answers(
    "`id`, `createdAt`, `round`, `service` (left out for an e-mail): the message that was queued; `before`: the `mail` of `emails show` before that. If it was already queued: `id`, `queued` (`false`), `before`. With `--failed-on`: `day`; `queued`, `alreadyQueued`, `ended`: numbers of e-mails and messages that were queued now, were queued before, or were sent, skipped or failed again since; `refused`: pairs of an ID and the reason why it cannot be sent",
);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Resend {
    id: Option<String>,
    service: Option<NotificationService>,
    failed_on: Option<String>,
    #[serde(default)]
    again: bool,
}

enum Resending {
    One { id: String, service: NotificationService, is_again: bool },
    Day(String, Option<NotificationService>),
}

impl Resend {
    fn what(self) -> Result<Resending, Refused> {
        match self {
            Resend { id: Some(id), failed_on: None, again, service } => {
                let service = service.unwrap_or_default();
                Ok(Resending::One { id, service, is_again: again })
            }
            Resend { id: None, failed_on: Some(day), again: false, service } => {
                Ok(Resending::Day(day, service))
            }
            Resend { id: None, failed_on: Some(_), again: true, .. } => {
                let problem = "`--again` is for the ID of one transaction, not for `--failed-on`";
                Err(Refused::at("again", RefusalCode::NotAllowed, problem))
            }
            _ => Err("give either the ID of a transaction, or `--failed-on`".into()),
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
        Resending::Day(day, service) => resend_day(call, &day, service).await,
    }
}

const NOTHING_SENT: &str = "nothing was sent";

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
    if mail.state == State::Waiting && mail.round.is_some() && !is_again {
        let text = format!(
            "The notification is already queued, and was not queued again: {now}. To send it a second \
             time, use `--again`."
        );
        return Answer::new(&NotQueued { id, queued: false, before: &mail }, text);
    }
    let to = match (scope.mode, service.is_email()) {
        (Mode::Test, true) => "the address of MAIL_TEST_TO",
        _ => &recipient,
    };
    let what = match service.is_email() {
        true => "e-mail".to_owned(),
        false => format!("message by {}", service.name()),
    };
    let round = message.round;
    let risk = notifications::risk_in_words(&mail);
    let ask = format!("Send the {what} of {id} to {to} (round {round})?");
    let question =
        Question::new(ask, NOTHING_SENT).effect(format!("Delivery state: {now}. {risk}."));
    call.confirm(question).await?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let rounds = QueuedRounds::default();
    let (store, ledger) = (call.store, call.ledger);
    let resent =
        notifications::queue_round(store, ledger, &author, call.host, &rounds, &message).await?;
    if resent.outcome == Resent::Untaken {
        return Err(Failure::Aborted); // the host keeps the queue's error
    }
    let text = format!(
        "The notification is queued as round {round}. After about {MAILED_SECONDS} s, `emails \
         show` prints its delivery state."
    );
    let (id, created_at) = (&*message.id, &*message.created_at);
    let answer = Answer::new(&Queued { id, created_at, round, service, before: &mail }, text)?;
    Ok(answer.since(resent.before.as_deref()))
}

/// Largest number of e-mails and messages that one step of the command resends.
const STEP: usize = 100;

/// The outcome of resending the failed e-mails of a day.
#[derive(Default, Serialize)]
struct Day {
    day: String,
    queued: usize,
    #[serde(rename = "alreadyQueued")]
    before: usize,
    ended: usize,
    refused: Vec<(String, String)>,
}

async fn resend_day<P: Ports>(
    call: &Call<'_, P>,
    day: &str,
    service: Option<NotificationService>,
) -> Result<Answer> {
    call.host.open_queue().await?;
    let all = all_of(service);
    let ask = format!("Resend all {all} that failed on {day} and have not been sent since then?");
    call.confirm(Question::new(ask, NOTHING_SENT)).await?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let mut sum = Day { day: day.to_owned(), ..Day::default() };
    let mut from = None;
    loop {
        let query = DayQuery { day: day.to_owned(), service, from, count: STEP };
        let rounds = QueuedRounds::default();
        let (store, ledger) = (call.store, call.ledger);
        let step = notifications::resend_day(store, ledger, &author, call.host, &rounds, &query);
        let step = step.await?.outcome;
        let is_untaken = step.untaken;
        from = sum.add(step);
        if is_untaken {
            let answer = Answer::new(&sum, sum.in_words())?;
            return Err(Failure::Partial(Box::new(Failure::Aborted), Box::new(answer)));
        }
        if from.is_none() {
            return Answer::new(&sum, sum.in_words());
        }
    }
}

/// Returns words for the notifications of a service, such as `e-mails`; `None` means all services.
fn all_of(service: Option<NotificationService>) -> String {
    match service {
        None => "e-mails and messages".to_owned(),
        Some(NotificationService::Email) => "e-mails".to_owned(),
        Some(service) => format!("messages by {}", service.name()),
    }
}

impl Day {
    /// Adds the counts of a step to the totals. Returns where the next step begins; `None` after the last
    /// step.
    fn add(&mut self, step: DayStep) -> Option<String> {
        self.queued += step.queued;
        self.before += step.before;
        self.ended += step.ended;
        self.refused.extend(step.refused);
        step.next
    }

    fn in_words(&self) -> String {
        let counts = format!(
            "Queued: {}\nAlready queued: {}\nSent, skipped or failed again in the meantime: {}\nCannot \
             be sent: {}",
            self.queued,
            self.before,
            self.ended,
            self.refused.len()
        );
        let refused = self.refused.iter().map(|(id, why)| format!("{id}: {why}"));
        std::iter::once(counts).chain(refused).collect::<Vec<_>>().join("\n")
    }
}

// ---- Preview -------------------------------------------------------------------------------------

pub const PREVIEW: Spec = Spec::reads(
    "emails",
    "preview",
    "print a transaction's e-mail or message as it would be sent now; it contains the recipient's name and the \
     timeline's address, with which anyone can open the timeline",
    &[
        ID,
        SERVICE,
        Argument::option("html", Kind::Output, "also write the HTML of the e-mail to a new file"),
    ],
)
.reveals()
.permission(Permission::Support)
.answers("`id`; `to`: the masked address; `sender`, `replyTo`, `language`, `subject`, `text`; `file`: the name of the HTML file, or `null`");

#[derive(Deserialize)]
pub struct Preview {
    id: String,
    #[serde(default)]
    service: NotificationService,
    html: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Previewed<'p> {
    id: &'p str,
    to: &'p str,
    sender: &'p str,
    reply_to: Option<&'p str>,
    language: &'p str,
    subject: &'p str,
    text: &'p str,
    file: Option<&'p str>,
}

pub async fn preview<P: Ports>(call: &Call<'_, P>, asked: Preview) -> Result<Answer> {
    let record = transactions::get(call.store, &asked.id).await?;
    let mail = notifications::preview(call.store, call.platform, &record, asked.service).await?;
    let file = asked.html.as_deref();
    if let Some(file) = file {
        let html = mail.html.as_deref();
        let no_mail = || Refused::at("html", RefusalCode::NotAllowed, "only an e-mail has HTML");
        let html = html.ok_or_else(|| Failure::Usage(no_mail()))?;
        call.host.create(Some(file)).await?;
        call.host.write(html).await?;
    }
    let heads = facts([
        ("From", Some(mail.sender.clone())),
        ("To", Some(mail.to.clone())),
        ("Reply-To", mail.reply_to.clone()),
        ("Subject", Some(mail.subject.clone())),
    ]);
    let end = file.map(|file| format!("\nThe HTML is in {file}.")).unwrap_or_default();
    let text = format!("{heads}\n\n{}{end}", mail.text);
    let data = Previewed {
        id: &mail.id,
        to: &mail.to,
        sender: &mail.sender,
        reply_to: mail.reply_to.as_deref(),
        language: mail.language,
        subject: &mail.subject,
        text: &mail.text,
        file,
    };
    Answer::new(&data, text)
}
