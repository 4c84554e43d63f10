//! What a shop, which is a unit in a mode, has used by month, and what it has paid.

use super::access::Act;
use super::chart::{Bar, chart};
use super::form::Form;
use super::frame::{Content, Page};
use super::transaction::id_link;
use super::{Desk, Refusal, Result, link, view};
use crate::handle::{Clock, Entropy};
use crate::operator::csv::{self, BYTE_ORDER_MARK};
use crate::operator::payments;
use crate::operator::transactions::{Damaged, Row};
use crate::operator::usage::{self, MonthSum, MonthUsage, Partial};
use crate::pledge::CurrencyCode;
use crate::scope::Mode;
use crate::settlement::{Month, SettledSum, Settlement};
use crate::store::OperatorStore;
use crate::time::{date_time, day_of};
use maud::{Markup, html};
use strum::VariantArray as _;

/// Most list calls of a step, each of up to 1,000 transactions.
const LISTS: usize = 40;
/// Most months of a page, and most transactions.
const MAX_MONTHS: usize = 120;
const MAX_ROWS: usize = 200;

/// A shop.
#[derive(Clone, Copy)]
struct Shop<'s> {
    unit: &'s str,
    mode: Mode,
}

impl Shop<'_> {
    fn path(&self, last: &str) -> String {
        link::path(&["units", self.unit, last])
    }

    fn page(&self) -> String {
        self.path("usage") + "?mode=" + self.mode.name()
    }
}

/// The months that were counted or paid. Makes two lists of Workers KV, and three reads for each 100 months.
pub(super) async fn usage<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    let shop = Shop { unit: id, mode: query.mode()? };
    let months = known(desk.store, shop).await?;
    Ok(page(desk, shop, &months, &html! {}))
}

/// The same as a file for a spreadsheet, with as many calls.
pub(super) async fn usage_csv<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    let shop = Shop { unit: id, mode: query.mode()? };
    let months = known(desk.store, shop).await?;
    let now = date_time(desk.clock.now_ms());
    let name = format!("usage-{}-{}.csv", shop.mode.name(), day_of(&now));
    let file = [BYTE_ORDER_MARK, &csv::lines(lines(shop, &months))].concat();
    Ok(Page { status: 200, content: Content::Csv(name, file.into_bytes()) })
}

/// The months that were counted or are marked as paid, the newest first.
async fn known(store: &impl OperatorStore, shop: Shop<'_>) -> Result<Vec<MonthUsage>> {
    let kept = usage::kept(store, shop.unit, shop.mode).await?;
    with_paid(store, shop, kept).await
}

/// Adds the months that are marked as paid and were not counted, with the sums that were paid: the newest
/// stays first.
async fn with_paid(
    store: &impl OperatorStore,
    shop: Shop<'_>,
    mut months: Vec<MonthUsage>,
) -> Result<Vec<MonthUsage>> {
    for paid in payments::list(store, shop.unit, Some(shop.mode)).await? {
        let Some(month) = Month::parse(&paid.month) else { continue };
        let place = months.partition_point(|known| known.month > month);
        if months.get(place).is_none_or(|known| known.month != month) {
            let sums = paid.settlement.sums.clone();
            let transactions = sums.iter().map(|sum| sum.transactions).sum();
            let (counted_at, settled) = (String::new(), Some(paid.settlement));
            months.insert(place, MonthUsage { month, sums, transactions, counted_at, settled });
        }
    }
    Ok(months)
}

// ---- The page ------------------------------------------------------------------------------------

fn page<S, C: Clock, E>(
    desk: &Desk<'_, S, C, E>,
    shop: Shop<'_>,
    months: &[MonthUsage],
    above: &Markup,
) -> Page {
    let Shop { unit, mode } = shop;
    let now_ms = desk.clock.now_ms();
    let shown = months.get(..MAX_MONTHS).unwrap_or(months);
    let content = html! {
        (above)
        p.lead { "The unit " a href=(link::path(&["units", unit])) { (view::told(unit)) } }
        (view::modes(&shop.path("usage"), mode))
        section {
            @if months.is_empty() { p { "Nothing is counted here yet." } }
            @else { (charts(shown)) (table(shop, shown, now_ms)) }
            @if shown.len() < months.len() {
                p { small { "The newest " (MAX_MONTHS) " months; the file has all." } }
            }
            (counted(shop, months))
        }
        (view::made_just_now())
    };
    Page::new("Usage", content)
}

/// The charts of the last year, one for each currency.
fn charts(months: &[MonthUsage]) -> Markup {
    let Some(last) = months.first() else { return html! {} };
    let codes = CurrencyCode::VARIANTS.iter().map(|currency| currency.code());
    html! {
        div.columns { @for code in codes { (chart(code, last.month, &bars(months, code))) } }
    }
}

