//! The table of months: what a shop owes for each, what it has paid, and for accounts the forms that change this.

use crate::office::orders::page::orders;
use crate::office::payments::rule::dues::Due;
use crate::office::payments::rule::usage::MonthUsage;
use crate::office::shared::page::unit_names::UnitNames;
use crate::office::shared::page::{link, view};
use crate::pledges::settlement::ScopeMonth;
use maud::{Markup, html};

/// The name of the field with the query of the list of payments from which the person came.
pub(super) const LIST: &str = "list";

const UNIT: &str = "Unit";
const HEADINGS: [&str; 8] =
    ["Month", UNIT, "Transactions", "Sum", "Credited", "Due", "Payment", "Statement"];
const NUMBERS: [&str; 4] = ["Transactions", "Sum", "Credited", "Due"];

/// How months are listed.
pub(super) struct Months<'a> {
    pub now_ms: u64,
    /// The names of the units; `None` for a list of one unit, which has no column for it.
    pub names: Option<&'a UnitNames>,
    /// Whether the reader may mark months as paid.
    pub marks: bool,
    /// The query of the list, which the forms of its rows pass on, so that their pages lead back to it.
    pub list: &'a str,
}

impl Months<'_> {
    pub fn table(&self, months: &[MonthUsage]) -> Markup {
        let rows: Vec<_> = months.iter().flat_map(|usage| self.rows(usage)).collect();
        let is_shown = |heading: &&str| *heading != UNIT || self.names.is_some();
        let headings: Vec<_> = HEADINGS.into_iter().filter(is_shown).collect();
        view::table_of(&headings, &NUMBERS, &rows, "No months match.")
    }

    /// Renders the rows of a month, one for each currency. Only the first row has the forms.
    fn rows(&self, usage: &MonthUsage) -> Vec<Vec<Markup>> {
        let has_ended = usage.of.month.has_ended(self.now_ms);
        let row = |(index, due): (usize, &Due)| {
            let is_first = index == 0;
            let mut row = vec![month(&usage.of)];
            row.extend(self.names.map(|names| {
                names.link_to(&link::payments_of(&usage.of.scope), &usage.of.scope.unit)
            }));
            row.extend([
                html! {
                    @if due.unpriced > 0 {
                        a.tag.note href=(of_month(usage, &[("state", "unpriced")])) { (due.unpriced) " unpriced" } " "
                    }
                    (view::grouped(due.transactions))
                },
                amount(&due.amount, due),
                credited(due),
                html! { strong { (amount(&due.due, due)) } },
                html! { (payment(usage, due, has_ended)) @if is_first { (self.offer(usage, has_ended)) (changes(usage)) } },
                html! { @if is_first { (statement(&usage.of)) } },
            ]);
            row
        };
        usage.sums.iter().enumerate().map(row).collect()
    }

    /// Renders the link to the form that marks a month as paid or, if it is marked, the button that undoes this. Renders nothing for
    /// a month that has not ended.
    fn offer(&self, usage: &MonthUsage, has_ended: bool) -> Markup {
        match usage.settled {
            _ if !self.marks => html! {},
            Some(_) => self.undo_form(&usage.of),
            None if has_ended => self.mark_link(&usage.of),
            None => html! {},
        }
    }

    fn mark_link(&self, of: &ScopeMonth) -> Markup {
        let (unit, mode) = (&*of.scope.unit, of.scope.mode.name());
        let query = [("mode", mode), ("month", &*of.month.to_string()), (LIST, self.list)];
        let address = link::with(&link::path(&["units", unit, "paid"]), &query);
        html! { a href=(address) aria-label={ "Mark as paid " (view::month(of.month)) " of " (unit) } { "Mark as paid …" } }
    }

    fn undo_form(&self, of: &ScopeMonth) -> Markup {
        view::form(
            &link::path(&["units", &of.scope.unit, "unpaid"]),
            &html! {
                (view::hidden("mode", of.scope.mode.name()))
                (view::hidden("month", &of.month.to_string()))
                (view::hidden(LIST, self.list))
                button.quiet aria-label={ "Undo " (view::month(of.month)) " of " (of.scope.unit) } { "Undo …" }
            },
        )
    }
}

/// Renders a month on one line.
pub(super) fn month(of: &ScopeMonth) -> Markup {
    html! { (view::month(of.month).replace(' ', "\u{a0}")) }
}

pub(super) fn amount(text: &str, due: &Due) -> Markup {
    html! { (view::grouped(text)) " " (view::untrusted_text(&due.currency_code)) }
}

/// Renders the credits in a sum, and the amounts carried from earlier months and to later ones. Renders
/// nothing if there are none.
fn credited(sum: &Due) -> Markup {
    html! {
        @if sum.credited != "0.00" { (view::grouped(&sum.credited)) }
        @if sum.carried != "0.00" { div { small { (view::grouped(&sum.carried)) " carried from earlier months" } } }
        @if let Some(excess) = sum.excess() { div { small { (view::grouped(excess)) " carried to a later month" } } }
    }
}

/// Renders whether a sum was paid. Adds a warning if the paid amount differs from the amount due.
fn payment(usage: &MonthUsage, sum: &Due, has_ended: bool) -> Markup {
    match (&usage.settled, usage.paid_of(sum)) {
        (Some(settled), Some(amount)) => html! {
            div {
                "Paid on " (view::day(settled.paid_at.as_str())) ", invoice " (view::untrusted_text(&settled.invoice))
                @if amount != sum.due { " " span.tag.alarm { "paid " (view::grouped(amount)) } }
            }
            div { small { "marked by " (view::untrusted_text(&settled.by)) } }
        },
        _ if has_ended && !sum.is_owed() => html! { span.tag { "nothing due" } " " },
        _ if has_ended => html! { span.tag.note { "unpaid" } " " },
        _ => html! { span.tag { "in progress" } " " },
    }
}

/// Renders a link to the transactions that were added or changed after the month was marked as paid. Renders nothing if
/// the amounts due and the number of transactions are still the same.
fn changes(usage: &MonthUsage) -> Markup {
    let settled = usage.settled.as_ref().filter(|_| usage.differs());
    html! {
        @if let Some(settled) = settled {
            div { small { a href=(of_month(usage, &[("since", &settled.at)])) { "Changed since it was marked as paid" } } }
        }
    }
}

fn statement(of: &ScopeMonth) -> Markup {
    let name = ["Statement of ", &view::month(of.month), " for ", &of.scope.unit].concat();
    html! { a href=(link::statement(of)) aria-label=(name) { "Statement" } }
}

fn of_month(usage: &MonthUsage, more: &[(&str, &str)]) -> String {
    let ScopeMonth { scope, month } = &usage.of;
    let month = month.to_string();
    let of = [("unit", &*scope.unit), ("mode", scope.mode.name()), ("month", &month)];
    orders::address(&[of.as_slice(), more].concat())
}
