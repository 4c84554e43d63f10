//! The rules for the orders of shop systems, which are checked at the end of a simulation.

use crate::books::Books;
use crate::exact::{exact, exact_text};
use crate::order_bodies::{OrderId, SHOPS, Sent, owner, refunded, trees};
use crate::order_state::Delivery;
use crate::rule::{Wrong, unless};
use crate::simulation::Simulation;
use num_bigint::BigUint;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The outcomes of deliveries in these simulations. Nothing is refused, no connection is ended, and only what an erased buyer
/// ordered may be `lost`.
const OUTCOMES: &[&str] = &["pledged", "known", "credited", "held", "skipped"];
const LOST: &str = "lost";
/// The outcomes after which the body must be gone.
const OVER: &[&str] = &["pledged", "known", "credited"];

/// The transaction of an order.
struct Pledge {
    id: String,
    version: usize,
    trees: f64,
}

/// Returns the transactions of each order, by the address of the buyer. An erased transaction counts as it was.
fn pledges(simulation: &Simulation) -> BTreeMap<OrderId, Vec<Pledge>> {
    let mut all = BTreeMap::<OrderId, Vec<Pledge>>::new();
    let versions = simulation.kv.versions.borrow();
    for (name, versions) in versions.range("transaction:".to_owned()..) {
        let (Some(id), Some(first)) = (name.strip_prefix("transaction:"), versions.first()) else {
            break;
        };
        let Some(record) = &first.held else { continue };
        let pledges = record.json()["pledges"].as_array().cloned().unwrap_or_default();
        let email = pledges.first().and_then(|one| one["recipient"]["email"].as_str());
        let Some((order, version)) = email.and_then(owner) else { continue };
        let trees = pledges.iter().filter_map(|one| one["impact"]["amount"].as_f64()).sum();
        all.entry(order).or_default().push(Pledge { id: id.to_owned(), version, trees });
    }
    all
}

/// Returns the orders whose refund or cancellation came first, as the ledger says.
fn held(books: &Books) -> BTreeSet<OrderId> {
    let rows = books
        .database
        .json("SELECT json_array(store, number) FROM shop_orders WHERE state = 'held'");
    let order = |row: Value| {
        let shop = SHOPS.iter().position(|shop| row[0] == **shop)?;
        Some(OrderId { shop, number: row[1].as_str()?.parse().ok()? })
    };
    rows.into_iter().filter_map(order).collect()
}

/// Checks that an order whose delivery was answered with 200 is pledged once. It is not pledged if a refund or a
/// cancellation came first, or if its buyer was erased while it waited.
pub fn a_paid_order_is_pledged_once(simulation: &Simulation, books: &Books) -> Wrong {
    let (pledges, held, rows) = (pledges(simulation), held(books), outcomes(books));
    let deliveries = books.orders.deliveries.borrow();
    let of = |order: OrderId| deliveries.iter().filter(move |it| it.order == order);
    let twice = pledges.iter().find(|(_, pledges)| pledges.len() > 1);
    if let Some((order, pledges)) = twice {
        return Some(format!("{order:?} has {} transactions", pledges.len()));
    }
    let orders: BTreeSet<_> = deliveries.iter().map(|it| it.order).collect();
    orders.into_iter().find_map(|order| {
        let is_refund =
            |it: &Delivery| matches!(it.sent, Sent::Refund(_)) || it.sent.is_cancelled();
        let was_refunded = of(order).any(is_refund);
        let is_held = held.contains(&order);
        let is_paid = of(order).any(|it| it.sent.is_paid() && is_taken(it, &rows));
        let was_sent = of(order).any(|it| it.sent.is_paid());
        let is_right = match pledges.contains_key(&order) {
            true => was_sent && !is_held,
            false => !is_paid || (is_held && was_refunded),
        };
        (!is_right).then(|| format!("{order:?}: held {is_held}, sent as paid {was_sent}"))
    })
}

/// Checks that all create requests with one idempotency key are the same, and of one order. So what was frozen first is
/// pledged, and no order takes the place of another.
pub fn an_order_is_frozen_once(_: &Simulation, books: &Books) -> Wrong {
    let mut known = BTreeMap::new();
    let creates = books.orders.creates.borrow();
    creates.iter().find_map(|(key, body)| {
        let first = known.entry(key).or_insert(body);
        (*first != body).then(|| format!("{key}: {first}, and then {body}"))
    })
}

/// Checks that a transaction has the items of the version that has its address.
pub fn a_pledge_is_that_of_its_order(simulation: &Simulation, _: &Books) -> Wrong {
    pledges(simulation).iter().find_map(|(order, pledges)| {
        let wrong = pledges.iter().find(|own| own.trees != trees(own.version) as f64)?;
        Some(format!("{order:?}, version {}, pledges {} trees", wrong.version, wrong.trees))
    })
}

