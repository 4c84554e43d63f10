//! The rules that every exchange of every seed must keep: the promises of `docs/operating.md` and the
//! rules behind them, a function for each.
//!
//! "In force everywhere" means: [`CACHE_MS`] and [`COPY_LAG_MS`] after a write was acknowledged, or
//! later where a cache's entry of that key expired late.

use crate::isolate::{Answer, EPOCH_MS};
use crate::kv::{CACHE_MS, COPY_LAG_MS, Call, Fault, READ_MS, Record, WRITE_MS};
use crate::payload::retrieved;
use crate::simulation::{
    Action, Exchange, KEYS, LARGE_BYTES, LARGE_PAYLOAD, NEW_PAYLOAD, Scope, Simulation,
};
use base32ct::{Base32Unpadded, Encoding as _};
use impact_pledge::http::MAX_BYTES_IN_FLIGHT;
use impact_pledge::store::{CatalogueKey, Key as _, ProfileKey};
use serde_json::{Value, json};
use std::cell::Ref;
use std::collections::BTreeMap;

/// How long an isolate uses a key or the prices.
const ISOLATE_MS: u64 = 10_000;
/// How long a location answers with a key from its cache.
const KEY_CACHE_MS: u64 = 30_000;
/// How long an isolate knows its own answers.
const RECENT_MS: u64 = 120_000;

/// Identifies a create: creates with the same scope, idempotency key and payload are one. The API key
/// takes no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// Without an idempotency key: each is its own.
    Single(usize),
    Named {
        scope: Scope,
        name: usize,
        payload: usize,
    },
}

pub struct Violation {
    pub invariant: &'static str,
    pub exchange: Option<usize>,
    pub text: String,
}

type Verdict = Result<(), String>;
type Check = fn(&History<'_>, usize, &Exchange) -> Verdict;

const CHECKS: &[(&str, Check)] = &[
    ("every request ends", every_request_ends),
    ("a request waits for its calls alone", a_request_waits_for_its_calls_alone),
    ("a failure has a cause", a_failure_has_a_cause),
    ("a 503 says whether something was recorded", a_503_says_whether_something_was_recorded),
    ("a refusal writes nothing", a_refusal_writes_nothing),
    ("a new key works", a_new_key_works),
    ("a revoked key is refused", a_revoked_key_is_refused),
    ("an answer is what was asked for", an_answer_is_what_was_asked_for),
    ("the terms are of this moment", the_terms_are_of_this_moment),
    ("what is acknowledged is kept", what_is_acknowledged_is_kept),
    ("what is acknowledged can be read", what_is_acknowledged_can_be_read),
    ("a create answers with its own transaction", a_create_answers_with_its_own_transaction),
    ("what was seen decides", what_was_seen_decides),
    ("a replay is the first answer", a_replay_is_the_first_answer),
    ("an isolate knows what it answered", an_isolate_knows_what_it_answered),
    ("a repeat is replayed everywhere in the end", a_repeat_is_replayed_everywhere_in_the_end),
    ("what is acknowledged is not refused later", what_is_acknowledged_is_not_refused_later),
    ("a reused idempotency key is refused", a_reused_idempotency_key_is_refused),
    ("a 422 has a reason", a_422_has_a_reason),
    ("a get shows a record of its own scope", a_get_shows_a_record_of_its_own_scope),
    ("a timeline opens with its edit key alone", a_timeline_opens_with_its_edit_key_alone),
];

/// The first violation of a simulation, if there is one.
pub fn check(simulation: &Simulation) -> Result<(), Violation> {
    simulation.kv.arrive();
    let exchanges = simulation.exchanges.borrow();
    let history = History { simulation, exchanges };
    let of_world = |invariant, text| Violation { invariant, exchange: None, text };
    if let Some(excess) = simulation.excesses.first() {
        return Err(of_world("memory stays within its budget", excess.clone()));
    }
    no_id_or_edit_key_twice(&history)
        .map_err(|text| of_world("no ID or edit key is made twice", text))?;
    for (number, exchange) in history.exchanges.iter().enumerate() {
        for (invariant, check) in CHECKS {
            check(&history, number, exchange).map_err(|text| Violation {
                invariant,
                exchange: Some(number),
                text,
            })?;
        }
    }
    Ok(())
}

struct History<'s> {
    simulation: &'s Simulation,
    exchanges: Ref<'s, Vec<Exchange>>,
}

