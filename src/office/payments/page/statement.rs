//! The statement of a month. It is a single sheet that the browser can print, or save as PDF.

use crate::buyer::recipient::Profile;
use crate::office::orders::operation as transactions;
use crate::office::orders::page::orders;
use crate::office::orders::rule::Export;
use crate::office::payments::operation::statements::statement_lines;
use crate::office::payments::rule::due_months::due_month;
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::statement as records;
use crate::office::payments::rule::statement::{Statement, StatementSum};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::Page;
use crate::office::shared::page::settings::Issuer;
use crate::office::shared::page::view::grouped;
use crate::office::shared::page::{link, listing, view};
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{ScopeMonth, SettledSum, Settlement};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Maximum number of lines of an address, a tax text or bank details.
const MAX_TEXT_LINES: usize = 8;
/// Maximum number of transactions in a CSV file. KV cost: 1 read per 100 transactions.
const MAX_TRANSACTIONS: u64 = 2_000;

/// Shows a statement. Ledger cost: 6 to 8 queries. KV cost: 2 reads, and 2 reads per 5 price lists of the month.
pub(crate) async fn statement<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    let of = month_of(context, id, query)?;
    let ledger = context.ledger;
    let statement = records::statement(context.store, ledger, context.clock, &of).await?;
    let content = html! {
        (warnings(&statement))
        (hints(&statement, &context.settings.issuer))
        (sheet(&statement, &context.settings.issuer))
        (links(&statement))
    };
    Ok(Page::new(format!("Statement {}", statement.number), content))
}

/// Renders a statement as it is printed.
pub(super) fn sheet(statement: &Statement, issuer: &Issuer) -> Markup {
    html! {
        article.sheet {
            div.columns {
                (from(issuer))
                (to(statement))
            }
            (facts(statement))
            @for sum in &statement.sums { (table(sum)) }
            @if statement.sums.is_empty() { p { "No transactions in this month." } }
            @if let Some(settled) = &statement.settled { (payment(settled)) }
            (details(issuer))
        }
    }
}

fn month_of<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result<ScopeMonth> {
    let path = link::path(&["units", id, "statement"]);
    let MonthSelection { mode, month } =
        MonthSelection::read(context, query, ("Statement", &path))?;
    Ok(ScopeMonth { scope: Scope { unit: id.to_owned(), mode }, month })
}

/// Renders the notices above a statement: that it is preliminary, and that its sums have changed since the payment.
pub(super) fn warnings(statement: &Statement) -> Markup {
    let differs = |settled: &Settlement| {
        let paid = |due: &Due| {
            let of = settled.sums.iter().find(|sum| sum.currency_code == due.currency_code);
            of.map_or("0.00", |sum| &sum.amount) == due.due
        };
        let is_listed = |paid: &SettledSum| {
            let mut codes = statement.sums.iter().map(|sum| &sum.due.currency_code);
            paid.amount == "0.00" || codes.any(|code| *code == paid.currency_code)
        };
        !(statement.sums.iter().all(|sum| paid(&sum.due)) && settled.sums.iter().all(is_listed))
    };
    html! {
        @if !statement.is_complete {
            (view::notice(&html! { "Preliminary: the month has not ended, or some of its transactions \
                                    are not in the ledger yet." }))
        }
        @if statement.settled.as_ref().is_some_and(differs) {
            (view::problem("the sums have changed since this month was marked as paid"))
        }
    }
}

/// Renders the notices about missing details. They are shown on the screen, but not printed.
fn hints(statement: &Statement, issuer: &Issuer) -> Markup {
    html! {
        div.screen {
            @if issuer.name.is_empty() {
                (view::notice(&html! {
                    "Your name, address, tax text and bank details are not set. Set the variables "
                    code { "BILLING_NAME" } ", " code { "BILLING_ADDRESS" } ", " code { "TAX_TEXT" } " and "
                    code { "BANK_DETAILS" } " of the dashboard."
                }))
            }
            @if statement.profile.as_ref().is_none_or(|profile| profile.billing_address.is_none()) {
                (view::notice(&html! {
                    "The shop has no billing address yet: set it in "
                    a href=(link::path(&["units", &statement.of.scope.unit])) { "the unit's profile" } "."
                }))
            }
            (view::coverage(&statement.coverage))
        }
    }
}

// ---- Who and what --------------------------------------------------------------------------------

