//! The rules for e-mails, and for messages by the adapter of a messaging service. Each rule is a function
//! that returns a violation, if there is one.
//!
//! The rules are checked after the faults have ended and no message is waiting any more.

use crate::kv::{CACHE_MS, COPY_LAG_MS, Record};
use crate::mail::{Delivery, FIRST_TASK, MailFault, Sent, TESTER, subject};
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::LATEST_WRITE_MS;
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::time::day_of;
use impact_pledge::pledges::types::{ERASED_EMAIL, NotificationService};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The maximum number of e-mails per day to one address.
const MAX_A_DAY: usize = 5;

type Rule = fn(&Simulation) -> Wrong;

pub const RULES: &[(&str, Rule)] = &[
    ("no personal data in a message", no_personal_data_in_a_message),
    ("a create puts one message for each service", a_create_puts_one_message_for_each_service),
    ("every message ends", every_message_ends),
    ("what asks for a mail is sent one or shown as failed", what_asks_for_a_mail_is_sent_one),
    ("what waits for the next day is listed", what_waits_for_the_next_day_is_listed),
    ("no mail without a record", no_mail_without_a_record),
    ("no mail after an erase was seen", no_mail_after_an_erase_was_seen),
    ("two mails only after a crash or a redelivery", two_mails_only_after_a_redelivery),
    ("who sees that a round has ended sends no older one", who_sees_an_ended_round_sends_nothing),
];

/// Checks that a create request puts at most one message into the queue for each service that the request
/// names, and none for other services.
fn a_create_puts_one_message_for_each_service(simulation: &Simulation) -> Wrong {
    let exchanges = simulation.exchanges.borrow();
    exchanges.iter().enumerate().find_map(|(number, exchange)| {
        let calls = exchange.calls.list.borrow();
        let puts = calls.iter().filter(|call| call.operation == "queue");
        let services = puts.map(|call| call.name.split_once(':').map_or("Email", |(_, name)| name));
        let mut services: Vec<_> = services.collect();
        services.sort_unstable();
        let is_twice = services.windows(2).any(|pair| pair[0] == pair[1]);
        let payload = exchange.ask.payload().map(|payload| &simulation.payloads[payload]);
        let is_requested =
            |name: &&str| payload.is_some_and(|payload| payload.services().any(|own| own == *name));
        let is_wrong = is_twice || !services.iter().all(is_requested);
        is_wrong.then(|| format!("#{number} puts messages for {services:?}"))
    })
}

fn every_message_ends(simulation: &Simulation) -> Wrong {
    let left = simulation.tasks().into_iter().filter(|task| *task >= FIRST_TASK).count();
    (left > 0).then(|| format!("{left} messages are still delivered"))
}

/// Checks that each requested notification was sent, or that a record states why it was not sent. Two
/// exceptions are allowed:
///
/// - The queue lost the message.
/// - The queue refused the message, and another attempt of the create request then overwrote the record that
///   notes the refusal.
///
/// In both cases, the state of the notification is shown as unknown a day later.
fn what_asks_for_a_mail_is_sent_one(simulation: &Simulation) -> Wrong {
    simulation.kv.last_of("transaction:").into_iter().find_map(|(name, record)| {
        let id = name.trim_start_matches("transaction:");
        requested(&record).into_iter().find_map(|service| {
            let (id, created_at, round, updates) = (id.to_owned(), String::new(), 1, vec![]);
            let id = subject(&Message { id, created_at, round, service, updates });
            let marker = simulation.kv.last(&format!("notification:{id}"));
            let wrong = match &marker {
                Some(marker) => wrong_marker(simulation, (&id, service), &record, marker.json()),
                None => wrongly_unmarked(simulation, (&id, service), &record),
            };
            wrong.map(|wrong| format!("{id}: {wrong}"))
        })
    })
}

/// Returns the notification services that a transaction's record requests.
fn requested(record: &Record) -> Vec<NotificationService> {
    let notifications = record.json()["notifications"].as_array();
    let names = notifications.into_iter().flatten().filter_map(|one| one["type"].as_str());
    names.filter_map(NotificationService::from_name).collect()
}

fn wrong_marker(
    simulation: &Simulation,
    (id, service): (&str, NotificationService),
    record: &Record,
    marker: &Value,
) -> Wrong {
    let text = |member: &str| marker[member].as_str().unwrap_or_default();
    let is_right = match (text("state"), text("reason")) {
        ("sent", _) => has_mail(simulation, id),
        ("failed", "E_DAILY_LIMIT_EXCEEDED") => false,
        ("failed", _) => simulation.kv.last(&listed(text("at"), id)).is_some(),
        ("skipped", "erased") => {
            simulation.erased.borrow().iter().any(|(erased, _)| id.starts_with(erased))
        }
        ("skipped", "cancelled") => {
            let cancelled = simulation.kv.last_of("cancelled:").into_iter();
            cancelled.map(|(name, _)| name).any(|name| {
                name.strip_prefix("cancelled:").is_some_and(|cancelled| id.starts_with(cancelled))
            })
        }
        ("skipped", "daily-limit") => {
            record.json()["isLive"] == true
                && is_often_written_to(simulation, day_of(text("at")), service)
        }
        _ => false,
    };
    (!is_right).then(|| format!("its marker is {marker}"))
}

