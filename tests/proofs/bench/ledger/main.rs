//! Measures the queries of the ledger on an SQLite database with many orders. Prints JSON lines for
//! `run.mjs`, which runs the same statements on D1.
//!
//! `cargo bench --bench ledger -- fill FILE ORDERS SHOPS` fills the database. `… -- ask FILE ORDERS SHOPS
//! ROUNDS` runs the queries.

#![expect(clippy::unwrap_used, reason = "a benchmark that meets the unexpected should panic")]
#![expect(clippy::indexing_slicing, reason = "a benchmark that meets the unexpected should panic")]
#![expect(clippy::panic, reason = "a benchmark that meets the unexpected should panic")]

mod orders;
mod questions;
mod writes;

use impact_pledge::office::shared::rows::port::Statement;
use orders::Size;
use questions::{Question, questions};
use serde_json::{Value, json};
use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use support::ledger::{Recorder, SqliteLedger};
use writes::writes;

fn main() {
    let args: Vec<_> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().unwrap();
    match *args {
        ["fill", file, orders, shops] => {
            fill(Path::new(file), Size { orders: number(orders), shops: number(shops) });
        }
        ["ask", file, orders, shops, rounds] => {
            let size = Size { orders: number(orders), shops: number(shops) };
            ask(Path::new(file), size, number(rounds));
        }
        _ => panic!("usage: fill FILE ORDERS SHOPS, or ask FILE ORDERS SHOPS ROUNDS"),
    }
}

/// Fills the database, and prints the size of each table and index.
fn fill(file: &Path, size: Size) {
    let ledger = SqliteLedger::create(file);
    size.fill(&ledger);
    let sizes = ledger
        .sql("SELECT json_object('name', name, 'bytes', sum(pgsize)) FROM dbstat GROUP BY name");
    let sizes: Vec<Value> = sizes.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
    println!("{}", json!({ "sizes": sizes }));
}

/// Runs all queries, and prints a line with the times of each. Also prints a line for each kind of write,
/// without times.
fn ask(file: &Path, size: Size, rounds: u64) {
    for question in questions(&SqliteLedger::open(file), size) {
        println!("{}", measure(file, &question, rounds));
    }
    for (name, statements) in writes(size) {
        println!("{}", json!({ "write": name, "statements": shown(&statements) }));
    }
}

/// Measures the time of a query in milliseconds. Cold: no part of the file is in memory. Warm: as much of the
/// file as possible is in memory.
fn measure(file: &Path, question: &Question, rounds: u64) -> Value {
    let cold = (0..rounds).map(|_| {
        evict(file);
        time(question, &Recorder::new(&SqliteLedger::open(file)))
    });
    let cold: Vec<_> = cold.collect();
    let ledger = SqliteLedger::open(file);
    let recorder = Recorder::new(&ledger);
    let rows = (question.ask)(&recorder);
    let statements = recorder.take();
    let plan: Vec<_> = statements.iter().map(|statement| ledger.plan(statement)).collect();
    let warm: Vec<_> = (0..rounds).map(|_| time(question, &recorder)).collect();
    json!({
        "name": question.name, "rows": rows, "cold": cold, "warm": warm,
        "plan": plan, "statements": shown(&statements),
    })
}

fn time(question: &Question, recorder: &Recorder<'_>) -> f64 {
    let began = Instant::now();
    (question.ask)(recorder);
    began.elapsed().as_secs_f64() * 1_000.0
}

fn shown(statements: &[Statement]) -> Vec<Value> {
    statements.iter().map(|it| json!({ "sql": it.sql, "parameter": it.parameter })).collect()
}

/// Removes the file from the system's cache, if the system allows that.
fn evict(file: &Path) {
    let file = format!("if={}", file.display());
    let mut command = Command::new("dd");
    let command = command.args([&file, "iflag=nocache", "count=0"]).stderr(Stdio::null());
    let _ = command.status();
}