/// The bars of one currency, the oldest first.
fn bars<'m>(months: &'m [MonthUsage], code: &str) -> Vec<Bar<'m>> {
    let bar = |usage: &'m MonthUsage| {
        let sum = usage.sums.iter().find(|sum| sum.currency_code == code)?;
        Some(Bar { month: usage.month, amount: &sum.amount, is_paid: usage.settled.is_some() })
    };
    months.iter().rev().filter_map(bar).collect()
}

fn table(shop: Shop<'_>, months: &[MonthUsage], now_ms: u64) -> Markup {
    let rows: Vec<_> = months.iter().flat_map(|usage| rows(shop, usage, now_ms)).collect();
    let headings = ["Month", "Sum", "Payment", "Transactions", "Without a price"];
    view::table_of(&headings, &["Sum", "Transactions", "Without a price"], &rows, "")
}

/// A row for each currency; what can be done is in the first one.
fn rows(shop: Shop<'_>, usage: &MonthUsage, now_ms: u64) -> Vec<Vec<Markup>> {
    let row = |(index, sum): (usize, &SettledSum)| {
        vec![
            html! { (view::month(usage.month).replace(' ', "\u{a0}")) },
            html! { (sum.amount) " " (view::told(&sum.currency_code)) },
            html! { div.wide { (payment(shop, usage, sum, index == 0, now_ms)) } },
            html! { (sum.transactions) },
            html! { @if sum.unpriced > 0 { (sum.unpriced) " " (unpriced_form(shop, usage.month)) } },
        ]
    };
    usage.sums.iter().enumerate().map(row).collect()
}

fn unpriced_form(shop: Shop<'_>, month: Month) -> Markup {
    view::form(
        &shop.path("usage"),
        &html! {
            (of_month(shop, month))
            (view::hidden("unpriced", "list"))
            button.quiet aria-label={ "List those of " (view::month(month)) } { "List" }
        },
    )
}

fn of_month(shop: Shop<'_>, month: Month) -> Markup {
    html! {
        (view::hidden("mode", shop.mode.name()))
        (view::hidden("month", &month.to_string()))
    }
}

/// Whether a sum was paid, and what can be done about it.
fn payment(
    shop: Shop<'_>,
    usage: &MonthUsage,
    sum: &SettledSum,
    is_first: bool,
    now_ms: u64,
) -> Markup {
    let month = usage.month;
    match &usage.settled {
        Some(settled) => html! {
            (paid(settled, sum))
            @if is_first { (month_form(shop, month, "unpaid", "Undo …", html! {})) }
        },
        None if !month.has_ended(now_ms) => html! { span.tag { "so far" } },
        None => html! {
            span.tag.note { "unpaid" } " "
            @if is_first {
                (month_form(shop, month, "paid", "Mark as paid …", view::hidden("currencies", &codes(usage))))
            }
        },
    }
}

fn month_form(shop: Shop<'_>, month: Month, last: &str, label: &str, more: Markup) -> Markup {
    view::form(
        &shop.path(last),
        &html! {
            (of_month(shop, month))
            (more)
            button.quiet aria-label={ (label) " " (view::month(month)) } { (label) }
        },
    )
}

fn codes(usage: &MonthUsage) -> String {
    usage.sums.iter().map(|sum| &*sum.currency_code).collect::<Vec<_>>().join(" ")
}

/// What was paid of a sum; a warning if it is another amount.
fn paid(settled: &Settlement, sum: &SettledSum) -> Markup {
    let of = settled.sums.iter().find(|paid| paid.currency_code == sum.currency_code);
    let amount = of.map_or("0.00", |paid| &*paid.amount);
    html! {
        div {
            "Paid on " (view::day(settled.paid_at.as_str())) ", invoice " (view::told(&settled.invoice))
            @if amount != sum.amount { " " span.tag.alarm { (amount) " was paid" } }
        }
        div { small { "marked by " (view::told(&settled.by)) } }
    }
}

/// When it was counted, and the form that counts.
fn counted(shop: Shop<'_>, months: &[MonthUsage]) -> Markup {
    let counted_at = months.iter().map(|usage| &*usage.counted_at).find(|at| !at.is_empty());
    html! {
        p {
            small {
                @if let Some(at) = counted_at { "Counted on " (view::time(at)) ". " }
                "Months are those of UTC, by when a transaction was created. A month's sum is kept once it "
                "has ended for a day; the month that goes on is shown when you count."
            }
        }
        div.row {
            (view::form(&shop.path("usage"), &html! {
                (view::hidden("mode", shop.mode.name()))
                button { @if counted_at.is_some() { "Count again" } @else { "Count" } }
            }))
            @if !months.is_empty() {
                a href={ (shop.path("usage.csv")) "?mode=" (shop.mode.name()) } { "File for a spreadsheet (CSV)" }
            }
        }
    }
}

// ---- The file ------------------------------------------------------------------------------------

const HEADINGS: [&str; 13] = [
    "unit",
    "mode",
    "month",
    "currency",
    "amount",
    "transactions",
    "unpriced",
    "counted_at",
    "paid_at",
    "paid_amount",
    "invoice",
    "marked_by",
    "marked_at",
];