impl History<'_> {
    fn identity(&self, exchange: usize) -> Option<Identity> {
        let ask = &self.exchanges.get(exchange)?.ask;
        let (payload, scope) = (ask.payload()?, ask.scope()?);
        let Some(name) = ask.name() else { return Some(Identity::Single(exchange)) };
        Some(Identity::Named { scope, name, payload })
    }

    /// The records that were kept under a name by some moment, the oldest first.
    fn kept(&self, name: &str, by_ms: u64) -> Vec<Ref<'_, Record>> {
        let versions = self.simulation.kv.versions.borrow();
        let count = versions.get(name).map_or(0, Vec::len);
        let record = |index: usize| {
            Ref::filter_map(Ref::clone(&versions), |versions| {
                let version = &versions[name][index];
                version.held.as_deref().filter(|_| version.arrived_ms <= by_ms)
            })
        };
        (0..count).filter_map(|index| record(index).ok()).collect()
    }

    /// The create whose transaction is under this name.
    fn owner(&self, name: &str) -> Option<Identity> {
        self.identity(self.kept(name, u64::MAX).first()?.writer)
    }

    /// From when a write of this key that was acknowledged is in force everywhere.
    fn everywhere_ms(&self, name: &str, acknowledged_ms: u64, cache_ms: u64) -> u64 {
        let usual_ms = acknowledged_ms + cache_ms + COPY_LAG_MS;
        usual_ms.max(self.simulation.kv.late_until_ms(name))
    }

    /// The creates of one identity that were answered before this one began.
    fn acknowledged_before<'h>(
        &'h self,
        identity: Identity,
        exchange: &'h Exchange,
    ) -> impl Iterator<Item = (&'h Exchange, &'h Answer)> {
        self.exchanges.iter().enumerate().filter_map(move |(number, earlier)| {
            let answer = earlier.answer.as_ref().filter(|answer| answer.status == 200)?;
            let is_before = earlier.ended_ms? < exchange.begun_ms; // of one moment, either may be first
            (is_before && self.identity(number) == Some(identity)).then_some((earlier, answer))
        })
    }

    fn is_named(&self, exchange: &Exchange) -> bool {
        exchange.ask.name().is_some()
    }
}

// ---- Helpers ---------------------------------------------------------------------------------------

fn transaction_name(id: &str) -> String {
    format!("transaction:{id}")
}

fn id_of(json: &Value) -> &str {
    json["id"].as_str().unwrap_or_default()
}

/// The answer of a create that was successful.
fn created(exchange: &Exchange) -> Option<&Answer> {
    exchange
        .answer
        .as_ref()
        .filter(|answer| answer.status == 200 && exchange.ask.payload().is_some())
}

fn calls(exchange: &Exchange, operation: &str) -> Vec<Call> {
    let calls = exchange.calls.list.borrow();
    calls.iter().filter(|call| call.operation == operation).cloned().collect()
}

fn has_fault(exchange: &Exchange) -> bool {
    exchange.calls.list.borrow().iter().any(|call| call.fault.is_some())
}

fn replay_get(exchange: &Exchange) -> Option<Call> {
    calls(exchange, "get").into_iter().find(|call| call.name.starts_with("idempotency:"))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}

// ---- Ends and failures -----------------------------------------------------------------------------

fn every_request_ends(_: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    ensure(exchange.is_cut || exchange.answer.is_some(), || "it was never answered".to_owned())
}

/// Each call has a deadline, and nothing else takes time.
fn a_request_waits_for_its_calls_alone(_: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let Some(ended_ms) = exchange.ended_ms else { return Ok(()) };
    let mut waited_ms = 0;
    for call in exchange.calls.list.borrow().iter() {
        let took_ms = call.ended_ms.map_or(0, |ended_ms| ended_ms - call.began_ms);
        let deadline_ms = match call.operation {
            "put" => WRITE_MS,
            _ if call.name.starts_with("profile:") => u64::from(ProfileKey::READ_MS),
            _ => u64::from(READ_MS),
        };
        ensure(took_ms <= deadline_ms, || format!("a {} took {took_ms} ms", call.operation))?;
        waited_ms += took_ms;
    }
    let took_ms = ended_ms - exchange.begun_ms;
    ensure(took_ms <= waited_ms, || format!("it took {took_ms} ms, its calls {waited_ms}"))
}