fn listed(at: &str, id: &str) -> String {
    format!("mail-failed:{}:{id}", day_of(at))
}

/// Whether some address had reached its daily limit of e-mails on this day.
fn is_often_written_to(simulation: &Simulation, day: &str, service: NotificationService) -> bool {
    let mut counts = BTreeMap::<String, usize>::new();
    let of_service =
        if service.is_email() { String::new() } else { format!("{}:", service.name()) };
    let (before, parts) =
        (format!("mailed:{day}:{of_service}"), 2 + usize::from(!service.is_email()));
    for (name, _) in simulation.kv.last_of(&before) {
        *counts.entry(name.split(':').nth(parts).unwrap_or_default().to_owned()).or_default() += 1;
    }
    counts.values().any(|count| *count >= MAX_A_DAY)
}

fn wrongly_unmarked(
    simulation: &Simulation,
    (id, service): (&str, NotificationService),
    record: &Record,
) -> Wrong {
    let summary = &record.metadata_json()["summary"];
    let letters = summary["unsent"].as_str().unwrap_or_default(); // such as `AB`
    let is_shown = match service.is_email() {
        true => summary["mail"] == "unsent",
        false => service.name().chars().last().is_some_and(|letter| letters.contains(letter)),
    };
    let is_lost = simulation.post.lost.borrow().iter().any(|lost| lost == id);
    let is_of_another_create = |refused: &Message| {
        subject(refused) == id && record.json()["createdAt"] != refused.created_at
    };
    let is_lost = is_lost || simulation.post.refused.borrow().iter().any(is_of_another_create);
    let is_explained = is_shown || is_lost || has_mail(simulation, id);
    (!is_explained).then(|| "no record states the outcome of its e-mail".to_owned())
}

fn has_mail(simulation: &Simulation, id: &str) -> bool {
    let deliveries = simulation.post.deliveries.borrow();
    simulation
        .post
        .sent
        .borrow()
        .iter()
        .any(|sent| subject(&deliveries[sent.delivery].message) == id)
}

/// Checks that a delivery that postpones its e-mail to the next day writes two records. One lists the e-mail as
/// failed, the other notes that the e-mail is queued.
fn what_waits_for_the_next_day_is_listed(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    let mut waiting = deliveries.iter().filter(|it| it.cause() == "E_DAILY_LIMIT_EXCEEDED");
    waiting.find_map(|delivery| {
        let calls = delivery.calls.list.borrow();
        let puts = |prefix: &str| {
            let mut puts = calls.iter().filter(|call| call.operation == "put");
            puts.any(|call| call.name.starts_with(prefix))
        };
        let is_noted = puts("mail-failed:") && puts("mail-queued:");
        (!is_noted).then(|| format!("{:?} is not", delivery.message))
    })
}

/// Checks that every e-mail belongs to a stored record of its own create request. That record must request an
/// e-mail to the same recipient.
fn no_mail_without_a_record(simulation: &Simulation) -> Wrong {
    each_mail(simulation, |sent, delivery| {
        let record = found(delivery);
        let is_right = record.as_ref().is_some_and(|record| {
            let json = record.json();
            let email = json["pledges"][0]["recipient"]["email"].as_str();
            let service = delivery.message.service;
            let is_direct = json["isLive"] == true || !service.is_email();
            let to = if is_direct { email } else { Some(TESTER) };
            requested(record).contains(&service)
                && json["createdAt"] == delivery.message.created_at
                && to == Some(&*sent.to)
        });
        (!is_right).then(|| format!("{:?} is about {record:?}", delivery.message))
    })
}

/// Returns the transaction's record that a delivery read; `None` if there was none.
pub fn found(delivery: &Delivery) -> Option<Rc<Record>> {
    let calls = delivery.calls.list.borrow();
    let read = calls.iter().find(|call| call.name.starts_with("transaction:"))?;
    read.found.clone()
}

fn no_mail_after_an_erase_was_seen(simulation: &Simulation) -> Wrong {
    each_mail(simulation, |_, delivery| {
        let id = &delivery.message.id;
        let name = format!("transaction:{id}");
        let all = simulation.erased.borrow();
        let (_, erased_ms) = all.iter().find(|(erased, _)| erased == id)?;
        let seen_ms = everywhere_ms(simulation, &name, *erased_ms);
        let email = found(delivery)?.json()["pledges"][0]["recipient"]["email"].clone();
        let is_wrong = delivery.begun_ms >= seen_ms || email == ERASED_EMAIL;
        is_wrong.then(|| format!("{:?} was erased at {erased_ms} ms", delivery.message))
    })
}

