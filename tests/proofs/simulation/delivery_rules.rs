//! The rules for e-mail deliveries that run at the same time. Before a delivery sends an e-mail, it writes a
//! claim, so that no other delivery sends the same e-mail. An instance runs several deliveries at once,
//! within its limit on bytes.

use crate::kv::{COPY_LAG_MS, Call};
use crate::mail::{Delivery, HOLDERS, Sent, TESTER, subject};
use crate::mail_rules::found;
use crate::rule::Wrong;
use crate::simulation::Simulation;
use crate::times::{APART_MS, EPOCH_MS};
use impact_pledge::buyer::delivery::Outcome;
use impact_pledge::pledges::time::parse_ms;
use std::collections::{BTreeMap, BTreeSet};

/// The lifetime of a claim, in milliseconds.
const CLAIM_MS: u64 = 60_000;
/// How long an instance remembers the notifications that it has sent, in milliseconds. `LOST_MS` is the time
/// for which an instance counts a lost delivery as running.
const KNOWN_MS: u64 = 180_000;
const LOST_MS: u64 = 240_000;
/// The maximum number of e-mails per day to one address.
const MAX_A_DAY: usize = 5;
const HELD: &str = "another delivery may be sending it";

type Rule = fn(&Simulation) -> Wrong;

pub const RULES: &[(&str, Rule)] = &[
    ("a mail is claimed before it is sent", a_mail_is_claimed_before_it_is_sent),
    ("who sees another's claim sends nothing", who_sees_anothers_claim_sends_nothing),
    ("a claim that can be seen is seen", a_claim_that_can_be_seen_is_seen),
    ("a claim ends", a_claim_ends),
    ("an instance sends a round once", an_instance_sends_a_round_once),
    (
        "an instance sends an address five mails a day",
        an_instance_sends_an_address_five_mails_a_day,
    ),
    ("who sees five mails of a day sends no other", who_sees_five_mails_of_a_day_sends_no_other),
    ("deliveries of a transaction take turns", deliveries_of_a_transaction_take_turns),
    ("other deliveries run side by side", other_deliveries_run_side_by_side),
    ("deliveries stay within their budget", deliveries_stay_within_their_budget),
    ("deliveries give their bytes back", deliveries_give_their_bytes_back),
];

// ---- Claims --------------------------------------------------------------------------------------

/// A claim: the record by which a delivery reserves the sending of an e-mail.
struct Claim {
    round: u64,
    until_ms: u64,
    token: String,
}

impl Claim {
    /// Parses a record as a claim; returns `None` if it is not one.
    fn read(record: Option<&serde_json::Value>) -> Option<Self> {
        let record = record?;
        let until_ms = parse_ms(record["until"].as_str()?)?;
        let token = record["token"].as_str()?.to_owned();
        Some(Claim { round: record["round"].as_u64()?, until_ms, token })
    }

    /// Whether the claim keeps a delivery from sending its e-mail at this time.
    fn holds(&self, delivery: &Delivery, at_ms: u64) -> bool {
        let now_ms = (EPOCH_MS + at_ms).saturating_add_signed(delivery.ahead_ms);
        self.round >= u64::from(delivery.message.round) && self.until_ms > now_ms
    }
}

fn is_claim(call: &Call, operation: &str) -> bool {
    call.operation == operation && call.name.starts_with("mailed:")
}

/// Returns the claim that a delivery wrote, and the call that wrote it.
fn claim_of(delivery: &Delivery) -> Option<(Claim, Call)> {
    let calls = delivery.calls.list.borrow();
    let put = calls.iter().find(|call| is_claim(call, "put"))?.clone();
    Some((Claim::read(put.written.as_ref().map(|record| record.json()))?, put))
}

fn a_mail_is_claimed_before_it_is_sent(simulation: &Simulation) -> Wrong {
    each_sent(simulation, |sent, delivery| {
        let is_right = claim_of(delivery).is_some_and(|(claim, put)| {
            claim.holds(delivery, put.began_ms)
                && put.fault.is_none()
                && put.ended_ms.is_some_and(|ended_ms| ended_ms <= sent.at_ms)
        });
        (!is_right).then(|| format!("{:?} is not claimed", delivery.message))
    })
}

/// Checks that a delivery sends nothing if it has seen another delivery's claim. The delivery may find that
/// claim before it writes its own claim, or later in the place of its own claim.
fn who_sees_anothers_claim_sends_nothing(simulation: &Simulation) -> Wrong {
    each_sent(simulation, |_, delivery| {
        let own = claim_of(delivery).map(|(claim, _)| claim.token);
        let calls = delivery.calls.list.borrow();
        calls.iter().enumerate().filter(|(_, call)| is_claim(call, "get")).find_map(
            |(number, get)| {
                let claim = Claim::read(get.found.as_ref().map(|record| record.json()))?;
                let mut reads = calls[number..].iter().filter(|call| is_claim(call, "read"));
                let is_wrong = Some(&claim.token) != own.as_ref()
                    && get.fault.is_none()
                    && claim.holds(delivery, reads.next()?.ended_ms?);
                is_wrong.then(|| format!("{:?} was sent beside {}", delivery.message, claim.token))
            },
        )
    })
}

