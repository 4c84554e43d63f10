//! Simulates the operators' commands that mark a month as paid, or undo this. A person pays what the ledger
//! says is due at that time. Sometimes the ledger is rebuilt meanwhile.

use crate::books::Books;
use crate::changes::{BY, Heard};
use crate::exact::exact;
use crate::kv::OPERATOR;
use crate::months::{ENDS, SHOP, settlement};
use crate::payload::{CURRENCY, UNIT_CURRENCY};
use crate::publishing::Drowsy;
use crate::record_changes::{DROWSY, heard};
use crate::rule::Wrong;
use crate::times::{APART_MS, created_ms};
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::Payment;
use impact_pledge::office::payments::rule::due_months::due_month;
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::once::Done;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::system::rows::check;
use impact_pledge::office::system::rows::reconcile::PassTiming;
use impact_pledge::pledges::service::Clock as _;
use impact_pledge::pledges::settlement::{Month, ScopeMonth, SettledSum, Settlement};
use impact_pledge::pledges::time::date_time;
use num_bigint::BigUint;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The maximum time from the first credits to the payment, in milliseconds. The credits compete with the
/// payment. They begin within one of the periods `CREDITED_MS`, and there are at most `MOST_CREDITS`.
const MEANWHILE_MS: u64 = 1_500;
const CREDITED_MS: &[u64] = &[50, 2_000, 6_000];
const MOST_CREDITS: u64 = 8;
/// How long the callers of the database are slow while a payment and credits compete, in milliseconds.
const SLOW_MS: u64 = 10_000;
/// The maximum number of people who mark one month, or undo this, at the same time.
const TOGETHER: u64 = 3;
/// Of 1,000 payments, the number that have a mistake and must be refused.
const MISTAKES: u64 = 250;

impl Books {
    /// Runs a reconciliation pass. Then several people begin to credit orders, and shortly afterwards one
    /// person marks a month as paid or undoes this. Some credits are slow, so that they arrive after the
    /// payment.
    pub fn settle_beside_credits(self: &Rc<Self>) {
        let books = Rc::clone(self);
        self.spawn_killable(async move {
            let _ = books.invoke(PassTiming::Now, 1_000).await;
            books.database.slow_until_ms.set(books.now_ms() + SLOW_MS);
            let month = books.pick_month();
            let is_marked = books.database.is_there(&settlement(SHOP, month));
            books.settle_month(month, !is_marked, MEANWHILE_MS);
            let within_ms = books.random.pick(CREDITED_MS);
            (0..=books.random.below(MOST_CREDITS)).for_each(|_| books.credit_a_cent(within_ms));
        });
    }

    /// Starts people who mark a month as paid, or undo this, after a random delay of at most `within_ms`.
    pub fn settle_by_command(self: &Rc<Self>, within_ms: u64) {
        let month = self.pick_month();
        for _ in 0..=self.random.below(TOGETHER) {
            self.settle_month(month, self.random.chance(650), within_ms);
        }
    }

    fn settle_month(self: &Rc<Self>, month: &'static str, is_added: bool, within_ms: u64) {
        let change = self.want_record(&settlement(SHOP, month), is_added);
        let (books, payment) = (Rc::clone(self), Rc::<OnceCell<Value>>::default());
        self.request(change, within_ms, "a payment", move |id| {
            let (books, payment) = (Rc::clone(&books), Rc::clone(&payment));
            async move {
                match is_added {
                    true => books.mark(id, month, &payment).await,
                    false => books.undo(id, month).await,
                }
            }
        });
    }

