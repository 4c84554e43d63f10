//! A preview of a transaction's notification.

use crate::office::mails::rule as notifications;
use crate::office::orders::rule::Record;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::Scoped;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::{Content, Page};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::types::NotificationService;
use maud::{Markup, html};
use std::borrow::Cow;

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

/// Returns the notification service that a query names. Returns the e-mail service if none is
/// named.
fn service(query: &Form) -> Result<NotificationService> {
    match query.given("service") {
        None => Ok(NotificationService::Email),
        Some(name) => NotificationService::from_name(name).ok_or_else(|| {
            Refusal::invalid("`service` must be the name of a notification service")
        }),
    }
}