/// Checks that a delivery sends nothing if it has read that its round has ended. The same holds if a later
/// round (a resend) has ended.
fn who_sees_an_ended_round_sends_nothing(simulation: &Simulation) -> Wrong {
    each_mail(simulation, |_, delivery| {
        let calls = delivery.calls.list.borrow();
        let mut markers = calls.iter().filter(|call| call.name.starts_with("notification:"));
        let get = markers.find(|call| call.operation == "get" && call.fault.is_none())?;
        let ended = get.found.as_ref()?.json()["round"].as_u64()?;
        (ended >= delivery.message.round.into())
            .then(|| format!("{:?} was sent after the round {ended}", delivery.message))
    })
}

/// Returns the time from which every location shows a write that was made at `written_ms`.
fn everywhere_ms(simulation: &Simulation, name: &str, written_ms: u64) -> u64 {
    (written_ms + CACHE_MS + COPY_LAG_MS).max(simulation.kv.late_until_ms(name))
}

/// Checks that a notification is sent twice only for one of three reasons:
///
/// - The first delivery wrote no marker (the record of what became of the notification): the consumer stopped,
///   the answer was lost, or the write failed.
/// - The second delivery could not see the marker yet.
/// - A resend that ran at the same time replaced the marker.
///
/// The reason must concern the same service: a failure of one service must not resend the notifications of
/// another. The claims of the two deliveries are checked elsewhere, in `delivery_rules.rs`.
fn two_mails_only_after_a_redelivery(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    let sent = simulation.post.sent.borrow();
    let round = |sent: &Sent| {
        let message = &deliveries[sent.delivery].message;
        (subject(message), message.round)
    };
    sent.iter().enumerate().find_map(|(number, second)| {
        let first = sent[..number].iter().rev().find(|first| round(first) == round(second))?;
        let [one, other] = [first, second].map(|sent| &deliveries[sent.delivery]);
        let is_of_another_round = |delivery: &&Delivery| {
            let (ours, message) = (&one.message, &delivery.message);
            subject(message) == subject(ours) && message.round != ours.round
        };
        let mut others = deliveries.iter().filter(is_of_another_round);
        let replaced = |ms: u64| first.at_ms < ms + LATEST_WRITE_MS && ms < second.at_ms;
        let is_excused = is_cut_off(one)
            || others.any(|delivery| marked_ms(delivery).is_some_and(replaced))
            || marked_ms(one).is_some_and(|marked_ms| {
                let name = format!("notification:{}", subject(&one.message));
                other.begun_ms < everywhere_ms(simulation, &name, marked_ms)
            });
        (!is_excused)
            .then(|| format!("{:?} at {} and {} ms", round(second), first.at_ms, second.at_ms))
    })
}

/// Whether a fault ended a delivery after it may have sent an e-mail, and before it wrote the marker that
/// records this.
fn is_cut_off(delivery: &Delivery) -> bool {
    let calls = delivery.calls.list.borrow();
    let is_marker = |name: &str| name.starts_with("notification:");
    let mut puts = calls.iter().filter(|call| call.operation == "put" && is_marker(&call.name));
    delivery.outcome.is_none()
        || delivery.fault == Some(MailFault::AnswerLost)
        || puts.any(|call| call.fault.is_some())
}

/// Returns when a delivery wrote its marker. If the write was not confirmed, returns when the write began. Such
/// a write may still arrive up to [`LATEST_WRITE_MS`] later, and replace the marker of another round.
fn marked_ms(delivery: &Delivery) -> Option<u64> {
    let calls = delivery.calls.list.borrow();
    let is_marker = |name: &str| name.starts_with("notification:");
    let put = calls.iter().find(|call| call.operation == "put" && is_marker(&call.name));
    put.map(|put| put.ended_ms.unwrap_or(put.began_ms))
}

/// Checks that no personal data is in messages, in outcomes (which are logged), or in the names and values of
/// the records that e-mails leave behind.
fn no_personal_data_in_a_message(simulation: &Simulation) -> Wrong {
    let post = &simulation.post;
    let mut texts = post.texts.borrow().clone();
    texts.extend(post.deliveries.borrow().iter().map(|delivery| format!("{:?}", delivery.outcome)));
    for prefix in ["notification:", "mailed:", "mail-failed:", "mail-queued:"] {
        let kept = simulation.kv.last_of(prefix).into_iter();
        texts.extend(kept.map(|(name, record)| format!("{name} {}", record.json())));
    }
    let is_personal = |text: &String| {
        simulation.payloads.iter().any(|payload| text.contains(&payload.email))
            || ["@", "edit_key", "Ada"].iter().any(|personal| text.contains(personal))
    };
    texts.into_iter().find(is_personal)
}

fn each_mail(simulation: &Simulation, wrong: impl Fn(&Sent, &Delivery) -> Wrong) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    simulation.post.sent.borrow().iter().find_map(|sent| wrong(sent, &deliveries[sent.delivery]))
}
