//! Sends a notification of a transaction again, and shows a preview of it.

use super::mail::NO_QUEUE;
use super::page::{found, refused};
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{Resent, Status};
use crate::office::orders::rule::Record;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::Scoped;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::{Content, Page};
use crate::office::shared::page::view::id_link;
use crate::office::shared::page::{operation, view};
use crate::office::shared::rule::delays::MAILED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::service::{Clock, Entropy, Message};
use crate::pledges::store::OperatorStore;
use crate::pledges::types::NotificationService;
use maud::{Markup, html};
use std::borrow::Cow;

/// Sends a transaction's e-mail or message again. Cost: at most 24 KV calls, 2 KV writes, and 1 call of the
/// queue.
///
/// The form contains the number of the resend (`round`). If the form is submitted twice, the resend is
/// normally queued once. It can be queued twice only while Workers KV does not show the first submission yet,
/// and this instance does not remember it. A form with an earlier number sends nothing.
pub(crate) async fn resend<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    form: &Form,
) -> Result {
    let service = service(form)?;
    let mail = notifications::status(context.store, context.clock, record, service).await?;
    let Some(outbox) = context.outbox else { return refused(context, record, NO_QUEUE).await };
    if let Some(at) = context.was_done().await? {
        return found(context, record, &operation::before(Some(&at))).await;
    }
    if is_queued(&mail, form) {
        return found(context, record, &queued_before(service)).await;
    }
    if let Some(problem) = not_now(&mail, form) {
        return refused(context, record, problem).await;
    }
    let message = match notifications::next_message(context.store, record, &mail).await {
        Err(OperatorError::Invalid(why)) => return refused(context, record, &why.text).await,
        outcome => outcome?,
    };
    let (store, author, rounds) = (context.store, &context.author, context.rounds);
    let queued =
        notifications::queue_round(store, context.ledger, author, outbox, rounds, &message).await?;
    match queued.outcome {
        Resent::Untaken => refused(context, record, UNTAKEN).await,
        Resent::Before => found(context, record, &queued_before(service)).await,
        Resent::Queued => found(context, record, &queued_now(&message)).await,
    }
}

/// Returns whether the resend with this form's number (`round`), or a later resend, is already queued.
fn is_queued(mail: &Status, form: &Form) -> bool {
    let text = form.text("round");
    let round = text.parse::<u32>().ok().filter(|round| *round > 1 && round.to_string() == text);
    round.is_some_and(|round| mail.queued_round().is_some_and(|queued| queued >= round))
}

/// Returns the notification service that a form or a query names. Returns the e-mail service if none is
/// named.
fn service(form: &Form) -> Result<NotificationService> {
    match form.given("service") {
        None => Ok(NotificationService::Email),
        Some(name) => NotificationService::from_name(name).ok_or_else(|| {
            Refusal::invalid("`service` must be the name of a notification service")
        }),
    }
}

fn subject(service: NotificationService) -> String {
    match service.is_email() {
        true => "The e-mail".to_owned(),
        false => format!("The message by {}", service.name()),
    }
}

fn queued_now(message: &Message) -> Markup {
    view::done(&html! {
        (subject(message.service)) " is queued. The page of " (id_link(&message.id)) " shows the delivery result after about "
        (MAILED_SECONDS) " s."
    })
}

fn queued_before(service: NotificationService) -> Markup {
    view::notice(&html! {
        (subject(service)) " is already queued, and was not queued again. Reload this page in about "
        (MAILED_SECONDS) " s to see the delivery result."
    })
}

const UNTAKEN: &str = "the queue did not accept the notification, so nothing was sent. Try again \
                       later. The audit log lists this attempt as a resend";

/// Returns why this form cannot send the notification again, or `None` if it can.
fn not_now(mail: &Status, form: &Form) -> Option<&'static str> {
    if form.text("round") != mail.next_round().to_string() {
        return Some(
            "nothing was sent: the notification was already queued again after you opened this page. \
             Check its state below",
        );
    }
    let is_unsure = notifications::risk(mail).is_some() && form.given("sure").is_none();
    is_unsure.then_some("nothing was sent: tick “Send it anyway” first")
}

/// Shows a preview of the e-mail or message that would be sent now. Personal data is masked, and the link is
/// disabled. KV cost: at most 2 calls.
pub(crate) async fn preview_mail<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    query: &Form,
) -> Result {
    let service = service(query)?;
    let mail = notifications::masked_preview(context.store, context.clock, record, service).await?;
    let Some(html) = mail.html else {
        return Ok(Page::new("Preview", message(service, &mail.subject, &mail.text)));
    };
    let link = format!("href=\"{}\"", notifications::NOWHERE);
    let document = html.replace(&link, "href=\"#\""); // texts cannot match: their quotes are escaped
    Ok(Page { status: 200, content: Content::Document(document, Cow::Borrowed(MAIL_POLICY)) })
}

fn message(service: NotificationService, title: &str, text: &str) -> Markup {
    html! {
        p.lead { "The message that " (service.name()) " would get now, with personal data masked." }
        section { h2 { bdi { (title) } } pre { (text) } }
    }
}

/// The `Content-Security-Policy` of e-mail previews. It allows inline styles, which e-mails use, and the shop's logo.
pub(crate) const MAIL_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; sandbox";
