//! The ledger that the scripts pass beside a namespace: `scripts/lib/ledger.mjs`.

use super::kv::Kv;
use super::{from_js, to_js};
use crate::ledger::{Ledger, LedgerError, Rows, Running, Statement};
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A local or a deployed database; its calls have deadlines and repeats.
    pub type Database;
    #[wasm_bindgen(method, catch)]
    async fn run(this: &Database, statements: JsValue) -> Result<JsValue, JsValue>;

    /// What a call throws.
    type Thrown;
    /// Whether a constraint refused a row.
    #[wasm_bindgen(method, getter)]
    fn constraint(this: &Thrown) -> Option<bool>;
    #[wasm_bindgen(method, getter)]
    fn message(this: &Thrown) -> Option<String>;
}

/// A database as the ledger. It keeps the error that a call threw, which says more than [`LedgerError`].
pub struct ScriptLedger {
    database: Database,
    thrown: Rc<RefCell<Option<JsValue>>>,
}

/// A [`Statement`] as the scripts take it.
#[derive(Serialize)]
struct Asked<'s> {
    sql: &'static str,
    parameter: &'s str,
}

impl ScriptLedger {
    /// The ledger of a namespace; `None` if it has none.
    pub fn of(kv: &Kv, thrown: &Rc<RefCell<Option<JsValue>>>) -> Option<Self> {
        let database = kv.ledger()?;
        Some(ScriptLedger { database, thrown: Rc::clone(thrown) })
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

impl Ledger for ScriptLedger {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> Running<'l> {
        Box::pin(async move {
            let asked = |it: &'l Statement| Asked { sql: it.sql, parameter: &it.parameter };
            let asked: Vec<_> = statements.iter().map(asked).collect();
            let asked = to_js(&asked).map_err(|_| LedgerError::Damaged)?;
            let answers = self.database.run(asked).await.map_err(|thrown| self.failure(thrown))?;
            from_js::<Vec<Rows>>(answers).map_err(|_| LedgerError::Damaged)
        })
    }
}
