//! Sends the e-mail of a transaction again, and shows a preview of it.

use super::mail::NO_QUEUE;
use super::page::{found, refused};
use crate::dashboard::form::Form;
use crate::dashboard::guard::Scoped;
use crate::dashboard::page::{Content, Page};
use crate::dashboard::view::id_link;
use crate::dashboard::{PageContext, Result, operation, view};
use crate::operator::OperatorError;
use crate::operator::delays::MAILED_SECONDS;
use crate::operator::notifications::{self, Resent, Status};
use crate::operator::transactions::Record;
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::{Markup, html};
use std::borrow::Cow;

/// Sends a transaction's e-mail again. Cost: at most 15 KV calls, 2 KV writes, and 1 call of the queue.
///
/// The form contains the number of the resend (the round). A form that is sent twice queues its round only once,
/// provided that Workers KV already shows the queued round, or that this instance remembers it. The form of an earlier
/// round sends nothing.
pub(in crate::dashboard) async fn resend<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    form: &Form,
) -> Result {
    let mail = notifications::status(context.store, context.clock, record).await?;
    let Some(outbox) = context.outbox else { return refused(context, record, NO_QUEUE).await };
    if let Some(at) = context.was_done().await? {
        return found(context, record, &operation::before(Some(&at))).await;
    }
    if is_queued(&mail, form) {
        return found(context, record, &queued_before()).await;
    }
    if let Some(problem) = not_now(&mail, form) {
        return refused(context, record, problem).await;
    }
    let message = match notifications::next_message(context.store, record, &mail).await {
        Err(OperatorError::Invalid(problem)) => return refused(context, record, &problem).await,
        outcome => outcome?,
    };
    let (store, author, rounds) = (context.store, &context.author, context.rounds);
    let queued =
        notifications::queue_round(store, context.ledger, author, outbox, rounds, &message).await?;
    match queued.outcome {
        Resent::Untaken => refused(context, record, UNTAKEN).await,
        Resent::Before => found(context, record, &queued_before()).await,
        Resent::Queued => found(context, record, &queued_now(&message.id)).await,
    }
}

/// Returns whether the round of this form, or a later round, is in the queue.
fn is_queued(mail: &Status, form: &Form) -> bool {
    let text = form.text("round");
    let round = text.parse::<u32>().ok().filter(|round| *round > 1 && round.to_string() == text);
    round.is_some_and(|round| mail.queued_round().is_some_and(|queued| queued >= round))
}

fn queued_now(id: &str) -> Markup {
    view::done(&html! {
        "The e-mail is queued. The page of " (id_link(id)) " shows the delivery result after about "
        (MAILED_SECONDS) " s."
    })
}

fn queued_before() -> Markup {
    view::notice(&html! {
        "The e-mail is already queued, and was not queued again. Reload this page in about "
        (MAILED_SECONDS) " s to see the delivery result."
    })
}

const UNTAKEN: &str = "the queue did not accept the e-mail, so nothing was sent, although the audit log lists it. Try again later";

/// Returns why this form cannot send the e-mail again, or `None` if it can.
fn not_now(mail: &Status, form: &Form) -> Option<&'static str> {
    if form.text("round") != mail.next_round().to_string() {
        return Some(
            "nothing was sent: the e-mail was sent again after this form was loaded. Check its state below",
        );
    }
    let is_unsure = notifications::risk(mail).is_some() && form.given("sure").is_none();
    is_unsure.then_some("nothing was sent: tick “Send it anyway” first")
}

/// Shows the e-mail as it would be sent now, but with personal data masked and its link disabled. KV cost: at most 2
/// calls.
pub(in crate::dashboard) async fn preview_mail<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    let mail = notifications::masked_preview(context.store, context.clock, record).await?;
    let link = format!("href=\"{}\"", notifications::NOWHERE);
    let document = mail.html.replace(&link, "href=\"#\""); // texts cannot match: their quotes are escaped
    Ok(Page { status: 200, content: Content::Document(document, Cow::Borrowed(MAIL_POLICY)) })
}

/// The `Content-Security-Policy` of e-mail previews. It allows inline styles, which e-mails use, and the shop's logo.
pub(in crate::dashboard) const MAIL_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; sandbox";