/// 5xx only where something was made to fail, or where the isolate holds too many bytes.
fn a_failure_has_a_cause(history: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let Some(answer) = exchange.answer.as_ref().filter(|answer| answer.status >= 500) else {
        return Ok(());
    };
    let may_be_full = || answer.status == 503 && may_be_full(history, exchange);
    ensure(has_fault(exchange) || may_be_full(), || format!("{:?}", answer.log))
}

/// Whether the isolate may have reached its limit of bytes during this request. A large create
/// counts twice: its body, then its answer and record.
fn may_be_full(history: &History<'_>, exchange: &Exchange) -> bool {
    let is_beside = |other: &&Exchange| {
        other.isolate == exchange.isolate
            && other.begun_ms <= exchange.ended_ms.unwrap_or(u64::MAX)
            && other.ended_ms.is_none_or(|ended_ms| exchange.begun_ms <= ended_ms)
    };
    let large = |other: &&Exchange| other.ask.payload() == Some(LARGE_PAYLOAD);
    let count = history.exchanges.iter().filter(is_beside).filter(large).count();
    2 * count * LARGE_BYTES > MAX_BYTES_IN_FLIGHT
}

fn a_503_says_whether_something_was_recorded(
    _: &History<'_>,
    _: usize,
    exchange: &Exchange,
) -> Verdict {
    let Some(answer) = exchange.answer.as_ref().filter(|answer| answer.status == 503) else {
        return Ok(());
    };
    let says_nothing = answer.json()["message"].to_string().contains("nothing was recorded");
    let wrote = !calls(exchange, "put").is_empty();
    ensure(!(says_nothing && wrote), || "it says that nothing was recorded".to_owned())
}

fn a_refusal_writes_nothing(_: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let Some(answer) = &exchange.answer else { return Ok(()) };
    let is_refusal = (400..500).contains(&answer.status) || answer.is_replayed;
    let is_read = exchange.ask.payload().is_none();
    let wrote = !calls(exchange, "put").is_empty();
    ensure(!wrote || !(is_refusal || is_read), || format!("{} wrote", answer.status))
}

// ---- Keys ------------------------------------------------------------------------------------------

/// At once; up to 60 s later where that very key was tried before it was stored.
fn a_new_key_works(history: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let life = history.simulation.keys[exchange.ask.key];
    let (Some(answer), Some(made_ms)) = (&exchange.answer, life.made_ms) else { return Ok(()) };
    let is_timeline = matches!(exchange.ask.action, Action::Timeline { .. });
    let is_revoked = life.revoked_ms.is_some_and(|at_ms| at_ms <= exchange.ended_ms.unwrap_or(0));
    if answer.status != 401 || is_timeline || is_revoked || exchange.ask.scope().is_none() {
        return Ok(());
    }
    let tried = history.exchanges.iter().any(|earlier| {
        earlier.ask.key == exchange.ask.key && earlier.begun_ms < made_ms + COPY_LAG_MS
    });
    let name = KEYS[exchange.ask.key].record_name();
    let works_ms = history.everywhere_ms(&name, made_ms, if tried { CACHE_MS } else { 0 });
    ensure(exchange.begun_ms < works_ms, || format!("a key made at {made_ms} is refused"))
}

/// Everywhere after 40 s.
fn a_revoked_key_is_refused(history: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let life = history.simulation.keys[exchange.ask.key];
    let Some(answer) = &exchange.answer else { return Ok(()) };
    let is_timeline = matches!(exchange.ask.action, Action::Timeline { .. });
    if answer.status == 401 || answer.status >= 500 || is_timeline {
        return Ok(());
    }
    let name = KEYS[exchange.ask.key].record_name();
    let dead_ms = life
        .revoked_ms
        .map(|revoked_ms| history.everywhere_ms(&name, revoked_ms, KEY_CACHE_MS) + ISOLATE_MS);
    let is_alive = dead_ms.is_none_or(|dead_ms| exchange.begun_ms < dead_ms);
    let is_made = life.made_ms.is_some_and(|made_ms| made_ms <= exchange.ended_ms.unwrap_or(0));
    ensure(is_made && is_alive, || format!("{} with a key that is {life:?}", answer.status))?;
    ensure(exchange.ask.scope().is_some(), || "a team's key without one of its units".to_owned())
}