/// Checks that a delivery reads the other claims for its e-mail. The rule covers each claim that Workers KV
/// already shows when the delivery lists the claims of the day.
fn a_claim_that_can_be_seen_is_seen(simulation: &Simulation) -> Wrong {
    each_sent(simulation, |_, second| {
        let deliveries = simulation.post.deliveries.borrow();
        let others =
            deliveries.iter().filter(|first| subject(&first.message) == subject(&second.message));
        let unseen = others.filter_map(claim_of).find(|(claim, put)| {
            let calls = second.calls.list.borrow();
            let lists = |call: &&Call| call.operation == "list" && put.name.starts_with(&call.name);
            let is_shown = |call: &Call| {
                let shown_ms = put.ended_ms.filter(|_| put.fault.is_none());
                call.fault.is_none()
                    && shown_ms.is_some_and(|shown_ms| call.began_ms >= shown_ms + COPY_LAG_MS)
                    && call.ended_ms.is_some_and(|ended_ms| claim.holds(second, ended_ms))
            };
            let is_listed = calls.iter().find(lists).is_some_and(is_shown);
            let own = calls.iter().position(|call| is_claim(call, "put")).unwrap_or(calls.len());
            let is_read = calls[..own].iter().any(|call| is_claim(call, "get"));
            is_listed && !is_read
        });
        unseen.map(|(claim, _)| format!("{:?} was sent beside {}", second.message, claim.token))
    })
}

/// Checks that a delivery waits only for another delivery's claim that is still recent.
fn a_claim_ends(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    deliveries.iter().find_map(|held| {
        if held.cause() != HELD {
            return None;
        }
        let ended_ms = held.ended_ms?;
        let is_its = |other: &&Delivery| {
            subject(&other.message) == subject(&held.message)
                && other.message.round >= held.message.round
        };
        let began =
            deliveries.iter().filter(is_its).filter_map(claim_of).map(|(_, put)| put.began_ms);
        let mut lately = began.filter(|began_ms| ended_ms < began_ms + CLAIM_MS + APART_MS);
        lately.next().is_none().then(|| format!("{:?} waits at {ended_ms} ms", held.message))
    })
}

// ---- One instance --------------------------------------------------------------------------------

/// Checks that an instance sends a notification only once. An instance that knows that the mail service
/// accepted a notification must not send the notification again.
fn an_instance_sends_a_round_once(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    let mut sent = BTreeMap::new();
    simulation.post.sent.borrow().iter().find_map(|mail| {
        let delivery = &deliveries[mail.delivery];
        let round = (delivery.instance, subject(&delivery.message), delivery.message.round);
        let is_known = matches!(&delivery.outcome, Some(Outcome::Done(_)));
        let before = is_known.then(|| sent.insert(round.clone(), mail.at_ms)).flatten();
        let is_wrong = before.is_some_and(|before_ms| mail.at_ms < before_ms + KNOWN_MS);
        is_wrong.then(|| format!("{round:?} at {before:?} and {} ms", mail.at_ms))
    })
}

fn an_instance_sends_an_address_five_mails_a_day(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    let mut counts = BTreeMap::<_, BTreeSet<String>>::new();
    for mail in simulation.post.sent.borrow().iter().filter(|mail| mail.to != TESTER) {
        let delivery = &deliveries[mail.delivery];
        if found(delivery).is_none_or(|record| record.json()["isLive"] != true) {
            continue; // messages of test keys have a higher limit
        }
        let Some((_, put)) = claim_of(delivery) else { continue };
        let address = put.name.rsplit_once(':').map_or("", |(address, _)| address).to_owned();
        counts.entry((delivery.instance, address)).or_default().insert(delivery.message.id.clone());
    }
    let mut wrong = counts.into_iter().filter(|(_, mails)| mails.len() > MAX_A_DAY);
    wrong.next().map(|(address, mails)| format!("{address:?} got {}", mails.len()))
}

