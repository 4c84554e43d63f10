//! The e-mail of a transaction: its state, and the form that sends it again.

use crate::dashboard::{PageContext, link, mail_state, view};
use crate::operator::notifications::{self, State, Status};
use crate::service::{Clock, Entropy};
use maud::{Markup, html};

/// Renders the state of a transaction's e-mail. Also renders the form that sends the e-mail again, if a resend may help
/// and the person may send it.
pub(super) fn section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    mail: &Status,
    may_send: bool,
) -> Markup {
    let can_be_sent = notifications::can_be_sent(mail);
    let is_asked = !matches!(mail.state, State::NotAsked | State::Erased);
    let preview = link::path(&["transactions", id, "mail"]);
    html! {
        (mail_state::facts(mail))
        @if is_asked {
            p { a href=(preview) { "Preview" } " (personal data masked)" }
        }
        @if can_be_sent && may_send {
            @if context.outbox.is_some() { (resend_form(context, id, mail)) } @else { p { (NO_QUEUE) } }
        }
    }
}

pub(in crate::dashboard) const NO_QUEUE: &str = "This dashboard cannot send e-mails, because it is not bound to the service's queue. To change this, bind \
     NOTIFICATIONS in wrangler.dashboard.toml and deploy again.";

/// Renders the form that sends an e-mail again. It contains the number of the resend (the round), so that submitting
/// the form twice sends only one e-mail.
pub(in crate::dashboard) fn resend_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    mail: &Status,
) -> Markup {
    let risk = notifications::risk(mail);
    let content = html! {
        (view::hidden("round", &mail.next_round().to_string()))
        @if let Some(risk) = risk {
            div.field {
                label.choice { input type="checkbox" name="sure" value="yes" required; (risk) ". Send it anyway." }
            }
        }
        button.quiet[risk.is_some()] { "Send again" }
    };
    context.form(&link::path(&["transactions", id, "mail"]), &content)
}
