//! The operators' queries of the ledger.

use crate::orders::{RARE, Size, key};
use futures_executor::block_on;
use impact_pledge::office::fulfilment::rows::quantities;
use impact_pledge::office::fulfilment::rows::unit_quantities;
use impact_pledge::office::orders::rows::order::{Filter, PageCursor, TransactionState};
use impact_pledge::office::orders::rows::orders;
use impact_pledge::office::orders::rows::orders::{Direction, by_email, by_reference};
use impact_pledge::office::payments::rows::scope_months;
use impact_pledge::office::payments::rows::scope_months::MonthFilter;
use impact_pledge::office::payments::rows::sums;
use impact_pledge::office::payments::rows::sums::{months_of, sums};
use impact_pledge::office::prices::rows as priced;
use impact_pledge::office::shared::rows::port::Ledger;
use impact_pledge::office::shops::rows::scopes;
use impact_pledge::office::system::rows::attention;
use impact_pledge::office::system::rows::unusual;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use support::ledger::SqliteLedger;
use support::service::SECRET;

const PAGE: usize = 50;
const EXPORTED: usize = 1_000;
const BIGGEST: &str = "unit_0";

/// A query of the ledger. Its function returns the number of rows in the answer.
pub struct Question {
    pub name: String,
    pub ask: Box<Ask>,
}

type Ask = dyn Fn(&dyn Ledger) -> usize;

fn question(name: &str, ask: impl Fn(&dyn Ledger) -> usize + 'static) -> Question {
    Question { name: name.to_owned(), ask: Box::new(ask) }
}

/// Returns all queries, for a database that was filled with this number of orders and shops.
pub fn questions(ledger: &SqliteLedger, size: Size) -> Vec<Question> {
    let shops = block_on(scopes::scopes(ledger, None, None)).unwrap();
    [lists(ledger, size), searches(shops, size), totals(), tasks(size)]
        .into_iter()
        .flatten()
        .collect()
}

// ---- Lists ---------------------------------------------------------------------------------------

fn lists(ledger: &SqliteLedger, size: Size) -> Vec<Question> {
    let of_biggest = || Filter {
        units: Some(vec![BIGGEST.to_owned()]),
        mode: Some(Mode::Live),
        ..Filter::default()
    };
    let of_key = |number| Filter { key: Some(key(0, number)), ..Filter::default() };
    let june = || Filter {
        from: size.created_ms(size.orders * 5 / 12),
        until: Some(size.created_ms(size.orders / 2)),
        ..of_biggest()
    };
    let middle = middle(ledger, size);
    let (older, newer) = (Direction::Older(middle.clone()), Direction::Newer(middle));
    vec![
        list("newest 50 of the biggest shop", of_biggest(), &Direction::Newest, PAGE),
        list("older 50, from its middle", of_biggest(), &older, PAGE),
        list("newer 50, from its middle", of_biggest(), &newer, PAGE),
        list("newest 50 of all shops", Filter::default(), &Direction::Newest, PAGE),
        list("older 50 of all, from the middle", Filter::default(), &older, PAGE),
        list("newer 50 of all, from the middle", Filter::default(), &newer, PAGE),
        list("newest 50 of a key", of_key(0), &Direction::Newest, PAGE),
        list("newest 50 of a rare key of the biggest shop", of_key(RARE), &Direction::Newest, PAGE),
        list(
            "newest 50 without a price, biggest shop",
            Filter { state: Some(TransactionState::Unpriced), ..of_biggest() },
            &Direction::Newest,
            PAGE,
        ),
        list(
            "newest 50 without a price, all shops",
            Filter { state: Some(TransactionState::Unpriced), ..Filter::default() },
            &Direction::Newest,
            PAGE,
        ),
        list("1,000 of a month of the biggest shop", june(), &Direction::Newest, EXPORTED),
    ]
}

fn list(name: &str, filter: Filter, from: &Direction, most: usize) -> Question {
    let from = from.clone();
    question(name, move |ledger| {
        block_on(orders::orders(ledger, &filter, &from, most)).unwrap().orders.len()
    })
}

/// Returns a page cursor in the middle of all orders.
fn middle(ledger: &SqliteLedger, size: Size) -> PageCursor {
    let until = Some(size.created_ms(size.orders / 2));
    let filter = Filter { until, ..Filter::default() };
    let page = block_on(orders::orders(ledger, &filter, &Direction::Newest, 1)).unwrap();
    page.orders[0].place()
}

// ---- Searches ------------------------------------------------------------------------------------