fn lines_of(text: &str) -> Markup {
    html! { @for line in text.lines().take(MAX_TEXT_LINES) { div { (view::untrusted_text(line)) } } }
}

fn from(issuer: &Issuer) -> Markup {
    html! {
        address {
            strong { (view::untrusted_text(&issuer.name)) }
            (lines_of(&issuer.address))
        }
    }
}

fn to(statement: &Statement) -> Markup {
    let profile = statement.profile.as_ref();
    let name = profile.map(|it| it.billing_name.as_deref().unwrap_or_else(|| it.name()));
    let text = |of: fn(&Profile) -> Option<&String>| profile.and_then(of).map_or("", |text| text);
    html! {
        address {
            "To" br;
            strong { (view::untrusted_text(name.unwrap_or(&statement.of.scope.unit))) }
            (lines_of(text(|it| it.billing_address.as_ref())))
            (lines_of(text(|it| it.tax_text.as_ref())))
        }
    }
}

fn facts(Statement { number, of, .. }: &Statement) -> Markup {
    let mode = html! { (of.scope.mode.name()) " mode" @if of.scope.mode == Mode::Test { ": nothing to pay" } };
    view::facts(&[
        ("Statement", view::untrusted_text(number)),
        ("Month", html! { (view::month(of.month)) ", in UTC" }),
        ("Shop", html! { (view::untrusted_text(&of.scope.unit)) ", " (mode) }),
    ])
}

fn payment(settled: &Settlement) -> Markup {
    let paid =
        settled.sums.iter().map(|sum| [&*grouped(&sum.amount), " ", &*sum.currency_code].concat());
    html! {
        p {
            "Paid on " (view::day(settled.paid_at.as_str())) ", invoice " (view::untrusted_text(&settled.invoice))
            ": " (view::untrusted_text(&paid.collect::<Vec<_>>().join(" and "))) "."
        }
    }
}

fn details(issuer: &Issuer) -> Markup {
    html! {
        div.columns {
            div { (lines_of(&issuer.tax_text)) }
            div { (lines_of(&issuer.bank_details)) }
        }
    }
}

fn links(Statement { of, .. }: &Statement) -> Markup {
    let month = of.month.to_string();
    let shop = [("mode", of.scope.mode.name()), ("month", &*month)];
    let orders = orders::address(&[&[("unit", &*of.scope.unit)], shop.as_slice()].concat());
    html! {
        ul.links.screen {
            li { "To print the statement or save it as a PDF, use your browser's Print command." }
            li { a href=(link::with(&link::path(&["units", &of.scope.unit, "transactions.csv"]), &shop)) { "Download the month's transactions as CSV" } }
            li { a href=(orders) { "Transactions" } }
            li { a href=(link::payments_of(&of.scope)) { "Payments" } }
        }
    }
}

// ---- The table -----------------------------------------------------------------------------------

fn table(sum: &StatementSum) -> Markup {
    let due = &sum.due;
    html! {
        (listing::table(&statement_lines(sum)))
        p.soft {
            "Transactions: " (due.transactions) "."
            @if due.unpriced > 0 { " Pledges without a price, charged 0.00: " (due.unpriced) "." }
        }
    }
}

// ---- Its transactions ----------------------------------------------------------------------------

/// Returns the CSV export of the transactions of a month. Ledger cost: 5 to 9 queries. KV cost: 2 reads, and 1
/// read per 100 transactions.
pub(crate) async fn transactions_csv<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    let of = month_of(context, id, query)?;
    let ledger = context.ledger;
    let month = due_month(context.store, ledger, &of).await?;
    let count = month.sums.iter().map(|sum| sum.transactions).sum();
    if count > MAX_TRANSACTIONS {
        return Err(too_many(&of, count));
    }
    let mut export = Export::new(context.store, ledger, of.month, &[month]);
    let mut file = transactions::exported(&[]).csv();
    while let Some(lines) = export.next().await? {
        file.push_str(&transactions::exported(&lines).csv_lines());
    }
    let name = ["transactions", &of.scope.unit, of.scope.mode.name(), &of.month.to_string()];
    Ok(Page::csv_file(&name, file))
}

fn too_many(of: &ScopeMonth, count: u64) -> Refusal {
    Refusal::invalid(format!(
        "this unit has {count} transactions in {}, but a page can export at most {MAX_TRANSACTIONS}: use \
         the command `transactions export --month {} --unit {} --csv FILE`",
        of.month, of.month, of.scope.unit
    ))
}
