use super::facts::{order, recipient};
use super::listing;
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{State, Status};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{TransactionView, ViewOptions};
use crate::office::prices::rule::PriceListVersion;
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result};
use crate::office::shared::operation::facts::{Fact, Facts, in_lines};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::roles::Permission;
use serde::{Deserialize, Serialize};

const ID: Argument = Argument::positional("id", text("id"), "the ID of the transaction");

pub const SHOW: Spec = Spec::reads(
    "transactions",
    "show",
    "print a transaction; personal data is masked",
    &[
        ID,
        Argument::option(
            "reveal",
            Kind::Flag,
            "show personal data unmasked; this is recorded in the audit log",
        )
        .reveals(),
        Argument::option(
            "timeline",
            Kind::Flag,
            "show the timeline's address, with which anyone can open it; this is recorded in the audit log, too",
        )
        .reveals(),
    ],
)
.recorded()
.permission(Permission::Support)
.answers("`row`: the members that `transactions list` prints for it; `repeatable`: whether the shop can retry the create without a second transaction, because it had an `Idempotency-Key`; `key`: the API key's ID; `prices`: `time`, `by`, `currencyCode`, `unitPrices` of the price list of the charge, or `null`; `transaction`: the transaction as the API returns it, masked; `mail`: as for `emails show`; `messages`: the same for each messaging service that the create asked for");

#[derive(Deserialize)]
pub struct Show {
    id: String,
    #[serde(default)]
    reveal: bool,
    #[serde(default)]
    timeline: bool,
}

#[derive(Serialize)]
struct Whole<'r> {
    #[serde(flatten)]
    shown: TransactionView<'r>,
    prices: Option<PriceListVersion>,
    mail: Status,
    messages: Vec<Status>,
}

pub async fn show<P: Ports>(call: &Call<'_, P>, asked: Show) -> Result<Answer> {
    let Show { id, reveal, timeline } = asked;
    let view = ViewOptions { reveal, timeline };
    let record = transactions::get(call.store, &id).await?;
    let mut shown = match reveal || timeline {
        true => {
            let by = call.host.person().await?;
            transactions::reveal(call.store, &call.author(&by)?, &record, view).await?
        }
        false => record.show(view)?,
    };
    let paid_at = record.paid_at(call.store).await?;
    shown.transaction.charge.paid_at = paid_at.map(|paid_at| paid_at.as_str().to_owned().into());
    let prices = record.prices(call.store).await?;
    let (mail, messages) = notifications::statuses(call.store, call.platform, &record).await?;
    let whole = Whole { shown, prices, mail, messages };
    let prices = whole.prices.as_ref().map(|list| &list.price_list);
    let pledges = listing::pledges(&whole.shown.transaction.pledges, prices, usize::MAX);
    let text = paragraphs([in_lines(&whole.facts()), pledges.in_lines()]);
    Answer::new(&whole, text)
}

impl Whole<'_> {
    fn facts(&self) -> Facts {
        let TransactionView { row, repeatable, key, transaction } = &self.shown;
        let notifications = transaction.notifications.iter().flatten();
        let notifications =
            notifications.map(|it| Fact::Text(format!("{} {}", it.kind, it.status)));
        let state = |status: &Status| Fact::Message(notifications::in_words(status));
        let mail = (self.mail.state != State::NotAsked).then(|| state(&self.mail));
        let prices = self.prices.as_ref().map(|it| {
            vec![Fact::words("set at"), Fact::time(&*it.time), Fact::Text(format!("by {}", it.by))]
        });
        let retry = if *repeatable { "yes: the create request had an Idempotency-Key" } else { "" };
        let paid_at = transaction.charge.paid_at.as_deref();
        let first = vec![("ID", Fact::id(&row.id)), ("Mode", Fact::Mode(row.scope.mode))];
        let order = order(&self.shown, paid_at, None, Fact::text(key.as_deref()));
        let sent = vec![
            ("Notifications", Fact::List(notifications.collect())),
            ("E-mail state", mail.unwrap_or_else(Fact::none)),
        ];
        let messages = self.messages.iter().map(|status| (status.service.name(), state(status)));
        let charged = vec![
            ("Unpriced pledges", Fact::some(row.unpriced)),
            ("Price list", Fact::Row(prices.unwrap_or_default())),
            ("Safe to retry", Fact::words(retry)),
            ("Timeline", Fact::text(transaction.timeline_url.as_deref())),
        ];
        [first, order, recipient(&self.shown), sent, messages.collect(), charged].concat()
    }
}
