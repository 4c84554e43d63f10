//! A ledger on the database that the scripts pass (`scripts/lib/ledger.mjs`).

use super::kv::{Kv, KvStore};
use super::{Outcome, from_js, to_js};
use crate::ledger::{Ledger, LedgerError, Rows, Running, Statement};
use crate::operator::OperatorError;
use serde::Serialize;
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A local or a deployed database; its calls have deadlines and repeats.
    pub type LedgerPort;
    #[wasm_bindgen(method, catch)]
    async fn run(this: &LedgerPort, statements: JsValue) -> Result<JsValue, JsValue>;

    /// What a call throws.
    type Thrown;
    #[wasm_bindgen(method, getter)]
    fn message(this: &Thrown) -> Option<String>;
    /// Whether a constraint refused a row.
    #[wasm_bindgen(method, getter)]
    fn constraint(this: &Thrown) -> Option<bool>;
}

/// A namespace as a store, and its ledger, if there is one.
pub struct Records {
    pub store: KvStore,
    ledger: Option<JsLedger>,
}

impl Records {
    pub fn new(kv: Kv, ledger: Option<LedgerPort>) -> Self {
        let ledger = ledger.map(|port| JsLedger { port, thrown: RefCell::default() });
        Records { store: KvStore::new(kv), ledger }
    }

    pub fn ledger(&self) -> Option<&dyn Ledger> {
        self.ledger.as_ref().map(|ledger| ledger as _)
    }

    /// Converts an outcome for the script.
    pub fn finish(&self, outcome: Result<impl Serialize, OperatorError>) -> Outcome {
        let thrown = match outcome {
            Err(OperatorError::Ledger(LedgerError::Unavailable)) => {
                self.ledger.as_ref().and_then(|ledger| ledger.thrown.take())
            }
            _ => None,
        };
        thrown.map_or_else(|| self.store.finish(outcome), Err)
    }
}

/// A database as a ledger. It keeps the error that a call threw, which says more than [`LedgerError`].
struct JsLedger {
    port: LedgerPort,
    thrown: RefCell<Option<JsValue>>,
}

#[derive(Serialize)]
struct Asked<'s> {
    sql: &'s str,
    parameter: &'s str,
}

impl JsLedger {
    async fn run_all(&self, statements: &[Statement]) -> Result<Vec<Rows>, LedgerError> {
        let asked: Vec<_> =
            statements.iter().map(|it| Asked { sql: it.sql, parameter: &it.parameter }).collect();
        let asked = to_js(&asked).map_err(|_| LedgerError::Damaged)?;
        let answers = self.port.run(asked).await.map_err(|thrown| self.failure(thrown))?;
        from_js(answers).map_err(|_| LedgerError::Damaged)
    }

    fn failure(&self, thrown: JsValue) -> LedgerError {
        let error: &Thrown = thrown.unchecked_ref();
        if error.constraint() == Some(true) {
            return LedgerError::Refused(error.message().unwrap_or_default());
        }
        self.thrown.replace(Some(thrown));
        LedgerError::Unavailable
    }
}

impl Ledger for JsLedger {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> Running<'l> {
        Box::pin(self.run_all(statements))
    }
}
