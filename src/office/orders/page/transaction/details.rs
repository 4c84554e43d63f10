//! The facts of a transaction: its order, its recipient, and who created it.

use crate::office::keys::rule as keys;
use crate::office::keys::rule::KeyRow;
use crate::office::orders::operation::facts::{order, recipient};
use crate::office::orders::rule::TransactionView;
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::{facts, link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::auth::KeyLevel;
use crate::pledges::settlement::PaidAt;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::TimeZones;
use maud::{Markup, html};

/// What the page needs besides the transaction's record: payment, API key, and what the person may do.
pub(super) struct Details {
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

/// Returns the key that created a transaction; `None` if the key no longer exists.
pub(super) async fn key(store: &impl OperatorStore, id: Option<&str>) -> Result<Option<KeyRow>> {
    let Some(id) = id else { return Ok(None) };
    match keys::get(store, id).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        found => Ok(found?),
    }
}

impl Details {
    pub(super) fn order(
        &self,
        shown: &TransactionView<'_>,
        times: &ListTimes<'_, impl TimeZones>,
    ) -> Markup {
        let paid_at = self.paid_at.as_ref().map(PaidAt::as_str);
        let key = self.made_by(shown.key.as_deref());
        facts::list_at(&order(shown, paid_at, self.net.as_deref(), key), &|text| times.text(text))
    }

    fn made_by(&self, id: Option<&str>) -> Fact {
        let Some(id) = id else { return Fact::words("Not recorded") };
        let mut parts = vec![Fact::id(id)];
        match self.key.as_ref().map(|row| &row.note) {
            Some(Some(_)) if self.is_foreign_key => parts.push(Fact::words("of a team")),
            Some(Some(note)) => {
                let owner = Fact::Text(note.level.id().to_owned());
                let is_open = self.operates || matches!(note.level, KeyLevel::Unit(_));
                let owner = if is_open { owner.at(link::page_of(&note.level)) } else { owner };
                parts.extend([Fact::words("of the"), Fact::words(note.level.kind()), owner]);
                let label = Some(&*note.label).filter(|label| self.manages && !label.is_empty());
                parts.extend(label.map(|label| Fact::text(Some(label))));
            }
            Some(None) => {}
            None => parts.push(Fact::words("which was revoked or has expired")),
        }
        Fact::Row(parts)
    }

    pub(super) fn recipient(
        &self,
        shown: &TransactionView<'_>,
        times: &ListTimes<'_, impl TimeZones>,
    ) -> Markup {
        html! {
            (facts::list_at(&recipient(shown), &|text| times.text(text)))
            @match &shown.transaction.timeline_url {
                Some(address) => p {
                    "Page: " (view::copyable(address)) br;
                    small { "Anyone who has this link can open the page. Give it only to the recipient." }
                },
                None => {
                    p { small { "Personal data is masked: only the first character of each text is shown." } }
                    @if self.manages { (reveal_button(&shown.row.id)) }
                }
            }
        }
    }
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
