//! Writes the log of a simulation for people to read.

use crate::callers::{Action, Answer, Exchange, KEYS};
use crate::kv::{Call, OPERATOR};
use crate::mail::Delivery;
use crate::simulation::Simulation;
use impact_pledge::pledges::service::Message;
use std::collections::BTreeSet;

/// Returns the events of a simulation, sorted by time. With `exchange`, leaves out all events after the end of
/// this exchange. Also leaves out requests that use neither the transaction's record nor the replay record of
/// this exchange.
pub fn trace(simulation: &Simulation, exchange: Option<usize>) -> String {
    let exchanges = simulation.exchanges.borrow();
    let touched = exchange.map(|number| records_of(&exchanges[number])).unwrap_or_default();
    let mut lines = simulation.events.clone();
    for (number, one) in exchanges.iter().enumerate() {
        if exchange.is_none() || exchange == Some(number) || !records_of(one).is_disjoint(&touched)
        {
            lines.extend(lines_of(number, one));
        }
    }
    lines.extend(mail_lines(simulation).filter(|_| exchange.is_none()));
    if let Some(books) = simulation.books.as_ref().filter(|_| exchange.is_none()) {
        lines.extend(books.events.borrow().iter().cloned());
    }
    let until_ms = exchange.and_then(|number| exchanges[number].ended_ms).unwrap_or(u64::MAX);
    lines.retain(|(at_ms, _)| *at_ms <= until_ms);
    lines.sort_by_key(|(at_ms, _)| *at_ms);
    let line = |(at_ms, text): &(u64, String)| format!("{at_ms:>9} ms  {text}\n");
    lines.iter().map(line).collect()
}

fn records_of(exchange: &Exchange) -> BTreeSet<String> {
    let names = exchange.calls.list.borrow();
    let names = names.iter().map(|call| call.name.clone());
    names
        .filter(|name| name.starts_with("transaction:") || name.starts_with("idempotency:"))
        .collect()
}

fn lines_of(number: usize, exchange: &Exchange) -> Vec<(u64, String)> {
    let Exchange { ask, isolate, location, ahead_ms, .. } = exchange;
    let key = KEYS[ask.key].text.trim_start_matches("service_sk_");
    let unit = ask.unit.unwrap_or("no unit");
    let action = match &ask.action {
        Action::Create { name, payload, .. } => format!("create order {payload}, key {name:?}"),
        Action::Get { id } => format!("get {id}"),
        Action::Timeline { id, .. } => format!("timeline of {id}"),
        Action::Order { name } => format!("pledge of {name}"),
    };
    let to = format!("isolate {isolate} at location {location}, clock {ahead_ms:+} ms");
    let mut lines =
        vec![(exchange.begun_ms, format!("#{number} {action} by {key} ({unit}) to {to}"))];
    let calls = exchange.calls.list.borrow();
    let told = calls.iter().filter(|call| call.operation != "pause"); // there are hundreds
    lines.extend(told.flat_map(|call| call_lines("#", number, call)));
    if let (Some(ended_ms), Some(answer)) = (exchange.ended_ms, &exchange.answer) {
        lines.push((ended_ms, format!("#{number} answers {}", describe(answer))));
    }
    lines
}

/// Returns the lines about the deliveries of notifications.
fn mail_lines(simulation: &Simulation) -> impl Iterator<Item = (u64, String)> {
    let deliveries = simulation.post.deliveries.borrow();
    let lines_of = |(number, delivery): (usize, &Delivery)| {
        let Delivery { message, attempt, is_dead, is_again, begun_ms, instance, ahead_ms, .. } =
            delivery;
        let queue = if *is_dead { "dead letter queue" } else { "queue" };
        let again = if *is_again { " again" } else { "" };
        let Message { id, created_at, round, service, .. } = message;
        let begins = format!(
            "mail {number}: the {queue} delivers{again} {id} created {created_at} by {}, round {round}, attempt {attempt}, to instance {instance}, clock {ahead_ms:+} ms",
            service.name()
        );
        let ends = format!("mail {number} becomes {:?}, {:?}", delivery.outcome, delivery.fault);
        let calls = delivery.calls.list.borrow();
        let ended_ms = calls.iter().filter_map(|call| call.ended_ms).max().unwrap_or(*begun_ms);
        let calls = calls.iter().flat_map(|call| call_lines("mail ", number, call));
        let mut lines = vec![(*begun_ms, begins)];
        lines.extend(calls);
        lines.push((ended_ms, ends));
        lines
    };
    deliveries.iter().enumerate().flat_map(lines_of).collect::<Vec<_>>().into_iter()
}

fn call_lines(kind: &str, number: usize, call: &Call) -> Vec<(u64, String)> {
    let name: String = call.name.chars().take(24).collect();
    let begins = format!("{kind}{number}   {} {name}", call.operation);
    let fault = call.fault.map(|fault| format!(", {fault:?}")).unwrap_or_default();
    let found = match (&call.found, call.operation) {
        (Some(record), "get") if record.writer == OPERATOR => " finds the operator's".to_owned(),
        (Some(record), "get") => format!(" finds what #{} wrote", record.writer),
        (None, "get") => " finds nothing".to_owned(),
        _ => String::new(),
    };
    let ended = call.ended_ms.map(|at_ms| (at_ms, format!("{begins} ends{found}{fault}")));
    [(call.began_ms, begins)].into_iter().chain(ended).collect()
}

fn describe(answer: &Answer) -> String {
    let json = answer.json();
    let replayed = if answer.is_replayed { " replayed" } else { "" };
    let terms = json["id"]
        .as_str()
        .map(|id| format!(" {id} created {} for {}", json["createdAt"], json["charge"]["amount"]));
    let log = answer.log.as_ref().map(|log| format!(" ({log})")).unwrap_or_default();
    format!("{}{replayed}{}{log}", answer.status, terms.unwrap_or_default())
}
