//! A transaction: its details, its e-mail, and its erasure.

use super::form::Form;
use super::guard::Scoped;
use super::page::{Content, Page};
use super::{PageContext, Refusal, Result, link, mail_state, operation, view};
use crate::auth::KeyLevel;
use crate::charge::PriceList;
use crate::operator::delays::{MAILED_SECONDS, SHOWN_SECONDS};
use crate::operator::keys::{self, KeyRow};
use crate::operator::notifications::{self, Resent, State, Status};
use crate::operator::prices::PriceListVersion;
use crate::operator::roles::Permission;
use crate::operator::transactions::{self, Record, TransactionView, ViewOptions};
use crate::operator::{Done, OperatorError, units};
use crate::pledge::{PledgeDetail, Recipient, RetrievedPledge, Trigger};
use crate::recipient::{self, Language, NewProfile};
use crate::service::{Clock, Entropy};
use crate::settlement::PaidAt;
use crate::store::OperatorStore;
use maud::{Markup, html};
use std::borrow::Cow;
use std::iter;

/// Maximum number of pledges on a page.
const MAX_PLEDGES: usize = 100;

// ---- Show ----------------------------------------------------------------------------------------

/// Shows a transaction, masked. KV cost: at most 9 calls.
pub(super) async fn transaction<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    found(context, record, &html! {}).await
}

/// Shows a notice, and below it the page of a transaction, masked.
pub(super) async fn found<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    notice: &Markup,
) -> Result {
    page(context, record, &record.show(ViewOptions::default())?, notice).await
}

async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    shown: &TransactionView<'_>,
    notice: &Markup,
) -> Result {
    let mail = notifications::status(context.store, context.clock, record).await?;
    let manages = context.manages(&KeyLevel::Unit(shown.row.unit.clone()));
    let facts = TransactionDetails {
        created: created(context, shown).await,
        paid_at: record.paid_at(context.store).await?,
        prices: record.prices(context.store).await?,
        key: key(context.store, shown.key.as_deref()).await?,
        operates: context.may(Permission::Operate),
        manages,
        is_of_shop: context.is_of_shop(),
        sends: manages || context.may(Permission::Support),
        erasure: erasure(context, shown),
        resend: context.outbox.map(|_| resend_form(context, &shown.row.id, &mail)),
        mail,
    };
    Ok(Page::new("Transaction", facts.render(shown, notice)))
}

/// Shows the page of a transaction again, with the error of a form.
async fn refused<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    problem: &str,
) -> Result {
    let page = found(context, record, &view::problem(problem)).await?;
    Ok(Page { status: 422, ..page })
}

/// Renders when a transaction was created, in the time zone of its unit's profile. If the profile cannot be read, in UTC.
/// KV cost: 1 read.
async fn created<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    shown: &TransactionView<'_>,
) -> Markup {
    let row = units::get(context.store, &shown.row.unit).await.ok().flatten();
    let profile = row.and_then(|row| row.profile).map(|profile| NewProfile::from(&profile));
    let zone = profile.and_then(|profile| profile.time_zone);
    view::shop_time(context.clock, zone.as_deref(), &shown.row.created_at)
}

/// Returns the key that created a transaction; `None` if the key no longer exists.
async fn key(store: &impl OperatorStore, id: Option<&str>) -> Result<Option<KeyRow>> {
    let Some(id) = id else { return Ok(None) };
    match keys::get(store, id).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        found => Ok(found?),
    }
}

/// The parts of the page that are not in the transaction's record.
struct TransactionDetails {
    /// When the transaction was created, in the shop's time zone.
    created: Markup,
    paid_at: Option<PaidAt>,
    prices: Option<PriceListVersion>,
    mail: Status,
    key: Option<KeyRow>,
    /// Whether the person is an operator.
    operates: bool,
    /// Whether the person is an operator, or a manager of the unit.
    manages: bool,
    /// Whether the person belongs to a shop: then the page does not name operators.
    is_of_shop: bool,
    /// Whether the person may send the e-mail again.
    sends: bool,
    /// The form that erases the transaction.
    erasure: Markup,
    /// The form that sends the transaction's e-mail again; `None` if no queue is bound.
    resend: Option<Markup>,
}

