//! The facts of a transaction: its order, its recipient, and who created it.

use super::parts::{level, unit};
use crate::office::keys::rule as keys;
use crate::office::keys::rule::KeyRow;
use crate::office::orders::rule::TransactionView;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::settlement::PaidAt;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::TimeZones;
use crate::pledges::types::{Recipient, Trigger};
use maud::{Markup, html};
use std::borrow::Cow;
use std::iter;

/// What the page needs besides the transaction's record: times, payment, API key, and what the person may do.
pub(super) struct Facts {
    /// The transaction's times, in the shop's time zone.
    pub times: Times,
    /// When the transaction's month was paid.
    pub paid_at: Option<PaidAt>,
    /// The charge less the credits, a decimal with two places; `None` without credits.
    pub net: Option<String>,
    /// The key that created the transaction, if it still exists.
    pub key: Option<KeyRow>,
    /// Whether the key belongs to a team that the person may not see. The page then hides the team's name and
    /// the key's label.
    pub is_foreign_key: bool,
    /// Whether the person is an operator.
    pub operates: bool,
    /// Whether the person is an operator, or a manager of the unit.
    pub manages: bool,
}

/// When a transaction was created, when the event that triggered it happened, and when it was erased.
pub(super) struct Times {
    created: Markup,
    happened: Option<Markup>,
    erased: Option<Markup>,
}

impl Times {
    pub(super) fn of(shown: &TransactionView<'_>, times: &ListTimes<'_, impl TimeZones>) -> Self {
        let local = |text: &str| times.text(text);
        Times {
            created: local(&shown.row.created_at),
            happened: shown.transaction.trigger.date.as_deref().map(local),
            erased: shown.row.erased.as_deref().map(local),
        }
    }
}

/// Returns the key that created a transaction; `None` if the key no longer exists.
pub(super) async fn key(store: &impl OperatorStore, id: Option<&str>) -> Result<Option<KeyRow>> {
    let Some(id) = id else { return Ok(None) };
    match keys::get(store, id).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        found => Ok(found?),
    }
}

impl Facts {
    pub(super) fn order(&self, shown: &TransactionView<'_>) -> Markup {
        let (row, transaction) = (&shown.row, &shown.transaction);
        let mut rows = vec![
            ("Reference", view::untrusted_text(&transaction.reference)),
            ("Created", self.times.created.clone()),
            ("Unit", unit(&row.scope.unit)),
            ("Charge", html! { strong { (view::money(&row.amount, &row.currency_code)) } }),
        ];
        rows.extend(self.net.as_ref().map(|net| {
            (
                "Net charge",
                html! { strong { (view::money(net, &row.currency_code)) } ", after credits" },
            )
        }));
        rows.push(("Paid", self.paid()));
        rows.push(("API key", self.made_by(shown.key.as_deref())));
        rows.extend(self.times.erased.clone().map(|at| ("Erased", at)));
        view::facts(&rows)
    }

    fn paid(&self) -> Markup {
        match &self.paid_at {
            Some(paid_at) => view::day(paid_at.as_str()),
            None => html! { "Not yet" },
        }
    }

    fn made_by(&self, id: Option<&str>) -> Markup {
        let Some(id) = id else { return html! { "Not recorded" } };
        let note = self.key.as_ref().and_then(|row| row.note.as_ref());
        html! {
            code { (id) }
            @match note {
                Some(_) if self.is_foreign_key => " of a team",
                Some(note) => {
                    " of the " (level(&note.level, self.operates))
                    @if self.manages && !note.label.is_empty() { ", " (view::untrusted_text(&note.label)) }
                }
                None if self.key.is_some() => {}
                None => ", which was revoked or has expired",
            }
        }
    }

    pub(super) fn recipient(&self, shown: &TransactionView<'_>) -> Markup {
        let transaction = &shown.transaction;
        let mut rows = vec![];
        if let Some(pledge) = transaction.pledges.first() {
            rows.extend(person(&pledge.recipient));
        }
        rows.extend(self.cause(&transaction.trigger));
        if let Some(address) = &transaction.timeline_url {
            rows.push(("Page", html! {
                (view::copyable(address)) br;
                small { "Anyone who has this link can open the page. Give it only to the recipient." }
            }));
        }
        let is_whole = transaction.timeline_url.is_some();
        html! {
            (view::facts(&rows))
            @if !is_whole {
                p { small { "Personal data is masked: only the first character of each text is shown." } }
                @if self.manages { (reveal_button(&shown.row.id)) }
            }
        }
    }
}

impl Facts {
    fn cause(&self, trigger: &Trigger<'_>) -> Vec<(&'static str, Markup)> {
        let date = self.times.happened.iter();
        let date = date.map(|date| ("Happened on", html! { bdi { (date) } }));
        let texts = [("What happened", &trigger.phrase), ("Link", &trigger.external_url)];
        date.chain(given(texts)).collect()
    }
}

fn person(recipient: &Recipient<'_>) -> Vec<(&'static str, Markup)> {
    let names = [("First name", &recipient.first_name), ("Name", &recipient.name)];
    iter::once(("E-mail", view::untrusted_text(&recipient.email))).chain(given(names)).collect()
}

/// Returns the name and the rendered value of each text that is present.
fn given<'t>(
    texts: impl IntoIterator<Item = (&'static str, &'t Option<Cow<'t, str>>)>,
) -> impl Iterator<Item = (&'static str, Markup)> {
    let present = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
    present.map(|(name, text)| (name, view::untrusted_text(text)))
}

fn reveal_button(id: &str) -> Markup {
    let action = link::path(&["transactions", id, "whole"]);
    let content = html! {
        p { small { "This also shows the link to the recipient's page. The audit log records that you \
                     viewed the data." } }
        button.quiet { "Show personal data" }
    };
    view::form(&action, &content)
}