// ---- Contents --------------------------------------------------------------------------------------

fn an_answer_is_what_was_asked_for(
    history: &History<'_>,
    _: usize,
    exchange: &Exchange,
) -> Verdict {
    let (Some(answer), Some(payload)) = (created(exchange), exchange.ask.payload()) else {
        return Ok(());
    };
    let json = answer.json();
    let mut asked = json.clone();
    let members = asked.as_object_mut().ok_or("the answer is no object")?;
    for own in ["id", "createdAt", "isLive", "charge", "timelineUrl"] {
        members.remove(own).ok_or_else(|| format!("`{own}` is missing"))?;
    }
    for pledge in members["pledges"].as_array_mut().into_iter().flatten() {
        pledge
            .as_object_mut()
            .and_then(|pledge| pledge.remove("id"))
            .ok_or("a pledge has no ID")?;
        let amount = &mut pledge["impact"]["amount"];
        *amount = json!(amount.as_f64()); // 3 is 3.0
    }
    let expected = history.simulation.payloads[payload].expected();
    ensure(asked == expected, || format!("{asked} instead of {expected}"))?;
    let is_live = exchange.ask.scope().is_some_and(|(mode, _)| mode == "live");
    ensure(json["isLive"] == json!(is_live), || format!("`isLive` is {}", json["isLive"]))
}

/// A transaction that was made anew: its time, charge and host.
fn the_terms_are_of_this_moment(history: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let (Some(answer), Some(payload)) = (created(exchange), exchange.ask.payload()) else {
        return Ok(());
    };
    if answer.is_replayed {
        return Ok(());
    }
    let (json, ended_ms) = (answer.json(), exchange.ended_ms.unwrap_or(0));
    let created_at = json["createdAt"].as_str().unwrap_or_default();
    let created_at = humantime::parse_rfc3339(created_at).map_err(|error| error.to_string())?;
    let created_at = created_at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let [from_ms, to_ms] = [exchange.begun_ms, ended_ms]
        .map(|ms| (EPOCH_MS + ms).saturating_add_signed(exchange.ahead_ms));
    let is_now = (u128::from(from_ms)..=u128::from(to_ms)).contains(&created_at.as_millis());
    ensure(is_now, || format!("created at {created_at:?}, not {from_ms} to {to_ms}"))?;
    let url = json["timelineUrl"].as_str().unwrap_or_default();
    let start = format!("{}/timeline/{}?edit_key=", exchange.ask.host, id_of(json));
    ensure(url.starts_with(&start), || format!("{url} does not begin with {start}"))?;
    let payload = &history.simulation.payloads[payload];
    let catalogue = CatalogueKey(KEYS[exchange.ask.key].mode).name();
    let prices = history.simulation.prices.iter();
    let ends_ms = prices.clone().skip(1).map(|(from_ms, _)| Some(*from_ms)).chain([None]);
    let charges = prices.zip(ends_ms).filter(|((from_ms, _), until_ms)| {
        let replaced_ms = until_ms.map(|ms| history.everywhere_ms(&catalogue, ms, CACHE_MS));
        let ends_ms = replaced_ms.map(|replaced_ms| replaced_ms + ISOLATE_MS);
        *from_ms <= ended_ms && ends_ms.is_none_or(|ends_ms| exchange.begun_ms <= ends_ms)
    });
    let charges: Vec<String> = charges.map(|((_, prices), _)| payload.charge(prices)).collect();
    let charge = &json["charge"];
    let is_due = charges.iter().any(|amount| charge["amount"] == json!(amount));
    ensure(is_due, || format!("{charge} is none of {charges:?}"))?;
    ensure(charge["currencyCode"] == "EUR" && charge["paidAt"].is_null(), || charge.to_string())
}