impl TransactionDetails {
    fn render(&self, shown: &TransactionView<'_>, notice: &Markup) -> Markup {
        let row = &shown.row;
        html! {
            (notice)
            p.lead {
                (view::copyable(&row.id)) " " (mode(row.mode.is_live()))
                @if row.erased.is_some() { " " span.tag.alarm { "Erased" } }
                @if self.paid_at.is_some() { " " span.tag { "Paid" } }
            }
            div.columns {
                section { h2 { "Details" } (self.order(shown)) }
                section { h2 { "Recipient" } (self.recipient(shown)) }
            }
            section { h2 { "Pledges" } (self.pledges(shown)) }
            section #mail { h2 { "E-mail" } (self.mail(shown)) }
            @if self.manages { section { h2 { "Erase" } (self.erasure) } }
        }
    }

    fn order(&self, shown: &TransactionView<'_>) -> Markup {
        let (row, transaction) = (&shown.row, &shown.transaction);
        let repeat = if shown.repeatable {
            "Yes: created with an Idempotency-Key, so a retry returns this same transaction."
        } else {
            "No: created without an Idempotency-Key, so sending it again creates and charges a second \
             transaction."
        };
        let mut rows = vec![
            ("Reference", view::untrusted_text(&transaction.reference)),
            ("Created", self.created.clone()),
            ("Unit", unit(&row.unit)),
            ("Charge", html! { strong { (money(&row.amount, &row.currency_code)) } }),
            ("Paid", self.paid()),
            ("API key", self.made_by(shown.key.as_deref())),
            ("Safe to retry?", html! { (repeat) }),
        ];
        rows.extend(row.erased.as_ref().map(|at| ("Erased", view::time(at))));
        view::facts(&rows)
    }

    fn paid(&self) -> Markup {
        match &self.paid_at {
            Some(paid_at) => view::time(paid_at.as_str()),
            None => html! { "Not yet" },
        }
    }

    fn made_by(&self, id: Option<&str>) -> Markup {
        let Some(id) = id else { return html! { "Not recorded" } };
        let note = self.key.as_ref().and_then(|row| row.note.as_ref());
        html! {
            code { (id) }
            @match note {
                Some(note) => {
                    " of the " (level(&note.level, self.operates))
                    @if self.manages && !note.label.is_empty() { ", " (view::untrusted_text(&note.label)) }
                }
                None if self.key.is_some() => {}
                None => ", which was revoked or has expired",
            }
        }
    }

    fn recipient(&self, shown: &TransactionView<'_>) -> Markup {
        let transaction = &shown.transaction;
        let mut rows = vec![];
        if let Some(pledge) = transaction.pledges.first() {
            rows.extend(person(&pledge.recipient));
        }
        rows.extend(cause(&transaction.trigger));
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

    fn pledges(&self, shown: &TransactionView<'_>) -> Markup {
        let pledges = &shown.transaction.pledges;
        let prices = self.prices.as_ref().map(|list| &list.price_list);
        let row = |pledge: &RetrievedPledge<'_>| {
            let (price, amount) = priced(prices, pledge);
            vec![
                view::untrusted_text(&pledge.impact.offering_id),
                html! { (recipient::write_amount(Language::En, pledge.impact.amount)) },
                price,
                amount,
                html! { div.wide { (texts(&pledge.details)) } },
            ]
        };
        let rows: Vec<_> = pledges.iter().take(MAX_PLEDGES).map(row).collect();
        let rest = pledges.len() - rows.len();
        let headings = ["Offering", "Quantity", "Price", "Amount", "Details"];
        html! {
            (view::table_of(&headings, &["Quantity", "Price", "Amount"], &rows, "No pledges."))
            @if rest > 0 { p { "And " (rest) " more, which are included in the charge." } }
            p { (self.price_list(shown)) }
        }
    }

    fn price_list(&self, shown: &TransactionView<'_>) -> Markup {
        let unpriced = shown.row.unpriced;
        html! {
            @match &self.prices {
                Some(list) => {
                    "Charged by the price list of " (view::time(&list.time))
                    @if !self.is_of_shop { ", set by " (view::untrusted_text(&list.by)) }
                    ". The charge is rounded once, on the total."
                }
                None => "The price list used for this charge is not available.",
            }
            @if unpriced > 0 {
                " Pledges without a price, charged 0.00: " strong { (unpriced) } "."
            }
        }
    }

