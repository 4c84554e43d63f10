//! Sends e-mails to the people of the dashboard, if a mail service is bound.

use super::{DashboardBindings, read_settings};
use crate::buyer::delivery::{Headers, SendError};
use crate::doors::cloudflare::KvStore;
use crate::doors::mail::attempts::patiently;
use crate::doors::mail::{Email, MailSender, MailService};
use crate::doors::platform::Platform;
use crate::office::notices::rule::{Letter, Office, Post, Told, tell};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::OperatorError;
use serde::Serialize;
use worker::{console_error, console_log};

#[derive(Serialize)]
struct NoticesLine {
    notices: &'static str,
    #[serde(flatten)]
    told: Told,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

/// Sends the e-mails that are due. After a failure, the next invocation continues.
pub async fn send_notices(
    bindings: &DashboardBindings,
    store: &KvStore,
    ledger: &dyn Ledger,
    began_ms: u64,
) {
    let settings = read_settings(bindings);
    if !settings.notices.is_on() {
        return;
    }
    let office = Office {
        store,
        ledger,
        clock: &Platform,
        entropy: &Platform,
        post: &MailSender::of(bindings),
        staff: &settings.staff,
        origin: &settings.notices.origin,
        environment: &settings.environment,
    };
    let outcome = tell(&office, began_ms).await;
    let cause = outcome.as_ref().err().map(OperatorError::to_string);
    let line = NoticesLine { notices: "send", told: outcome.unwrap_or_default(), cause };
    let text = serde_json::to_string(&line).unwrap_or_default(); // cannot fail
    match &line {
        NoticesLine { cause: None, told, .. } if *told == Told::default() => {}
        NoticesLine { cause: None, told: Told { failed: 0, problems, .. }, .. }
            if problems.is_empty() =>
        {
            console_log!("{text}");
        }
        _ => console_error!("{text}"),
    }
}

impl Post for MailSender {
    fn is_idempotent(&self) -> bool {
        matches!(self.service, MailService::Resend(_))
    }

    async fn send(&self, to: &str, letter: &Letter, key: &str) -> Result<(), SendError> {
        let unsubscribe = ["<", &letter.switch, ">"].concat();
        let email = Email {
            sender: letter.sender,
            to,
            reply_to: None,
            subject: &letter.subject,
            text: &letter.text,
            html: &letter.html,
            headers: Headers { list_unsubscribe: Some(unsubscribe), ..Headers::default() },
            key,
        };
        patiently(async || self.send(&email, |_| Ok(())).await).await.map(drop)
    }
}
