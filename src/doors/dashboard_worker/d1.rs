use crate::doors::cloudflare::deadline::{failure, pause, within};
use crate::office::shared::rows::port::{Ledger, LedgerError, QueryFuture, Rows, Statement};
use js_sys::{Array, Math, Object, Promise};
use serde::Serialize;
use std::cell::Cell;
use wasm_bindgen::prelude::{JsCast, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::console_error;

/// Timeout of an attempt, in milliseconds. D1's own timeout is 30 s.
const RUN_MS: u32 = 10_000;
/// Maximum number of attempts of a call. D1 itself retries reads, but never writes.
const ATTEMPTS: u32 = 3;
/// Minimum delay before the second attempt, in milliseconds. The delay before the third is three times as long.
const WAIT_MS: u32 = 100;

#[wasm_bindgen]
extern "C" {
    /// A D1 database. This type replaces `worker::D1Database`, which has no timeout, and panics if D1 refuses
    /// a statement.
    pub type D1;
    #[wasm_bindgen(method, catch)]
    fn prepare(this: &D1, sql: &str) -> Result<PreparedStatement, JsValue>;
    /// Runs statements in one transaction.
    #[wasm_bindgen(method, catch)]
    fn batch(this: &D1, statements: &Array) -> Result<Promise, JsValue>;

    type PreparedStatement;
    #[wasm_bindgen(method, catch)]
    fn bind(this: &PreparedStatement, parameter: &str) -> Result<PreparedStatement, JsValue>;

    /// The result of a statement, with an object for each row.
    type Answer;
    #[wasm_bindgen(method, getter)]
    fn results(this: &Answer) -> Option<Array>;
    #[wasm_bindgen(method, getter)]
    fn meta(this: &Answer) -> Option<Meta>;

    type Meta;
    /// The size of the database in bytes.
    #[wasm_bindgen(method, getter)]
    fn size_after(this: &Meta) -> Option<f64>;
}

pub struct D1Ledger {
    database: D1,
    bytes: Cell<Option<u64>>,
}

impl Ledger for D1Ledger {
    fn run<'l>(&'l self, statements: &'l [Statement]) -> QueryFuture<'l> {
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                match self.attempt(statements).await {
                    Ok(answers) => return self.rows(&answers).ok_or(LedgerError::Damaged),
                    Err(error) if passes(&error) && attempt < ATTEMPTS => wait(attempt).await,
                    Err(error) => return Err(reported(&error, attempt)),
                }
                attempt += 1;
            }
        })
    }

    fn bytes(&self) -> Option<u64> {
        self.bytes.get()
    }
}

impl D1Ledger {
    pub fn new(database: D1) -> Self {
        D1Ledger { database, bytes: Cell::default() }
    }

    /// Runs statements once. The error is `undefined` after a timeout.
    async fn attempt(&self, statements: &[Statement]) -> Result<JsValue, JsValue> {
        let prepared: Result<Array, JsValue> = statements.iter().map(|it| self.bound(it)).collect();
        let running = self.database.batch(&prepared?)?;
        JsFuture::from(within(&running, RUN_MS)).await
    }

    fn bound(
        &self,
        Statement { sql, parameter }: &Statement,
    ) -> Result<PreparedStatement, JsValue> {
        let prepared = self.database.prepare(sql)?;
        if sql.contains("?1") { prepared.bind(parameter) } else { Ok(prepared) }
    }

    /// Returns the texts in the first column of each result; `None` if a result has an unexpected shape.
    fn rows(&self, answers: &JsValue) -> Option<Vec<Rows>> {
        let answer = |answer: JsValue| answer.is_object().then(|| answer.unchecked_into());
        let answers: Option<Vec<Answer>> = answers.dyn_ref::<Array>()?.iter().map(answer).collect();
        let answers = answers?;
        let size = answers.last().and_then(Answer::meta).and_then(|meta| meta.size_after());
        self.bytes.set(size.map(|bytes| bytes as u64));
        answers.iter().map(rows_of).collect()
    }
}

fn rows_of(answer: &Answer) -> Option<Rows> {
    let first = |row: JsValue| Object::values(row.dyn_ref::<Object>()?).get(0).as_string();
    answer.results()?.iter().map(first).collect()
}

/// Waits before the next attempt, with random jitter.
async fn wait(attempt: u32) {
    let least = WAIT_MS * 3_u32.pow(attempt - 1);
    pause(least + (f64::from(least) * Math::random()) as u32).await;
}

/// Returns whether another attempt may succeed. Returns false after a timeout.
fn passes(error: &JsValue) -> bool {
    !error.is_undefined() && meaning(&failure(error, RUN_MS)) == LedgerError::Unavailable
}

/// Classifies an error message of D1: a broken constraint, or a missing table or column. Any other error
/// counts as temporary.
///
/// Examples: `Error: D1_ERROR: UNIQUE constraint failed: shops.unit: SQLITE_CONSTRAINT (extended: …)`, `no
/// such table: shops: SQLITE_ERROR`, `database is locked: SQLITE_BUSY`, `Network connection lost.`
fn meaning(said: &str) -> LedgerError {
    match said.split_once(": SQLITE_CONSTRAINT") {
        Some((problem, _)) => {
            let problem = problem.rsplit_once("_ERROR: ").map_or(problem, |(_, problem)| problem);
            LedgerError::Refused(problem.to_owned())
        }
        None if said.contains("no such table") || said.contains("no such column") => {
            LedgerError::Damaged
        }
        None => LedgerError::Unavailable,
    }
}

/// Logs why a call failed. D1's messages name only tables and columns, no values.
fn reported(error: &JsValue, attempt: u32) -> LedgerError {
    let cause = &failure(error, RUN_MS);
    let line = FailedCall { ledger: "run", cause, attempt };
    console_error!("{}", serde_json::to_string(&line).unwrap_or_default()); // cannot fail
    meaning(cause)
}

#[derive(Serialize)]
struct FailedCall<'a> {
    ledger: &'a str,
    cause: &'a str,
    attempt: u32,
}