    fn mail(&self, shown: &TransactionView<'_>) -> Markup {
        let can_be_sent = notifications::can_be_sent(&self.mail);
        let is_asked = !matches!(self.mail.state, State::NotAsked | State::Erased);
        let preview = link::path(&["transactions", &shown.row.id, "mail"]);
        html! {
            (mail_state::facts(&self.mail))
            @if is_asked {
                p { a href=(preview) { "Preview" } " (personal data masked)" }
            }
            @if can_be_sent && self.sends {
                @match &self.resend { Some(form) => (form), None => p { (NO_QUEUE) } }
            }
        }
    }
}

pub(super) const NO_QUEUE: &str = "This dashboard cannot send e-mails, because it is not bound to the service's queue. To change this, bind \
     NOTIFICATIONS in wrangler.dashboard.toml and deploy again.";

/// Renders `Test` or `Live` as a tag.
pub(super) fn mode(is_live: bool) -> Markup {
    html! { @if is_live { span.tag { "Live" } } @else { span.tag.note { "Test" } } }
}

/// Renders `1.50 USD`.
pub(super) fn money(amount: &str, currency: &str) -> Markup {
    html! { span.number { (amount) " " (currency) } }
}

/// Renders a unit's ID as a link to its page.
pub(super) fn unit(id: &str) -> Markup {
    html! { a href=(link::path(&["units", id])) { (view::untrusted_text(id)) } }
}

/// Renders a transaction's ID as a link to its page.
pub(super) fn id_link(id: &str) -> Markup {
    html! { a href=(link::path(&["transactions", id])) { code.id { (id) } } }
}

/// Renders `unit x` or `team x`, with a link to its page if the person may open that.
pub(super) fn level(level: &KeyLevel, operates: bool) -> Markup {
    match level {
        KeyLevel::Unit(id) => html! { "unit " (unit(id)) },
        KeyLevel::Team(id) if operates => {
            html! { "team " a href=(link::page_of(level)) { (view::untrusted_text(id)) } }
        }
        KeyLevel::Team(id) => html! { "team " (view::untrusted_text(id)) },
    }
}

fn person(recipient: &Recipient<'_>) -> Vec<(&'static str, Markup)> {
    let names = [("First name", &recipient.first_name), ("Name", &recipient.name)];
    iter::once(("E-mail", view::untrusted_text(&recipient.email))).chain(given(names)).collect()
}

fn cause(trigger: &Trigger<'_>) -> Vec<(&'static str, Markup)> {
    let date =
        trigger.date.iter().map(|date| ("Happened on", html! { bdi { (view::time(date)) } }));
    let texts = [("What happened", &trigger.phrase), ("Link", &trigger.external_url)];
    date.chain(given(texts)).collect()
}

/// Renders those of the texts that are present, each with its name.
fn given<'t>(
    texts: impl IntoIterator<Item = (&'static str, &'t Option<Cow<'t, str>>)>,
) -> impl Iterator<Item = (&'static str, Markup)> {
    let present = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
    present.map(|(name, text)| (name, view::untrusted_text(text)))
}

/// Renders the price of a pledge's offering, and the amount: quantity × price.
fn priced(prices: Option<&PriceList>, pledge: &RetrievedPledge<'_>) -> (Markup, Markup) {
    let Some(prices) = prices else { return (html! { "–" }, html! { "–" }) };
    match prices.unit_prices.get(&*pledge.impact.offering_id) {
        None => (html! { span.tag.note { "no price" } }, html! { "0.00" }),
        Some(price) => {
            let amount = prices.amount(iter::once(&pledge.impact));
            (html! { (price.as_str()) }, html! { (amount) })
        }
    }
}

fn texts(details: &[PledgeDetail<'_>]) -> Markup {
    let texts = details.iter().flat_map(|detail| {
        [
            &detail.name,
            &detail.description,
            &detail.noun_singular,
            &detail.noun_plural,
            &detail.image,
            &detail.external_id,
            &detail.external_url,
        ]
    });
    let texts = texts.filter_map(|text| text.as_deref()).filter(|text| !text.is_empty());
    html! {
        @for (index, text) in texts.enumerate() { @if index > 0 { " · " } (view::untrusted_text(text)) }
    }
}

// ---- Unmasked ------------------------------------------------------------------------------------

fn reveal_button(id: &str) -> Markup {
    let action = link::path(&["transactions", id, "whole"]);
    let content = html! {
        p { small { "This also shows the link to the recipient's page. Your viewing is recorded in the audit log." } }
        button.quiet { "Show personal data" }
    };
    view::form(&action, &content)
}

/// Shows a transaction unmasked, with the URL of its timeline. Before that, records in the audit log that the person
/// views it. KV cost: that of [`transaction`], and 1 write.
pub(super) async fn reveal<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    let view = ViewOptions { reveal: true, timeline: true };
    let shown = transactions::reveal(context.store, &context.author, record, view).await?;
    let notice = view::notice(&html! {
        "This page shows personal data. Your viewing was recorded in the audit log."
    });
    page(context, record, &shown, &notice).await
}

