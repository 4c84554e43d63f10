//! Prints a notification as it would be sent now.

use super::parts::{ID, SERVICE};
use crate::office::mails::rule as notifications;
use crate::office::orders::rule as transactions;
use crate::office::shared::operation::call::{Answer, Call, Failure, Host as _, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::table::facts;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::types::NotificationService;
use serde::{Deserialize, Serialize};

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