fn searches(shops: Vec<Scope>, size: Size) -> Vec<Question> {
    let of_email = shops.clone();
    vec![
        question("by e-mail address, all shops", move |ledger| {
            let asked = (&*of_email, "buyer-7@shop.example");
            let found = by_email(ledger, &SECRET, asked, &Direction::Newest, PAGE);
            block_on(found).unwrap().orders.len()
        }),
        question("by reference, all shops", move |ledger| {
            let reference = format!("order-{}", size.orders / 3);
            let found =
                by_reference(ledger, &SECRET, (&shops, &reference), &Direction::Newest, PAGE);
            block_on(found).unwrap().orders.len()
        }),
    ]
}

// ---- Sums ----------------------------------------------------------------------------------------

fn totals() -> Vec<Question> {
    let june = || vec![Month::parse("2026-06").unwrap()];
    let year = || (1..=12).filter_map(|month| Month::parse(&format!("2026-{month:02}"))).collect();
    vec![
        sum("a month of the biggest shop", true, june()),
        sum("twelve months of the biggest shop", true, year()),
        sum("a month of all shops", false, june()),
        sum("twelve months of all shops", false, year()),
        quantities("quantities of a month, biggest shop", true, june()),
        quantities("quantities of a month, all shops", false, june()),
        quantities("quantities of twelve months, all shops", false, year()),
        quantities("quantities of twelve months, biggest shop", true, year()),
        question("shops of an offering in a month", |ledger| {
            let month = Month::parse("2026-06").unwrap();
            let found =
                unit_quantities::by_unit(ledger, Mode::Live, month, "offering-07", EXPORTED);
            block_on(found).unwrap().len()
        }),
        payments("unpaid months of all shops, a page", None, year()),
        payments("unpaid months of the biggest shop, a page", Some(BIGGEST), year()),
        question("a statement of the biggest shop", |ledger| {
            let scope = Scope { mode: Mode::Live, unit: BIGGEST.to_owned() };
            let june = ScopeMonth { scope, month: Month::parse("2026-06").unwrap() };
            block_on(priced::priced(ledger, &june, EXPORTED)).unwrap().quantities.len()
        }),
        question("first and last month of all shops", |ledger| {
            block_on(months_of(ledger, None, None)).unwrap().len()
        }),
    ]
}

fn sum(name: &str, is_biggest: bool, months: Vec<Month>) -> Question {
    let (mode, units) = shop(is_biggest);
    question(name, move |ledger| {
        block_on(sums(ledger, mode, units.as_deref(), &months)).unwrap().len()
    })
}

/// Returns the query that lists a page of unpaid months and sums their charges.
fn payments(name: &str, unit: Option<&str>, months: Vec<Month>) -> Question {
    let filter = MonthFilter {
        mode: Some(Mode::Live),
        unit: unit.map(str::to_owned),
        months,
        is_paid: Some(false),
    };
    question(name, move |ledger| {
        let listed = block_on(scope_months::scope_months(ledger, &filter, None, PAGE)).unwrap();
        block_on(sums::listed_sums(ledger, &listed)).unwrap().len()
    })
}

fn quantities(name: &str, is_biggest: bool, months: Vec<Month>) -> Question {
    let (mode, units) = shop(is_biggest);
    question(name, move |ledger| {
        let found =
            quantities::quantities(ledger, mode, units.as_deref(), &months, usize::MAX >> 1);
        block_on(found).unwrap().len()
    })
}

fn shop(is_biggest: bool) -> (Option<Mode>, Option<Vec<String>>) {
    match is_biggest {
        true => (Some(Mode::Live), Some(vec![BIGGEST.to_owned()])),
        false => (None, None),
    }
}

// ---- Tasks of the start page ---------------------------------------------------------------------

fn tasks(size: Size) -> Vec<Question> {
    let year = || (1..=12).filter_map(|month| Month::parse(&format!("2026-{month:02}"))).collect();
    let (unpriced, unsettled): (Vec<_>, Vec<_>) = (year(), year());
    let last_quarter_ms = size.created_ms(size.orders * 3 / 4);
    vec![
        question("months with unpriced pledges", move |ledger| {
            block_on(attention::unpriced(ledger, &unpriced)).unwrap().len()
        }),
        question("months to settle", move |ledger| {
            block_on(attention::unsettled(ledger, &unsettled)).unwrap().owed.len()
        }),
        question("unusual charges of 90 days", move |ledger| {
            block_on(unusual::unusual(ledger, last_quarter_ms, None, 5)).unwrap().newest.len()
        }),
    ]
}