/// Whether a delivery was answered with 200, and is not lost because its buyer was erased.
fn is_taken(it: &Delivery, rows: &BTreeMap<String, String>) -> bool {
    it.status == Some(200) && it.outcome(rows) != LOST
}

/// Checks that refunds credit what they take back, and no more. What people credited before counts, too. A refund whose
/// transaction is damaged when it is read is shown with this reason instead, and one whose buyer was erased before it was read
/// is lost.
pub fn credits_of_an_order_are_its_refunds(simulation: &Simulation, books: &Books) -> Wrong {
    let (deliveries, rows) = (books.orders.deliveries.borrow(), outcomes(books));
    pledges(simulation).iter().find_map(|(order, pledges)| {
        let Pledge { id, version, .. } = pledges.first()?;
        let own = |counts: &dyn Fn(&Delivery) -> bool| -> BTreeSet<usize> {
            let own = deliveries.iter().filter(|it| it.order == *order && counts(it));
            own.flat_map(|it| it.sent.refunds().to_vec()).collect()
        };
        let is_cancelled = deliveries.iter().any(|it| it.order == *order && it.sent.is_cancelled());
        let least = refunded(*version, &own(&|it| is_taken(it, &rows)));
        let most =
            if is_cancelled { trees(*version) } else { refunded(*version, &own(&|_| true)) };
        let (by_refunds, by_people) =
            (credited(books, id, "= 'shop system'"), credited(books, id, "<> 'shop system'"));
        let is_enough = &by_refunds + &by_people >= exact(&least.to_string());
        let is_right = by_refunds <= exact(&most.to_string())
            && (is_enough || !books.database.json(&not_credited(id)).is_empty());
        unless(is_right, || {
            let [own, others] = [by_refunds, by_people].map(|sum| exact_text(&sum, 0));
            format!("{least} to {most} trees of {order:?} ({id}) are refunded, {own} and {others} are credited")
        })
    })
}

/// SQL that selects refunds that were given up: their transaction was damaged when it was read, as their rows say.
fn not_credited(id: &str) -> String {
    format!(
        "SELECT json_quote(detail) FROM received WHERE id = '{id}' AND detail LIKE '%The refund was not credited%'"
    )
}

/// Checks that a refund is given up for no other reason, except that people credited everything. A slow ledger, or another
/// credit at the same moment, is none.
pub fn no_refund_is_given_up(_: &Simulation, books: &Books) -> Wrong {
    let given_up = "SELECT json_array(delivery, detail) FROM received
WHERE detail LIKE '%The refund was not credited%' AND detail NOT LIKE '%is damaged%'
  AND detail NOT LIKE '%already credited in full%'";
    Some(books.database.json(given_up).first()?.to_string())
}

/// Returns the number of credited trees.
fn credited(books: &Books, id: &str, author: &str) -> BigUint {
    let sql = format!("SELECT json(quantities) FROM credits WHERE id = '{id}' AND author {author}");
    let rows = books.database.json(&sql);
    let all = rows.iter().flat_map(|row| row.as_array().cloned().unwrap_or_default());
    all.filter_map(|pair| crate::exact::quantity(&pair)).map(|(_, quantity)| quantity).sum()
}

/// Checks that each delivery that was answered with 200 has a row with what became of it.
pub fn no_order_is_lost(_: &Simulation, books: &Books) -> Wrong {
    let rows = outcomes(books);
    books.orders.deliveries.borrow().iter().filter(|it| it.status == Some(200)).find_map(|it| {
        let outcome = it.outcome(&rows);
        let is_known = OUTCOMES.contains(&outcome) || outcome == LOST && books.orders.may_lose(it);
        unless(is_known, || format!("{:?} of {:?}: {outcome}", it.sent, it.order))
    })
}

/// Checks that nothing is kept of what was pledged, and nothing at all of buyers that were erased.
pub fn no_body_is_kept(simulation: &Simulation, books: &Books) -> Wrong {
    let rows = outcomes(books);
    simulation.kv.last_of("received:").into_iter().find_map(|(name, record)| {
        let outcome = rows.get(name.trim_start_matches("received:")).map_or("no row", |row| row);
        let is_personal = String::from_utf8_lossy(&record.value).contains('@');
        let is_kept = OVER.contains(&outcome) || is_personal;
        is_kept.then(|| format!("{name}: {outcome}"))
    })
}

fn outcomes(books: &Books) -> BTreeMap<String, String> {
    let rows = books.database.json("SELECT json_array(delivery, outcome) FROM received");
    let rows = rows.into_iter().filter_map(|row| serde_json::from_value(row).ok());
    rows.collect()
}