// ---- The e-mail ----------------------------------------------------------------------------------

/// The form that sends an e-mail again. It contains the number of the resend (the round), so that sending the form
/// twice sends one e-mail.
pub(super) fn resend_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    mail: &Status,
) -> Markup {
    let risk = notifications::risk(mail);
    let content = html! {
        (view::hidden("round", &mail.next_round().to_string()))
        @if let Some(risk) = risk {
            label { input type="checkbox" name="sure" value="yes" required; (risk) ". Send it anyway." }
        }
        button.quiet[risk.is_some()] { "Send again" }
    };
    context.form(&link::path(&["transactions", id, "mail"]), &content)
}

/// Sends a transaction's e-mail again. Cost: at most 15 KV calls and 2 KV writes, and 1 call of the queue.
///
/// If a form is sent twice, its round is queued once, provided that Workers KV already shows the first message or that
/// this instance remembers it. A form whose round has ended does nothing.
pub(super) async fn resend<S: OperatorStore, C: Clock, E: Entropy>(
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

/// Whether the round of this form, or a later one, is in the queue.
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

/// Shows the e-mail as it would be sent now, masked, and with a link that does nothing. KV cost: at most 2 calls.
pub(super) async fn preview_mail<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
) -> Result {
    let mail = notifications::masked_preview(context.store, context.clock, record).await?;
    let link = format!("href=\"{}\"", notifications::NOWHERE);
    let document = mail.html.replace(&link, "href=\"#\""); // texts cannot match: their quotes are escaped
    Ok(Page { status: 200, content: Content::Document(document, Cow::Borrowed(MAIL_POLICY)) })
}

/// The `Content-Security-Policy` of e-mail previews. It allows inline styles, which e-mails use.
pub(super) const MAIL_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; sandbox";

// ---- Erase ---------------------------------------------------------------------------------------

fn erasure<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    shown: &TransactionView<'_>,
) -> Markup {
    let id = &shown.row.id;
    let field = view::Field {
        name: "id",
        label: "Type the transaction ID to confirm",
        hint: "It is at the top of this page.",
        required: true,
        ..view::Field::default()
    };
    let content = html! { (field.render()) button.alarm { "Erase permanently" } };
    html! {
        @match &shown.row.erased {
            None => p {
                "Permanently deletes the recipient's details and all texts. This cannot be undone. Offerings, \
                 quantities, times and the charge are kept for accounting. Backups and the shop's own systems \
                 still have the data."
            },
            Some(at) => p {
                "This transaction was erased on " (view::time(at)) ". Erasing it again removes data that an \
                 e-mail that was being sent at that time may have left."
            },
        }
        (context.form(&link::path(&["transactions", id, "erase"]), &content))
    }
}

/// Erases a transaction's personal data, if the person has typed its ID. The form may be sent again. KV cost: at most 7
/// reads, 10 writes.
pub(super) async fn erase<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Scoped<Record>,
    form: &Form,
) -> Result {
    if form.text("id") != record.id() {
        let problem = "nothing was erased: type the transaction ID that is at the top of the page";
        return refused(context, record, problem).await;
    }
    let done = transactions::erase(context.store, context.ledger, &context.author, record).await;
    let Done { outcome: erased, before } = match done {
        Err(OperatorError::Invalid(problem)) => return refused(context, record, &problem).await,
        outcome => outcome.map_err(Refusal::from)?,
    };
    let content = html! {
        (operation::before(before.as_ref()))
        (view::done(&html! {
            (id_link(&erased.id))
            @match &erased.before {
                None => " was erased.",
                Some(before) => { " was already erased on " (view::time(before)) "." }
            }
        }))
        p {
            "Offerings, quantities, times and the charge are kept. The page of the transaction may still show \
             the erased data for about " (SHOWN_SECONDS) " s. Backups and the shop's own systems still have it."
        }
    };
    Ok(Page::new("Erased", content))
}