    /// Picks one of the months that have ended, most often the last one.
    fn pick_month(&self) -> &'static str {
        let mut later = ENDS[1..].iter().rev().filter(|(_, ended_ms)| self.now_ms() >= *ended_ms);
        later.find(|_| self.random.chance(600)).unwrap_or(&ENDS[0]).0
    }

    /// Marks a month as paid. A person who sends the request again sends the same `payment`.
    pub async fn mark(
        &self,
        id: OperationId,
        month: &str,
        payment: &OnceCell<Value>,
    ) -> (Heard, String) {
        let stated = match payment.get() {
            Some(stated) => stated.clone(),
            None => match self.stated(month).await {
                Ok(stated) => payment.get_or_init(|| stated).clone(),
                Err(problem) => return (Heard::Not, problem.to_string()),
            },
        };
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new(BY, &clock, &*self.random).unwrap().with_operation(id);
        let ledger = &Drowsy { books: self, per_mille: DROWSY };
        let payment: Payment = serde_json::from_value(stated.clone()).unwrap();
        let told = payments::mark(&store, ledger, &author, &payment).await;
        if let Ok(Done { outcome: paid, before: None }) = &told {
            self.settle(SHOP, month);
            if let Some(text) = misstated(&stated, &paid.settlement) {
                self.blame("what is paid is what a person stated", text);
            }
            let wrong = self.wrong_payment(&paid.settlement, month);
            wrong.into_iter().for_each(|text| self.blame("what is paid is all of the month", text));
        }
        heard(told.map(drop))
    }

    /// Returns the payment that a person states, after a look at what is due for the month.
    async fn stated(&self, month: &str) -> Result<Value, OperatorError> {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let shop: ScopeMonth = serde_json::from_value(of(month)).unwrap();
        let sums = due_month(&store, &self.database, &shop).await?.sums;
        let amounts: Vec<_> = sums
            .iter()
            .map(|sum| json!({ "amount": sum.due, "currencyCode": sum.currency_code }))
            .collect();
        let mut payment = json!({
            "of": of(month), "amounts": amounts, "invoice": "17", "paidAt": date_time(clock.now_ms() - APART_MS),
            "acceptUnpriced": sums.iter().map(|sum| sum.unpriced).sum::<usize>(),
        });
        if self.random.chance(MISTAKES) {
            self.mistake(&mut payment);
        }
        Ok(payment)
    }

    /// Makes one mistake in a payment: too many unpriced pledges, other currencies, or an amount that is left out.
    fn mistake(&self, payment: &mut Value) {
        let accepted = payment["acceptUnpriced"].as_u64().unwrap_or_default();
        let amounts = payment["amounts"].as_array_mut().unwrap();
        self.count("a payment: a mistake");
        match self.random.below(3) {
            0 => payment["acceptUnpriced"] = json!(accepted + 1),
            1 if amounts.len() > 1 => drop(amounts.pop()),
            _ => amounts.iter_mut().for_each(|amount| {
                let is_euro = amount["currencyCode"] == CURRENCY;
                amount["currencyCode"] = json!(if is_euro { UNIT_CURRENCY } else { CURRENCY });
            }),
        }
    }

    async fn undo(&self, id: OperationId, month: &str) -> (Heard, String) {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new(BY, &clock, &*self.random).unwrap().with_operation(id);
        let ledger = &Drowsy { books: self, per_mille: DROWSY };
        let of: ScopeMonth = serde_json::from_value(of(month)).unwrap();
        heard(payments::undo(&store, ledger, &author, &of, None).await.map(drop))
    }

    /// Checks the paid sums of a month. The month ended a day ago, so its records should no longer change.
    /// Skips months in which a retry wrote a record again, or KV omitted or damaged one.
    fn wrong_payment(&self, settlement: &Settlement, month: &str) -> Wrong {
        let versions = self.kv.versions.borrow();
        let (mut transactions, mut charges) = (0, BTreeMap::<String, BigUint>::new());
        for (name, versions) in versions.range("transaction:".to_owned()..) {
            if !name.starts_with("transaction:") {
                break;
            }
            let records: Vec<_> = versions.iter().filter_map(|it| it.held.as_ref()).collect();
            let Some(record) = records.last() else { continue };
            let metadata = record.metadata_json();
            if (metadata["mode"].as_str(), metadata["unit"].as_str())
                != (Some(SHOP.0), Some(SHOP.1))
            {
                continue;
            }
            let created_at = &record.json()["createdAt"];
            let is_one = records.iter().all(|other| other.json()["createdAt"] == *created_at);
            if !is_one || self.kv.hidden_ms(name).is_some() || self.kv.late_until_ms(name) > 0 {
                return None;
            }
            if created_ms(created_at).and_then(Month::at) == Month::parse(month) {
                let charge = &record.json()["charge"];
                let currency = charge["currencyCode"].as_str().unwrap_or_default().to_owned();
                transactions += 1;
                *charges.entry(currency).or_default() += exact(charge["amount"].as_str()?);
            }
        }
        let paid: u64 = settlement.sums.iter().map(|sum| sum.transactions).sum();
        if paid != transactions {
            return Some(format!("{paid} transactions are paid, of {transactions}"));
        }
        settlement.sums.iter().find_map(|sum| wrong_sum(sum, charges.get(&sum.currency_code)))
    }

    /// Empties the ledger, as `npm run ledger -- rebuild` does. Later reconciliation passes write its rows
    /// again.
    pub fn rebuild(self: &Rc<Self>) {
        let books = Rc::clone(self);
        self.note("the operator empties the ledger");
        self.count("a rebuild");
        self.spawn_killable(async move {
            let _ = check::clear(&books.database).await;
        });
    }
}

fn of(month: &str) -> Value {
    json!({ "unit": SHOP.1, "mode": SHOP.0, "month": month })
}

/// Compares what was paid with what a person stated: the amounts that are not zero, and the number of unpriced pledges.
fn misstated(stated: &Value, settlement: &Settlement) -> Wrong {
    let all = stated["amounts"].as_array().into_iter().flatten();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let mut told: Vec<_> =
        all.map(|it| (text(&it["currencyCode"]), exact(&text(&it["amount"])))).collect();
    let sums = settlement.sums.iter();
    let mut paid: Vec<_> =
        sums.map(|sum| (sum.currency_code.clone(), exact(&sum.amount))).collect();
    for list in [&mut told, &mut paid] {
        list.retain(|(_, amount)| *amount > BigUint::default());
        list.sort();
    }
    let unpriced: usize = settlement.sums.iter().map(|sum| sum.unpriced).sum();
    let is_same = told == paid && stated["acceptUnpriced"] == json!(unpriced);
    (!is_same).then(|| format!("{stated} is paid as {settlement:?}"))
}

/// Checks the sum that was paid. The sum must equal the charges, less the credits and the excess carried over.
/// If these deductions exceed the charges, the sum must be 0.
fn wrong_sum(sum: &SettledSum, charges: Option<&BigUint>) -> Wrong {
    let charges = charges.cloned().unwrap_or_default();
    let taken = sum.credits.as_ref().map_or_else(BigUint::default, |credits| {
        exact(&credits.credited) + exact(&credits.carried)
    });
    let due = if taken < charges { charges - taken } else { BigUint::default() };
    (due != exact(&sum.amount)).then(|| format!("{sum:?} is paid"))
}
