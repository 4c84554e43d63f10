use super::listing;
use crate::office::mails::rule as notifications;
use crate::office::mails::rule::{State, Status};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{TransactionView, ViewOptions};
use crate::office::prices::rule::PriceListVersion;
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::{counted, facts, paragraphs, time};
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
    let text = paragraphs([whole.facts(), pledges.in_lines()]);
    Answer::new(&whole, text)
}

impl Whole<'_> {
    fn facts(&self) -> String {
        let TransactionView { row, repeatable, key, transaction } = &self.shown;
        let unpriced = match row.unpriced {
            0 => String::new(),
            count => format!(", {}", counted(count, "unpriced pledge")),
        };
        let recipient = transaction.pledges.first().map(|pledge| {
            let recipient = &pledge.recipient;
            let names = [recipient.first_name.as_deref(), recipient.name.as_deref()];
            joined(std::iter::once(Some(&*recipient.email)).chain(names))
        });
        let trigger = &transaction.trigger;
        let notifications = transaction.notifications.iter().flatten();
        let notifications: Vec<_> =
            notifications.map(|it| format!("{} {}", it.kind, it.status)).collect();
        let retry = repeatable.then_some("yes: the create request had an Idempotency-Key");
        let order = [
            ("ID", Some(row.id.clone())),
            ("Created", Some(time(&row.created_at))),
            ("Mode", Some(row.scope.mode.name().to_owned())),
            ("Unit", Some(row.scope.unit.clone())),
            ("Charge", Some(format!("{} {}{unpriced}", row.amount, row.currency_code))),
            ("Paid", transaction.charge.paid_at.as_deref().map(time)),
            ("Reference", Some(transaction.reference.to_string())),
            ("Recipient", recipient),
            (
                "Trigger",
                Some(joined([
                    trigger.date.as_deref(),
                    trigger.phrase.as_deref(),
                    trigger.external_url.as_deref(),
                ])),
            ),
            ("Notifications", Some(notifications.join(", "))),
            (
                "E-mail",
                (self.mail.state != State::NotAsked).then(|| notifications::in_words(&self.mail)),
            ),
        ];
        let charged = [
            (
                "Price list",
                self.prices.as_ref().map(|it| format!("set at {} by {}", time(&it.time), it.by)),
            ),
            ("API key", key.clone()),
            ("Erased", row.erased.as_deref().map(time)),
            ("Safe to retry", retry.map(str::to_owned)),
            ("Timeline", transaction.timeline_url.as_deref().map(str::to_owned)),
        ];
        let of = |status: &Status| (status.service.name(), Some(notifications::in_words(status)));
        let messages = self.messages.iter().map(of);
        facts(order.into_iter().chain(messages).chain(charged))
    }
}

fn joined<'t>(texts: impl IntoIterator<Item = Option<&'t str>>) -> String {
    let texts: Vec<_> = texts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    texts.join(", ")
}