/// By the time of the answer a record is kept that has its content, and, for a repeatable create, a
/// replay record.
fn what_is_acknowledged_is_kept(
    history: &History<'_>,
    number: usize,
    exchange: &Exchange,
) -> Verdict {
    let Some(answer) = created(exchange) else { return Ok(()) };
    let (json, ended_ms) = (answer.json(), exchange.ended_ms.unwrap_or(0));
    let kept = history.kept(&transaction_name(id_of(json)), ended_ms);
    let answered = retrieved(json);
    ensure(kept.iter().any(|record| *record.json() == answered), || "it is not kept".to_owned())?;
    let Some(replay) = replay_get(exchange).filter(|_| !answer.is_replayed) else { return Ok(()) };
    let kept = history.kept(&replay.name, ended_ms);
    let is_kept = kept.iter().any(|record| record.writer == number);
    ensure(is_kept, || "its replay record is not kept".to_owned())
}

/// 200 to its own scope once the write is in force everywhere; by the end, the last that was kept.
fn what_is_acknowledged_can_be_read(
    history: &History<'_>,
    _: usize,
    exchange: &Exchange,
) -> Verdict {
    let (Action::Get { id }, Some(answer)) = (&exchange.ask.action, &exchange.answer) else {
        return Ok(());
    };
    let is_acknowledged = history.exchanges.iter().any(|earlier| {
        let everywhere_ms =
            |ended_ms| history.everywhere_ms(&transaction_name(id), ended_ms, CACHE_MS);
        created(earlier).is_some_and(|answer| id_of(answer.json()) == id)
            && earlier.ask.scope() == exchange.ask.scope()
            && earlier.ended_ms.is_some_and(|ended_ms| exchange.begun_ms >= everywhere_ms(ended_ms))
    });
    if !is_acknowledged {
        return Ok(());
    }
    ensure(answer.status != 404, || "404 for what was acknowledged".to_owned())?;
    if exchange.is_audit {
        let kept = history.kept(&transaction_name(id), exchange.begun_ms);
        let last = kept.last().map(|record| &record.value);
        let is_last = answer.status == 200 && answer.body.as_ref() == last;
        ensure(is_last, || format!("{} and not the last write", answer.status))?;
    }
    Ok(())
}

// ---- Repeats ---------------------------------------------------------------------------------------

/// Always one transaction: that of this very create, by whichever API key of its scope.
fn a_create_answers_with_its_own_transaction(
    history: &History<'_>,
    number: usize,
    exchange: &Exchange,
) -> Verdict {
    let Some(answer) = created(exchange) else { return Ok(()) };
    let name = transaction_name(id_of(answer.json()));
    let own = history.identity(number);
    for record in history.kept(&name, u64::MAX) {
        let owner = history.identity(record.writer);
        ensure(owner == own, || format!("{own:?} is answered with that of {owner:?}"))?;
    }
    ensure(!answer.is_replayed || history.is_named(exchange), || "nothing to replay".to_owned())
}

/// Checks the answer to a create without faults that read a replay record.
fn what_was_seen_decides(history: &History<'_>, number: usize, exchange: &Exchange) -> Verdict {
    let Some(answer) = exchange.answer.as_ref().filter(|_| !has_fault(exchange)) else {
        return Ok(());
    };
    let Some(replay) = replay_get(exchange).and_then(|call| call.found) else { return Ok(()) };
    let (own, by) = (history.identity(number), history.identity(replay.writer));
    let owner = answer.is_replayed.then(|| history.owner(&transaction_name(id_of(answer.json()))));
    let is_right = match (answer.status, owner.flatten()) {
        (200, Some(owner)) => Some(owner) == own,
        (422, _) => own != by,
        _ => false,
    };
    ensure(is_right, || format!("{} for {own:?}, which saw that of {by:?}", answer.status))
}

/// Byte for byte, whatever became of prices, time or host.
fn a_replay_is_the_first_answer(history: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let Some(answer) = created(exchange).filter(|answer| answer.is_replayed) else {
        return Ok(());
    };
    let json = answer.json();
    let firsts = history.exchanges.iter().filter_map(created).filter(|first| !first.is_replayed);
    let mut same = firsts.filter(|first| first.json() == json);
    ensure(same.all(|first| first.body == answer.body), || "the bytes differ".to_owned())
}

