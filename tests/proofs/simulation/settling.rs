//! Simulates the operators' commands that mark a month as paid, or undo this. A person pays what the ledger
//! says is due at that time. Sometimes the ledger is rebuilt meanwhile.

use crate::books::Books;
use crate::changes::Heard;
use crate::exact::exact;
use crate::kv::OPERATOR;
use crate::months::{ENDS, SHOP, settlement};
use crate::payload::{CURRENCY, UNIT_CURRENCY};
use crate::rule::Wrong;
use crate::times::{EPOCH_MS, created_ms};
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::Payment;
use impact_pledge::office::payments::rule::due_months::due_month;
use impact_pledge::office::system::rows::check;
use impact_pledge::office::system::rows::reconcile::PassTiming;
use impact_pledge::pledges::service::Clock as _;
use impact_pledge::pledges::settlement::{Month, ScopeMonth, SettledSum, Settlement};
use impact_pledge::pledges::time::date_time;
use num_bigint::BigUint;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The maximum time from the first credits to the payment, in milliseconds. The credits compete with the
/// payment. They begin within the first `TOGETHER_MS` milliseconds, and there are at most `MOST_CREDITS`.
const MEANWHILE_MS: u64 = 1_500;
const TOGETHER_MS: u64 = 50;
const MOST_CREDITS: u64 = 8;
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
            books.database.slow_until_ms.set(books.now_ms() + MEANWHILE_MS);
            books.settle_by_command(MEANWHILE_MS);
            (0..=books.random.below(MOST_CREDITS)).for_each(|_| books.credit_a_cent(TOGETHER_MS));
        });
    }

    /// Marks a month as paid, or undoes this, after a random delay of at most `within_ms`.
    pub fn settle_by_command(self: &Rc<Self>, within_ms: u64) {
        let (books, is_added) = (Rc::clone(self), self.random.chance(650));
        let month = self.pick_month();
        let settlement = settlement(SHOP, month);
        let (number, ending) = self.announce(&settlement, is_added);
        self.spawn_killable(async move {
            books.sleep(books.random.below(within_ms)).await;
            let told = match is_added {
                true => books.mark(month).await,
                false => books.undo(month).await,
            };
            let (heard, answer) = match told {
                Ok(()) => (Heard::Done, String::new()),
                Err(problem) if problem.contains("it is not certain") => (Heard::Unsure, problem),
                Err(problem) => (Heard::Not, problem),
            };
            let what = if is_added { "to mark" } else { "to take back" };
            books.note(format!("change {number}, {what} {settlement}: {heard:?}, {answer}"));
            books.count(format!("a payment: {heard:?}"));
            books.claimants.borrow_mut()[number].heard = heard;
            drop(ending);
        });
    }

    /// Picks one of the months that have ended, most often the last one.
    fn pick_month(&self) -> &'static str {
        let mut later = ENDS[1..].iter().rev().filter(|(_, ended_ms)| self.now_ms() >= *ended_ms);
        later.find(|_| self.random.chance(600)).unwrap_or(&ENDS[0]).0
    }

    pub async fn mark(&self, month: &str) -> Result<(), String> {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new("ops", &clock, &*self.random).unwrap();
        let shop: ScopeMonth = serde_json::from_value(of(month)).unwrap();
        let usage = due_month(&store, &self.database, &shop).await;
        let sums = usage.map_err(|error| error.to_string())?.sums;
        let amounts: Vec<_> = sums
            .iter()
            .map(|sum| json!({ "amount": sum.due, "currencyCode": sum.currency_code }))
            .collect();
        let mut payment = json!({
            "of": of(month), "amounts": amounts, "invoice": "17", "paidAt": date_time(clock.now_ms()),
            "acceptUnpriced": sums.iter().map(|sum| sum.unpriced).sum::<usize>(),
        });
        if self.random.chance(MISTAKES) {
            self.mistake(&mut payment);
        }
        let stated = payment.clone();
        let payment: Payment = serde_json::from_value(payment).unwrap();
        let paid = payments::mark(&store, &self.database, &author, &payment).await;
        let paid = paid.map_err(|error| error.to_string())?.outcome;
        self.settle(SHOP, month);
        if let Some(text) = misstated(&stated, &paid.settlement) {
            self.blame("what is paid is what a person stated", text);
        }
        let wrong = self.wrong_payment(&paid.settlement, month);
        wrong.into_iter().for_each(|text| self.blame("what is paid is all of the month", text));
        Ok(())
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

    async fn undo(&self, month: &str) -> Result<(), String> {
        let (clock, store) = (self.clock(), self.namespace(OPERATOR));
        let author = Author::new("ops", &clock, &*self.random).unwrap();
        let of: ScopeMonth = serde_json::from_value(of(month)).unwrap();
        let undone = payments::undo(&store, &self.database, &author, &of, None).await;
        undone.map(drop).map_err(|error| error.to_string())
    }

    /// Checks the paid sums of a month. The month ended a day ago, so its records should no longer change.
    /// Skips months in which a retry wrote a record again, or KV had a fault.
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
            let now_ms = EPOCH_MS + books.now_ms();
            let _ = check::clear(&books.database, now_ms).await;
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
