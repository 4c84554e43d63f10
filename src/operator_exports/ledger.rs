//! The ledger of the namespace that the scripts pass: its health, a whole pass, and a new beginning.

use super::kv::{Kv, KvStore};
use super::{Outcome, author, from_js, to_js};
use crate::handle::Clock as _;
use crate::ledger::{self, Checked, Health, Ledger, LedgerError, Rows, Running, Statement};
use crate::operator::{self, OperatorError, bound};
use crate::platform::Platform;
use crate::settlement::Month;
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A local or a deployed database; its calls have deadlines and repeats.
    pub type Database;
    /// Runs statements in one transaction, and resolves to the texts of the rows of each.
    #[wasm_bindgen(method, catch)]
    async fn run(this: &Database, statements: JsValue) -> Result<JsValue, JsValue>;
    /// The bytes of the database at the last answer, where they are known.
    #[wasm_bindgen(method, getter)]
    fn bytes(this: &Database) -> Option<f64>;

    /// What a call throws.
    type Thrown;
    /// Whether a row breaks a constraint, which the message names.
    #[wasm_bindgen(method, getter)]
    fn constraint(this: &Thrown) -> Option<bool>;
    #[wasm_bindgen(method, getter)]
    fn message(this: &Thrown) -> Option<String>;
}

/// A database as the ledger. It keeps the error that a call threw, which says more than [`LedgerError`].
pub struct LedgerPort {
    pub database: Database,
    pub thrown: Rc<RefCell<Option<JsValue>>>,
}

impl Ledger for LedgerPort {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> Running<'l> {
        Box::pin(async move {
            let statements = to_js(&statements).map_err(|error| self.failure(error))?;
            let answers = self.database.run(statements).await;
            let answers: Vec<Rows> = from_js(answers.map_err(|error| self.failure(error))?)
                .map_err(|_| LedgerError::Damaged)?;
            Ok(answers)
        })
    }

    fn bytes(&self) -> Option<u64> {
        self.database.bytes().map(|bytes| bytes as u64)
    }
}

impl LedgerPort {
    fn failure(&self, error: JsValue) -> LedgerError {
        let thrown: &Thrown = error.unchecked_ref();
        if error.is_object() && thrown.constraint() == Some(true) {
            return LedgerError::Refused(thrown.message().unwrap_or_default());
        }
        self.thrown.replace(Some(error));
        LedgerError::Unavailable
    }
}

/// How the ledger is → `{completeUpTo, keptFrom, received, lagMs, lastPass, currentPass, findings, bytes, problem}`.
#[wasm_bindgen(js_name = ledgerStatus)]
pub async fn status(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(health(&store).await)
}

#[derive(Serialize)]
struct Status {
    #[serde(flatten)]
    health: Health,
    problem: Option<String>,
}

async fn health(store: &KvStore) -> Result<Status, OperatorError> {
    let mut health = ledger::health(bound(store.ledger())?, Platform.now_ms()).await?;
    let problem = health.problem.take();
    Ok(Status { health, problem })
}

/// What a person has to look at, at most so many → an array of `{kind, name, found, detail}`.
#[wasm_bindgen(js_name = ledgerFindings)]
pub async fn findings(kv: Kv, most: u32) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(found(&store, most as usize).await)
}

async fn found(store: &KvStore, most: usize) -> Result<Vec<ledger::Finding>, OperatorError> {
    Ok(ledger::findings(bound(store.ledger())?, most).await?)
}

/// Makes a whole pass → `{missing, wrong, gone, damaged, large, refused}`.
#[wasm_bindgen(js_name = reconcile)]
pub async fn reconcile(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(check(&store).await)
}

/// Empties the ledger, and makes a whole pass → the same.
#[wasm_bindgen(js_name = rebuildLedger)]
pub async fn rebuild(kv: Kv) -> Outcome {
    let store = KvStore::new(kv);
    store.finish(clear_and_check(&store).await)
}

/// Keeps transactions from a month on, or all of them where it is null, and makes a whole pass → as [`reconcile`].
#[wasm_bindgen(js_name = keepLedgerFrom)]
pub async fn keep_from(kv: Kv, by: String, month: JsValue) -> Outcome {
    let store = KvStore::new(kv);
    let month: Option<Month> = from_js(month)?;
    let kept = operator::kept::keep_from(&store, store.ledger(), &author(&by)?, month).await;
    store.finish(match kept {
        Ok(_) => check(&store).await,
        Err(error) => Err(error),
    })
}

async fn check(store: &KvStore) -> Result<Checked, OperatorError> {
    let holder = ledger::holder(&Platform);
    let checked = ledger::check(bound(store.ledger())?, store, &Platform, &holder).await?;
    checked.ok_or_else(|| {
        OperatorError::Invalid(
            "another reconciliation has been working for ten minutes: try again later, and see \
             `npm run ledger -- status`"
                .to_owned(),
        )
    })
}

async fn clear_and_check(store: &KvStore) -> Result<Checked, OperatorError> {
    ledger::clear(bound(store.ledger())?, Platform.now_ms()).await?;
    check(store).await
}
