//! Implements the ledger with the database that the scripts pass.

use super::{from_js, to_js};
use crate::office::shared::rows::port::{Ledger, LedgerError, QueryFuture, Rows, Statement};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A local or deployed database. Its calls have timeouts and retries.
    pub type Database;
    /// Runs statements in one transaction. Resolves to the rows of each statement, as texts.
    #[wasm_bindgen(method, catch)]
    async fn run(this: &Database, statements: JsValue) -> Result<JsValue, JsValue>;
    /// The size of the database in bytes after the last call, if known.
    #[wasm_bindgen(method, getter)]
    fn bytes(this: &Database) -> Option<f64>;

    type Thrown;
    /// Whether the call failed because a row violates a constraint. The message then names the constraint.
    #[wasm_bindgen(method, getter)]
    fn constraint(this: &Thrown) -> Option<bool>;
    #[wasm_bindgen(method, getter)]
    fn message(this: &Thrown) -> Option<String>;
}

/// A database, used as the ledger. It keeps the JavaScript error of a failed call, which has more detail than
/// [`LedgerError`].
pub struct LedgerPort {
    pub database: Database,
    pub thrown: Rc<RefCell<Option<JsValue>>>,
}

impl Ledger for LedgerPort {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
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