/// For two minutes, whatever KV shows, an isolate that answered a create makes nothing anew under its
/// idempotency key: the same payload is replayed, another one is refused.
fn an_isolate_knows_what_it_answered(
    history: &History<'_>,
    _: usize,
    exchange: &Exchange,
) -> Verdict {
    let (ask, ended_ms) = (&exchange.ask, exchange.ended_ms.unwrap_or(u64::MAX));
    let mut firsts = history.exchanges.iter().filter(|first| {
        let first_ms = first.ended_ms.unwrap_or(u64::MAX);
        created(first).is_some_and(|answer| !answer.is_replayed)
            && first.isolate == exchange.isolate
            && (first.ask.scope(), first.ask.name()) == (ask.scope(), ask.name())
            && first_ms < exchange.begun_ms
            && ended_ms < first_ms + RECENT_MS
    });
    let wrote = ask.name().is_some() && !calls(exchange, "put").is_empty();
    ensure(!wrote || firsts.next().is_none(), || "it is made anew".to_owned())
}

/// Once the replay record is in force everywhere an acknowledged answer no longer changes.
fn a_repeat_is_replayed_everywhere_in_the_end(
    history: &History<'_>,
    number: usize,
    exchange: &Exchange,
) -> Verdict {
    let (Some(own), Some(replay)) = (history.identity(number), replay_get(exchange)) else {
        return Ok(());
    };
    let mut firsts = history.acknowledged_before(own, exchange).filter(|(first, _)| {
        let everywhere_ms =
            history.everywhere_ms(&replay.name, first.ended_ms.unwrap_or(0), CACHE_MS);
        exchange.begun_ms >= everywhere_ms
    });
    let wrote = !calls(exchange, "put").is_empty();
    ensure(!wrote || firsts.next().is_none(), || "it is written once more".to_owned())
}

/// Payloads that raced are each answered as before when they are repeated.
fn what_is_acknowledged_is_not_refused_later(
    history: &History<'_>,
    number: usize,
    exchange: &Exchange,
) -> Verdict {
    let (Some(answer), Some(own)) = (&exchange.answer, history.identity(number)) else {
        return Ok(());
    };
    let first = history.acknowledged_before(own, exchange).find(|(first, answer)| {
        let name = transaction_name(id_of(answer.json()));
        let everywhere_ms = history.everywhere_ms(&name, first.ended_ms.unwrap_or(0), CACHE_MS);
        exchange.begun_ms >= everywhere_ms
    });
    ensure(answer.status != 422 || first.is_none(), || "it was acknowledged before".to_owned())
}

/// Once the first create is seen, every further payload is 422.
fn a_reused_idempotency_key_is_refused(
    history: &History<'_>,
    number: usize,
    exchange: &Exchange,
) -> Verdict {
    let (Some(answer), Some(Identity::Named { scope, name, payload: NEW_PAYLOAD, .. })) =
        (&exchange.answer, history.identity(number))
    else {
        return Ok(());
    };
    let is_used = history.exchanges.iter().any(|first| {
        let is_same = first.ask.scope() == Some(scope) && first.ask.name() == Some(name);
        is_same && !first.is_audit && created(first).is_some()
    });
    let is_refused = matches!(answer.status, 401 | 422);
    ensure(!is_used || is_refused, || format!("{} for a new payload", answer.status))
}

/// Another payload was used in this very scope.
fn a_422_has_a_reason(history: &History<'_>, _: usize, exchange: &Exchange) -> Verdict {
    let ask = &exchange.ask;
    if exchange.answer.as_ref().is_none_or(|answer| answer.status != 422) {
        return Ok(());
    }
    let is_reason = |other: &Exchange| {
        other.ask.scope() == ask.scope()
            && other.ask.name() == ask.name()
            && other.ask.payload() != ask.payload()
            && Some(other.begun_ms) <= exchange.ended_ms
    };
    ensure(history.exchanges.iter().any(is_reason), || "no other payload was sent".to_owned())
}

// ---- Who sees what ---------------------------------------------------------------------------------