/// Checks that the daily limit counts the e-mails of all instances. If Workers KV shows the claims for e-mails
/// to an address about five other transactions when a delivery lists the claims of the day, the delivery sends
/// nothing to this address.
fn who_sees_five_mails_of_a_day_sends_no_other(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    let claims: Vec<_> =
        deliveries.iter().filter_map(|it| Some((&it.message.id, claim_of(it)?.1))).collect();
    each_sent(simulation, |mail, delivery| {
        let is_live = found(delivery).is_some_and(|record| record.json()["isLive"] == true);
        let calls = delivery.calls.list.borrow();
        let list = calls.iter().find(|call| is_claim(call, "list") && call.fault.is_none())?;
        let is_seen = |put: &Call| {
            put.name.starts_with(&list.name)
                && put.fault.is_none()
                && put.ended_ms.is_some_and(|shown_ms| shown_ms + COPY_LAG_MS <= list.began_ms)
        };
        let others = claims.iter().filter(|(id, put)| **id != delivery.message.id && is_seen(put));
        let others: BTreeSet<_> = others.map(|(id, _)| id).collect();
        let is_wrong = is_live && mail.to != TESTER && others.len() >= MAX_A_DAY;
        is_wrong.then(|| format!("{:?} was sent after {}", delivery.message, others.len()))
    })
}

/// Returns when a delivery made its first call, and when it ended.
fn work(delivery: &Delivery) -> Option<(u64, u64)> {
    let first_ms = delivery.calls.list.borrow().first()?.began_ms;
    Some((first_ms, delivery.ended_ms.unwrap_or(u64::MAX)))
}

fn deliveries_of_a_transaction_take_turns(simulation: &Simulation) -> Wrong {
    each_pair(simulation, |one, other| {
        let ((began_ms, ended_ms), (other_ms, _)) = (work(one)?, work(other)?);
        let is_wrong = subject(&one.message) == subject(&other.message)
            && (began_ms..ended_ms).contains(&other_ms)
            && one.begun_ms < other.begun_ms;
        is_wrong.then(|| format!("{:?} at {began_ms} and {other_ms} ms", one.message))
    })
}

/// Checks that a delivery's first call is delayed only by a delivery of the same transaction.
fn other_deliveries_run_side_by_side(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    deliveries.iter().find_map(|late| {
        let began_ms = work(late).map_or(late.ended_ms?, |(began_ms, _)| began_ms);
        let is_before = |other: &&Delivery| {
            let lost_ms = other.outcome.is_none().then_some(other.begun_ms + LOST_MS);
            let until_ms = lost_ms.max(other.ended_ms).unwrap_or(u64::MAX);
            other.instance == late.instance
                && subject(&other.message) == subject(&late.message)
                && other.begun_ms <= late.begun_ms
                && until_ms >= late.begun_ms
                && !std::ptr::eq(*other, late)
        };
        let is_alone = !deliveries.iter().any(|other| is_before(&other));
        (is_alone && began_ms > late.begun_ms).then(|| {
            format!("{:?} came at {} ms and began at {began_ms} ms", late.message, late.begun_ms)
        })
    })
}

/// Checks that at most [`HOLDERS`] deliveries of one instance hold bytes in memory at once. A delivery holds
/// the bytes of a record or an e-mail from its read of the record until its end.
fn deliveries_stay_within_their_budget(simulation: &Simulation) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    let mut holders = BTreeMap::<usize, Vec<(u64, u64)>>::new();
    for delivery in deliveries.iter() {
        let calls = delivery.calls.list.borrow();
        let reads =
            |call: &&Call| call.operation == "read" && call.name.starts_with("transaction:");
        if let Some(read) = calls.iter().find(reads) {
            let until_ms = delivery.ended_ms.unwrap_or(u64::MAX);
            holders.entry(delivery.instance).or_default().push((read.began_ms, until_ms));
        }
    }
    holders.into_iter().find_map(|(instance, holders)| {
        let at = |at_ms: u64| {
            let holds =
                |(began_ms, until_ms): &&(u64, u64)| *began_ms <= at_ms && at_ms < *until_ms;
            holders.iter().filter(holds).count()
        };
        let most = holders.iter().map(|(began_ms, _)| at(*began_ms)).max()?;
        (most > HOLDERS).then(|| format!("{most} deliveries of instance {instance} hold bytes"))
    })
}

fn deliveries_give_their_bytes_back(simulation: &Simulation) -> Wrong {
    let consumers = simulation.post.consumers.borrow();
    let mut whole = consumers.iter().filter(|consumer| !consumer.has_lost.get());
    whole.find_map(|one| (one.bytes() > 0).then(|| format!("{} bytes are held", one.bytes())))
}

// ---- Helpers -------------------------------------------------------------------------------------

fn each_sent(simulation: &Simulation, wrong: impl Fn(&Sent, &Delivery) -> Wrong) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    simulation.post.sent.borrow().iter().find_map(|sent| wrong(sent, &deliveries[sent.delivery]))
}

/// Applies the check `wrong` to each pair of deliveries of the same instance.
fn each_pair(simulation: &Simulation, wrong: impl Fn(&Delivery, &Delivery) -> Wrong) -> Wrong {
    let deliveries = simulation.post.deliveries.borrow();
    deliveries.iter().enumerate().find_map(|(number, one)| {
        let others = deliveries[number + 1..].iter();
        let mut others = others.filter(|other| other.instance == one.instance);
        others.find_map(|other| wrong(one, other))
    })
}