fn lines(shop: Shop<'_>, months: &[MonthUsage]) -> Vec<Vec<String>> {
    let headings = HEADINGS.map(str::to_owned).to_vec();
    let lines = months.iter().flat_map(|usage| usage.sums.iter().map(|sum| line(shop, usage, sum)));
    std::iter::once(headings).chain(lines).collect()
}

fn line(shop: Shop<'_>, usage: &MonthUsage, sum: &SettledSum) -> Vec<String> {
    let mut line = vec![
        csv::text(shop.unit),
        shop.mode.name().to_owned(),
        usage.month.to_string(),
        csv::text(&sum.currency_code),
        csv::text(&sum.amount),
        sum.transactions.to_string(),
        sum.unpriced.to_string(),
        csv::text(&usage.counted_at),
    ];
    if let Some(Settlement { paid_at, sums, invoice, by, at }) = &usage.settled {
        let paid = sums.iter().find(|paid| paid.currency_code == sum.currency_code);
        let amount = paid.map(|paid| &*paid.amount).unwrap_or_default();
        line.extend([paid_at.as_str(), amount, invoice, by, at].map(csv::text));
    }
    line.resize(HEADINGS.len(), String::new());
    line
}

// ---- Count ---------------------------------------------------------------------------------------

/// Counts in steps, each of at most 40 lists of Workers KV; the last one makes also three calls, two reads
/// for each 100 months, and a write for each month that has ended. Or lists what has no price.
pub(super) async fn count<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let shop = Shop { unit: id, mode: form.mode()? };
    if form.given("unpriced").is_some() {
        return unpriced(desk, shop, month_of(form)?).await;
    }
    let partial = form.given("partial").map(|text| {
        Partial::parse(text).ok_or_else(|| {
            Refusal::invalid(
                "what was counted before cannot be read: begin again on the page of usage",
            )
        })
    });
    let partial = partial.transpose()?;
    let step =
        usage::count_step(desk.store, desk.clock, id, shop.mode, partial.as_ref(), LISTS).await?;
    if let Some(next) = &step.next {
        return Ok(go_on(shop, step.listed, next));
    }
    let months = with_paid(desk.store, shop, step.months).await?;
    let above = html! {
        (view::done(&html! { "Counted: " (step.listed) " transactions." }))
        (damaged(&step.damaged))
    };
    Ok(page(desk, shop, &months, &above))
}

fn go_on(shop: Shop<'_>, listed: usize, next: &Partial) -> Page {
    let content = html! {
        p.lead { "Counted so far: " (listed) " transactions. There are more." }
        (view::form(&shop.path("usage"), &html! {
            (view::hidden("mode", shop.mode.name()))
            (view::hidden("partial", &next.to_string()))
            button { "Go on" }
        }))
        (back(shop))
    };
    Page::new("Usage", content)
}

fn damaged(Damaged { count, first }: &Damaged) -> Markup {
    html! {
        @if let Some(first) = first {
            (view::notice(&html! {
                "Records that cannot be read and are in no sum: " (count) ", first " (view::told(first)) "."
            }))
        }
    }
}

fn back(shop: Shop<'_>) -> Markup {
    html! { p { a href=(shop.page()) { "Back to usage" } } }
}

/// The transactions of a month with a pledge without a price. Makes at most 40 lists.
async fn unpriced<S: OperatorStore, C: Clock, E: Entropy>(
    desk: &Desk<'_, S, C, E>,
    shop: Shop<'_>,
    month: Month,
) -> Result {
    let MonthSum { unpriced, is_cut, .. } =
        usage::sum_month(desk.store, (shop.unit, shop.mode), month, LISTS, MAX_ROWS).await?;
    let is_all = !is_cut && unpriced.len() < MAX_ROWS;
    let row = |row: &Row| {
        vec![
            match desk.may(Act::Support) {
                true => id_link(&row.id),
                false => html! { code.id { (view::told(&row.id)) } },
            },
            view::time(&row.created_at),
            html! { (row.unpriced) },
            html! { (row.amount) " " (row.currency_code.code()) },
        ]
    };
    let rows: Vec<_> = unpriced.iter().map(row).collect();
    let headings = ["Transaction", "Created", "Pledges without a price", "Charge"];
    let numbers = ["Pledges without a price", "Charge"];
    let content = html! {
        p.lead {
            "Transactions of " (view::month(month)) " with a pledge whose offering had no price: it costs \
             nothing."
        }
        section { (view::table_of(&headings, &numbers, &rows, "There are none.")) }
        @if !is_all {
            (view::notice(&html! {
                "There may be more: these are the first " (unpriced.len()) " of the first "
                (LISTS * 1_000) " transactions of the unit. The command "
                code { "transactions usage --unpriced" } " lists all."
            }))
        }
        (back(shop))
    };
    Ok(Page::new("Without a price", content))
}

fn month_of(form: &Form) -> Result<Month> {
    Month::parse(form.text("month"))
        .ok_or_else(|| Refusal::invalid("say which month, such as 2026-10"))
}