/// Byte for byte a record that was kept, and by a create of the same mode and unit.
fn a_get_shows_a_record_of_its_own_scope(
    history: &History<'_>,
    _: usize,
    exchange: &Exchange,
) -> Verdict {
    let (Action::Get { id }, Some(answer)) = (&exchange.ask.action, &exchange.answer) else {
        return Ok(());
    };
    let is_spoilt = calls(exchange, "get").iter().any(|call| {
        matches!(call.fault, Some(Fault::DamagedValue | Fault::BrokenValue | Fault::HangingValue))
    });
    if answer.status != 200 {
        return Ok(());
    }
    let kept = history.kept(&transaction_name(id), exchange.ended_ms.unwrap_or(0));
    let is_own = kept.iter().any(|record| {
        let writer = history.exchanges[record.writer].ask.scope();
        writer == exchange.ask.scope() && (is_spoilt || answer.body.as_ref() == Some(&record.value))
    });
    ensure(is_own, || "it is not a record of this scope".to_owned())
}

fn a_timeline_opens_with_its_edit_key_alone(
    history: &History<'_>,
    _: usize,
    exchange: &Exchange,
) -> Verdict {
    let (Action::Timeline { id, edit_key }, Some(answer)) =
        (&exchange.ask.action, &exchange.answer)
    else {
        return Ok(());
    };
    let page = String::from_utf8_lossy(answer.body.as_deref().unwrap_or_default());
    let shows_address =
        history.simulation.payloads.iter().any(|payload| page.contains(&payload.email));
    ensure(!shows_address, || "the page shows an e-mail address".to_owned())?;
    let kept = history.kept(&transaction_name(id), u64::MAX);
    let url_end = format!("?edit_key={edit_key}");
    let is_right = kept.iter().any(|record| {
        record.json()["timelineUrl"].as_str().is_some_and(|url| url.ends_with(&url_end))
    });
    ensure(answer.status != 200 || is_right, || "it opens with another edit key".to_owned())
}

/// How many bytes are drawn or derived for an ID, and for an edit key at least.
const DRAWN_BYTES: usize = 15;

/// The bytes that were drawn or derived for the name of a transaction, a pledge's ID or an edit key.
fn drawn(text: &str) -> Option<Vec<u8>> {
    let decoded = match text.rsplit_once('_') {
        None => base16ct::lower::decode_vec(text).ok()?,
        Some(("transaction:ptran", id)) => Base32Unpadded::decode_vec(id).ok()?.split_off(10),
        Some((_, id)) => Base32Unpadded::decode_vec(id).ok()?,
    };
    decoded.get(..DRAWN_BYTES).map(<[u8]>::to_vec)
}

/// Of all that was written: an ID, a pledge's ID or an edit key belongs to one create, and a create
/// has one transaction. An edit key that is derived like an ID would be no secret.
fn no_id_or_edit_key_twice(history: &History<'_>) -> Verdict {
    let mut owners: BTreeMap<Vec<u8>, (Identity, usize)> = BTreeMap::new();
    let mut transactions: BTreeMap<Identity, String> = BTreeMap::new();
    for exchange in 0..history.exchanges.len() {
        for call in calls(&history.exchanges[exchange], "put") {
            let (Some(own), Some(written)) = (history.identity(exchange), call.written) else {
                continue;
            };
            if !call.name.starts_with("transaction:") {
                continue;
            }
            let first = transactions.entry(own).or_insert_with(|| call.name.clone());
            ensure(*first == call.name, || format!("{first} and {} are both {own:?}", call.name))?;
            let json = written.json();
            let edit_key = json["timelineUrl"].as_str().and_then(|url| url.rsplit('=').next());
            let pledges = json["pledges"].as_array().into_iter().flatten();
            let ids = pledges.filter_map(|pledge| pledge["id"].as_str());
            let all = [Some(&*call.name), edit_key].into_iter().flatten().chain(ids);
            for (index, id) in all.enumerate() {
                let drawn = drawn(id).ok_or_else(|| format!("{id} is neither ID nor edit key"))?;
                let owner = owners.entry(drawn).or_insert((own, index));
                ensure(*owner == (own, index), || format!("{id} of {own:?} is of {owner:?}, too"))?;
            }
        }
    }
    Ok(())
}
