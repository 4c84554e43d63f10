//! Payments.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, now};
use crate::operator::payments::{self, Paid, Payment, ShopMonth};
use crate::scope::Mode;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Throws if a payment cannot be marked: `{of: {unit, mode, month}, amounts: [{amount, currencyCode?}],
/// paidAt, invoice, acceptUnpriced}` → what would be marked, and `damaged: {count, first}`.
#[wasm_bindgen(js_name = checkPayment)]
pub async fn check_payment(kv: Kv, by: String, payment: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let payment: Payment = from_js(payment)?;
    store.finish(payments::check(&store, store.ledger(), &author(&by)?, &payment).await)
}

/// Marks a month as paid, by the same payment → `{unit, mode, month, paidAt, sums, invoice, by, at}`.
#[wasm_bindgen(js_name = markPaid)]
pub async fn mark_paid(kv: Kv, by: String, payment: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let payment: Payment = from_js(payment)?;
    store.finish(now(payments::mark(&store, store.ledger(), &author(&by)?, &payment).await))
}

/// Takes back that a month was paid: `{unit, mode, month}` → what was marked.
#[wasm_bindgen(js_name = undoPaid)]
pub async fn undo_paid(kv: Kv, by: String, of: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let of: ShopMonth = from_js(of)?;
    store.finish(now(payments::undo(&store, store.ledger(), &author(&by)?, &of, None).await))
}

/// What is marked: `{unit, mode, month}` → as [`mark_paid`], or null.
#[wasm_bindgen(js_name = getPayment)]
pub async fn get_payment(kv: Kv, of: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let of: ShopMonth = from_js(of)?;
    let found = payments::get(&store, &of).await;
    store.finish(found.map(|found| found.map(|settlement| Paid::new(&of, settlement))))
}

/// The months of a unit that are marked as paid, of one mode or of both → an array of the same.
#[wasm_bindgen(js_name = listPayments)]
pub async fn list_payments(kv: Kv, unit: String, mode: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let mode: Option<Mode> = from_js(mode)?;
    store.finish(payments::list(&store, &unit, mode).await)
}
