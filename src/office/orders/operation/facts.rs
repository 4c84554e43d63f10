//! What a transaction is about: its order and its recipient. Personal data is as in the view: masked, or revealed.

use crate::office::orders::rule::TransactionView;
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::pledges::time::day_of;

/// Describes the order. `net` is the charge less the credits, and `key` the API key as the reader may see it.
pub(crate) fn order(
    TransactionView { row, transaction, .. }: &TransactionView<'_>,
    paid_at: Option<&str>,
    net: Option<&str>,
    key: Fact,
) -> Facts {
    let money = |amount: &str| Fact::money(amount, &row.currency_code).strong();
    let net = net.map(|net| vec![money(net), Fact::words("after credits")]);
    vec![
        ("Reference", Fact::Text(transaction.reference.to_string())),
        ("Created", Fact::time(&*row.created_at)),
        ("Unit", Fact::unit(&row.scope.unit)),
        ("Charge", money(&row.amount)),
        ("Net charge", Fact::Row(net.unwrap_or_default())),
        ("Paid", paid_at.map_or_else(|| Fact::words("Not yet"), paid)),
        ("API key", key),
        ("Erased", Fact::time(row.erased.as_deref())),
    ]
}

fn paid(at: &str) -> Fact {
    match at.contains("T00:00:00") {
        true => Fact::Day(day_of(at).to_owned()),
        false => Fact::time(at),
    }
}

/// Describes the recipient, and the event that triggered the pledges.
pub(crate) fn recipient(TransactionView { transaction, .. }: &TransactionView<'_>) -> Facts {
    let trigger = &transaction.trigger;
    let mut facts = Facts::new();
    if let Some(pledge) = transaction.pledges.first() {
        let recipient = &pledge.recipient;
        facts.extend([
            ("E-mail", Fact::text(Some(&recipient.email))),
            ("First name", Fact::text(recipient.first_name.as_deref())),
            ("Name", Fact::text(recipient.name.as_deref())),
        ]);
    }
    facts.extend([
        ("Happened on", Fact::time(trigger.date.as_deref())),
        ("What happened", Fact::text(trigger.phrase.as_deref())),
        ("Link", Fact::text(trigger.external_url.as_deref())),
    ]);
    facts
}
