//! The rules for every exchange (a request and its answer): the promises of `docs/reliability.md`, and the
//! rules behind them. Each rule is a function that returns the violation, or `None` if the rule holds or does
//! not apply.
//!
//! A write is "in force everywhere" when [`CACHE_MS`] and then [`COPY_LAG_MS`] have passed since it was
//! acknowledged. If a cache keeps an entry of the written key for too long, the write is in force later.

use crate::callers::{Action, Answer, Exchange, KEYS, Owner};
use crate::case::{Case, Identity, calls, id_of, identity, transaction_name};
use crate::isolate::CALM_BYTES;
use crate::kv::{CACHE_MS, COPY_LAG_MS, Call, Fault, READ_MS, Record, WRITE_MS};
use crate::mail::PUT_MS;
use crate::payload::{CURRENCY, Prices, UNIT_CURRENCY, retrieved};
use crate::payments::{
    a_create_says_that_nothing_is_paid, nothing_erased_returns, unpaid, waited_for_a_failure,
    what_is_paid_is_shown,
};
use crate::rule::{Wrong, unless};
use crate::simulation::{LARGE_BYTES, LARGE_PAYLOAD, NEW_PAYLOAD, Simulation};
use crate::times::{EPOCH_MS, ISOLATE_MS};
use crate::{delivery_rules, ledger_rules, mail_rules};
use base32ct::{Base32Unpadded, Encoding as _};
use impact_pledge::pledges::http::MAX_BYTES_IN_FLIGHT;
use impact_pledge::pledges::store::{Key as _, PriceListKey, ProfileKey, SettlementKey};
use impact_pledge::pledges::time::parse_ms;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How long a location of KV caches a key.
const KEY_CACHE_MS: u64 = 30_000;
/// The maximum time for which a request waits while another request reads the same record.
const PAUSED_MS: u64 = 1_000;
/// The share of one owner in one mode: the bytes that it may hold even if all other owners use up their
/// shares.
const SHARE_BYTES: usize = 6 * 1024 * 1024;
/// The bytes that are kept free for small requests. `FOR_NEW_BYTES` are kept free for owners that hold
/// nothing.
const FOR_SMALL_BYTES: usize = 4 * 1024 * 1024;
const FOR_NEW_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of bytes of a small create request. Every stored value, except a transaction's record, also
/// has at most this size.
const MARGIN_BYTES: usize = 16 * 1024;
/// How long an isolate remembers its own answers to create requests.
const RECENT_MS: u64 = 120_000;

pub struct Violation {
    pub invariant: &'static str,
    pub exchange: Option<usize>,
    pub text: String,
}

type Check = fn(&Case<'_>) -> Wrong;

const CHECKS: &[(&str, Check)] = &[
    ("every request ends", every_request_ends),
    ("a request waits for its calls alone", a_request_waits_for_its_calls_alone),
    ("a failure has a cause", a_failure_has_a_cause),
    ("a mail fails no create", a_mail_fails_no_create),
    ("a 503 says whether something was recorded", a_503_says_whether_something_was_recorded),
    ("a refusal writes nothing", a_refusal_writes_nothing),
    ("a new key works", a_new_key_works),
    ("a revoked key is refused", a_revoked_key_is_refused),
    ("an answer is what was asked for", an_answer_is_what_was_asked_for),
    ("the terms are of this moment", the_terms_are_of_this_moment),
    ("an isolate reads a record once in ten seconds", an_isolate_reads_once_in_ten_seconds),
    ("what is acknowledged is kept", what_is_acknowledged_is_kept),
    ("what is acknowledged can be read", what_is_acknowledged_can_be_read),
    ("a create answers with its own transaction", a_create_answers_with_its_own_transaction),
    ("what was seen decides", what_was_seen_decides),
    ("a replay is the first answer", a_replay_is_the_first_answer),
    ("an isolate knows what it answered", an_isolate_knows_what_it_answered),
    (
        "an isolate replays its own answer from memory",
        an_isolate_replays_its_own_answer_from_memory,
    ),
    ("a repeat is replayed everywhere in the end", a_repeat_is_replayed_everywhere_in_the_end),
    ("what is acknowledged is not refused later", what_is_acknowledged_is_not_refused_later),
    ("a reused idempotency key is refused", a_reused_idempotency_key_is_refused),
    ("a 422 has a reason", a_422_has_a_reason),
    ("a get shows a record of its own scope", a_get_shows_a_record_of_its_own_scope),
    ("what is paid is shown", what_is_paid_is_shown),
    ("a create says that nothing is paid", a_create_says_that_nothing_is_paid),
    ("nothing erased returns", nothing_erased_returns),
    ("a timeline opens with its edit key alone", a_timeline_opens_with_its_edit_key_alone),
];

/// Returns the first violation of a simulation, if there is one.
pub fn check(simulation: &Simulation) -> Result<(), Violation> {
    simulation.kv.arrive();
    let exchanges: &[Exchange] = &simulation.exchanges.borrow();
    let of_all = [
        ("memory stays within its budget", simulation.excesses.first().cloned()),
        ("no ID or edit key is made twice", no_id_or_edit_key_twice(exchanges)),
    ];
    let of_one = exchanges.iter().enumerate().flat_map(|(number, exchange)| {
        let case = Case { simulation, exchanges, number, exchange };
        CHECKS.iter().map(move |(name, check)| (*name, Some(number), check(&case)))
    });
    let of_mail = mail_rules::RULES.iter().chain(delivery_rules::RULES);
    let of_mail = of_mail.map(|(name, rule)| (*name, None, rule(simulation)));
    let of_all = of_all.into_iter().map(|(name, wrong)| (name, None, wrong));
    let of_ledger = ledger_rules::check(simulation).map(|(name, wrong)| (name, None, Some(wrong)));
    let mut all = of_all.chain(of_one).chain(of_mail).chain(of_ledger);
    match all.find_map(|(invariant, exchange, wrong)| Some((invariant, exchange, wrong?))) {
        Some((invariant, exchange, text)) => Err(Violation { invariant, exchange, text }),
        None => Ok(()),
    }
}

// ---- Ends and failures -----------------------------------------------------------------------------

fn every_request_ends(case: &Case<'_>) -> Wrong {
    unless(case.exchange.is_cut || case.answer().is_some(), || "it was never answered".to_owned())
}

/// Checks that a request takes no longer than its calls together, and that each call ends by its deadline.
fn a_request_waits_for_its_calls_alone(case: &Case<'_>) -> Wrong {
    let took_ms = case.exchange.ended_ms? - case.exchange.begun_ms;
    let calls = case.exchange.calls.list.borrow();
    let call_ms = |call: &Call| call.ended_ms.map_or(0, |ended_ms| ended_ms - call.began_ms);
    let is_late = |call: &&Call| {
        let deadline_ms = match call.operation {
            "put" => WRITE_MS,
            "queue" => PUT_MS,
            _ if call.name.starts_with("profile:") => ProfileKey::READ_MS.into(),
            _ => READ_MS.into(),
        };
        call_ms(call) > deadline_ms
    };
    if let Some(call) = calls.iter().find(is_late) {
        return Some(format!("a {} took {} ms", call.operation, call_ms(call)));
    }
    let paused_ms: u64 = case.calls("pause").iter().map(call_ms).sum();
    if paused_ms > PAUSED_MS {
        return Some(format!("it waited {paused_ms} ms for what another one reads"));
    }
    let waited_ms = calls.iter().map(call_ms).sum();
    unless(took_ms <= waited_ms, || format!("it took {took_ms} ms, its calls {waited_ms}"))
}

/// Checks that an answer with a 5xx status has a cause: a fault, or an isolate that holds too many bytes.
fn a_failure_has_a_cause(case: &Case<'_>) -> Wrong {
    let answer = case.answer().filter(|answer| answer.status >= 500)?;
    let may_be_full = || answer.status == 503 && may_be_full(case);
    let has_cause = case.has_fault() || may_be_full() || waited_for_a_failure(case);
    unless(has_cause, || format!("{:?}", answer.log))
}

/// Checks that a create request succeeds even if a call for notifications fails: the queue, a profile, or the
/// list of failed e-mails.
fn a_mail_fails_no_create(case: &Case<'_>) -> Wrong {
    let answer = case.answer().filter(|answer| answer.status >= 500)?;
    case.exchange.ask.payload()?;
    let is_of_mail = |call: &Call| {
        call.operation == "queue"
            || ["profile:", "mail-failed:"].iter().any(|prefix| call.name.starts_with(prefix))
    };
    let calls = case.exchange.calls.list.borrow();
    let has_cause = calls.iter().any(|call| call.fault.is_some() && !is_of_mail(call));
    unless(has_cause || may_be_full(case), || format!("{:?}", answer.log))
}

/// Whether the isolate may lack memory for this request. There are two possible causes. The request's owner may
/// have used up its share. Or all owners together may hold all bytes, except those that are kept free. The
/// check assumes that each owner holds what its requests need, up to the owner's limit.
fn may_be_full(case: &Case<'_>) -> bool {
    let own = case.exchange;
    let is_beside = |other: &&Exchange| {
        other.isolate == own.isolate
            && other.begun_ms <= own.ended_ms.unwrap_or(u64::MAX)
            && other.ended_ms.is_none_or(|ended_ms| own.begun_ms <= ended_ms)
    };
    let mut owners: BTreeMap<Option<Owner>, Wanted> = BTreeMap::new();
    for other in case.exchanges.iter().filter(is_beside) {
        let wanted = owners.entry(owner(other)).or_default();
        match is_large(case, other) {
            true => wanted.large += 2 * LARGE_BYTES,
            false => wanted.small += MARGIN_BYTES,
        }
    }
    let wanted: usize = owners.values().map(Wanted::all).sum();
    let is_its_share_taken = owners.get(&owner(own)).is_some_and(|own| own.all() > SHARE_BYTES);
    let large: usize = owners.values().map(|wanted| wanted.large.min(CALM_BYTES)).sum();
    let small: usize = owners.values().map(|wanted| wanted.small).sum();
    let held = large.min(MAX_BYTES_IN_FLIGHT - FOR_SMALL_BYTES) + small;
    let kept_free = if is_large(case, own) { FOR_SMALL_BYTES } else { 0 };
    (wanted > CALM_BYTES && is_its_share_taken)
        || held > MAX_BYTES_IN_FLIGHT - FOR_NEW_BYTES - kept_free
}

/// The maximum numbers of bytes that the small and the large requests of one owner hold. The bytes of a large
/// request count twice, because a create request holds both its answer and its record.
#[derive(Default)]
struct Wanted {
    small: usize,
    large: usize,
}

impl Wanted {
    fn all(&self) -> usize {
        self.small + self.large
    }
}

/// Whether a request has a large body, or reads a large record.
fn is_large(case: &Case<'_>, exchange: &Exchange) -> bool {
    let of_large = |payload| payload == Some(LARGE_PAYLOAD);
    match &exchange.ask.action {
        Action::Create { .. } => of_large(exchange.ask.payload()),
        Action::Order { .. } => false,
        Action::Get { id } | Action::Timeline { id, .. } => case.exchanges.iter().any(|made| {
            of_large(made.ask.payload())
                && made.created().is_some_and(|answer| answer.json()["id"] == **id)
        }),
    }
}

/// Returns the owner of the request's API key; `None` for a timeline page, which needs no key.
fn owner(exchange: &Exchange) -> Option<Owner> {
    let is_page = matches!(exchange.ask.action, Action::Timeline { .. });
    (!is_page).then(|| KEYS[exchange.ask.key].owner())
}

/// Checks that a request wrote nothing if its 503 answer says so. A 503 answer with `Retry-After` to a request
/// without an idempotency key says this too, because clients then retry the request.
fn a_503_says_whether_something_was_recorded(case: &Case<'_>) -> Wrong {
    let answer = case.answer().filter(|answer| answer.status == 503)?;
    let says_nothing = answer.json()["message"].to_string().contains("nothing was recorded");
    let asks_to_repeat = answer.asks_to_repeat && !case.exchange.ask.is_repeatable();
    let is_harmless = says_nothing || asks_to_repeat;
    unless(!(is_harmless && case.wrote()), || "it says that nothing was recorded".to_owned())
}

fn a_refusal_writes_nothing(case: &Case<'_>) -> Wrong {
    let answer = case.answer()?;
    let is_refusal = (400..500).contains(&answer.status) || answer.is_replayed;
    let is_read = matches!(case.exchange.ask.action, Action::Get { .. } | Action::Timeline { .. });
    unless(!(is_refusal || is_read) || !case.wrote(), || format!("{} wrote", answer.status))
}

// ---- Keys ------------------------------------------------------------------------------------------

/// Checks that a new key works at once. If a request tried the key before it was stored, the key may be
/// refused for another 60 s.
fn a_new_key_works(case: &Case<'_>) -> Wrong {
    case.answer().filter(|answer| answer.status == 401 && !case.is_timeline())?;
    let Exchange { ask, begun_ms, .. } = case.exchange;
    let life = case.simulation.keys[ask.key];
    let (made_ms, _) = (life.made_ms?, ask.scope()?);
    let is_revoked = life.revoked_ms.is_some_and(|revoked_ms| revoked_ms <= case.ended_ms());
    let was_tried = case
        .exchanges
        .iter()
        .any(|earlier| earlier.ask.key == ask.key && earlier.begun_ms < made_ms + COPY_LAG_MS);
    let cache_ms = if was_tried { CACHE_MS } else { 0 };
    let works_ms = case.everywhere_ms(&KEYS[ask.key].record_name(), made_ms, cache_ms);
    let is_right = is_revoked || *begun_ms < works_ms;
    unless(is_right, || format!("a key made at {made_ms} is refused"))
}

/// Checks that every location refuses a revoked key after 40 s.
fn a_revoked_key_is_refused(case: &Case<'_>) -> Wrong {
    let accepted = |answer: &&Answer| answer.status != 401 && answer.status < 500;
    let answer = case.answer().filter(accepted).filter(|_| !case.is_timeline())?;
    let Exchange { ask, begun_ms, .. } = case.exchange;
    let (life, name) = (case.simulation.keys[ask.key], KEYS[ask.key].record_name());
    let everywhere_ms = |revoked_ms| case.everywhere_ms(&name, revoked_ms, KEY_CACHE_MS);
    let is_alive =
        life.revoked_ms.is_none_or(|revoked_ms| *begun_ms < everywhere_ms(revoked_ms) + ISOLATE_MS);
    let is_made = life.made_ms.is_some_and(|made_ms| made_ms <= case.ended_ms());
    let has_unit = ask.scope().is_some();
    let describe = || format!("{} with a key that is {life:?} for {:?}", answer.status, ask.unit);
    unless(is_made && is_alive && has_unit, describe)
}

// ---- Contents --------------------------------------------------------------------------------------

fn an_answer_is_what_was_asked_for(case: &Case<'_>) -> Wrong {
    let (json, ask) = (case.exchange.created()?.json(), &case.exchange.ask);
    let mut rest = json.clone();
    let is_live = ask.scope().is_some_and(|(mode, _)| mode == "live");
    for own in ["id", "createdAt", "isLive", "charge", "timelineUrl"] {
        if rest.as_object_mut().and_then(|members| members.remove(own)).is_none() {
            return Some(format!("`{own}` is missing"));
        }
    }
    for pledge in rest["pledges"].as_array_mut().into_iter().flatten() {
        if pledge.as_object_mut().and_then(|pledge| pledge.remove("id")).is_none() {
            return Some("a pledge has no ID".to_owned());
        }
        let amount = &mut pledge["impact"]["amount"];
        *amount = json!(amount.as_f64()); // 3 is 3.0
    }
    let expected = case.simulation.payloads[ask.payload()?].expected();
    unless(rest == expected && json["isLive"] == json!(is_live), || {
        format!("{json} instead of {expected}")
    })
}

/// Checks that a new transaction has the time, the charge and the host that applied at its create request.
fn the_terms_are_of_this_moment(case: &Case<'_>) -> Wrong {
    let Exchange { ask, begun_ms, ahead_ms, .. } = case.exchange;
    let answer = case.exchange.created().filter(|answer| !answer.is_replayed)?;
    let json = answer.json();
    let created_ms = json["createdAt"].as_str().and_then(parse_ms).unwrap_or_default();
    let [from_ms, to_ms] =
        [*begun_ms, case.ended_ms()].map(|ms| (EPOCH_MS + ms).saturating_add_signed(*ahead_ms));
    let is_now = (from_ms..=to_ms).contains(&created_ms);
    let start = format!("{}/timeline/{}?edit_key=", ask.host, id_of(answer));
    let is_here = json["timelineUrl"].as_str().is_some_and(|url| url.starts_with(&start));
    let payload = &case.simulation.payloads[ask.payload()?];
    let charge = |prices: &Prices, currency: &str| json!({ "amount": payload.charge(prices), "currencyCode": currency, "paidAt": null });
    let (scope, mode) = (ask.scope()?, KEYS[ask.key].mode);
    let (mut charges, mut is_of_mode) = (vec![], false);
    let all = case.simulation.unit_prices.iter();
    let own = all.filter(|(_, of, _)| *of == scope).map(|(ms, _, prices)| (*ms, prices.as_ref()));
    let own = [(0, None)].into_iter().chain(own).collect();
    for prices in in_force(case, &PriceListKey::of_unit(mode, scope.1).name(), own) {
        charges.extend(prices.map(|prices| charge(prices, UNIT_CURRENCY)));
        is_of_mode |= prices.is_none();
    }
    if is_of_mode {
        let all = case.simulation.prices.iter().map(|(ms, prices)| (*ms, prices)).collect();
        let of_mode = in_force(case, &PriceListKey::of_mode(mode).name(), all);
        charges.extend(of_mode.into_iter().map(|prices| charge(prices, CURRENCY)));
    }
    unless(is_now && is_here && charges.contains(&json["charge"]), || {
        format!("{json}, not made from {from_ms} to {to_ms} at {start} for one of {charges:?}")
    })
}

/// Returns the values that a request may see for a record. A cache may still have an older value. `versions`
/// are all values that were written, each with its time.
fn in_force<T: Copy>(case: &Case<'_>, name: &str, versions: Vec<(u64, T)>) -> Vec<T> {
    let replaced = versions.iter().skip(1).map(|(from_ms, _)| Some(*from_ms)).chain([None]);
    let in_force = versions.iter().zip(replaced).filter(|((from_ms, _), replaced_ms)| {
        let ends_ms = replaced_ms.map(|ms| case.everywhere_ms(name, ms, CACHE_MS) + ISOLATE_MS);
        *from_ms <= case.ended_ms() && ends_ms.is_none_or(|ms| case.exchange.begun_ms <= ms)
    });
    in_force.map(|((_, value), _)| *value).collect()
}

/// Checks that an isolate does not read a price list or a settlement again within ten seconds, even if the
/// record does not exist. Three cases are special. After concurrent reads, the ten seconds count from the start
/// of the read that ended last. After a failed read of a settlement, the isolate reads again. While another
/// request reads a settlement, a request that has waited for this reads it, too, even if an earlier read has ended.
fn an_isolate_reads_once_in_ten_seconds(case: &Case<'_>) -> Wrong {
    let is_settlement = |name: &str| name.starts_with(SettlementKey::PREFIX);
    let is_cached =
        |call: &Call| call.name.starts_with(PriceListKey::PREFIX) || is_settlement(&call.name);
    let gets_of = |exchange| calls(exchange, "get").into_iter().filter(is_cached);
    let is_beside = |other: &&Exchange| {
        other.isolate == case.exchange.isolate && !std::ptr::eq(*other, case.exchange)
    };
    let beside: Vec<_> = case.exchanges.iter().filter(is_beside).collect();
    let has_failed = |name: &str| {
        let mut gets = beside.iter().flat_map(|other| gets_of(other).map(move |get| (other, get)));
        is_settlement(name)
            && gets.any(|(other, get)| get.name == name && known_ms(other, &get).is_none())
    };
    let is_being_read = |own: &Call, since_ms: u64| {
        let mut gets = beside.iter().flat_map(|other| gets_of(other).map(move |get| (other, get)));
        let is_later = |get: &Call| since_ms < get.began_ms && get.began_ms < own.began_ms;
        is_settlement(&own.name)
            && gets.any(|(other, get)| {
                let is_known = known_ms(other, &get).is_some_and(|ms| ms <= own.began_ms);
                get.name == own.name && is_later(&get) && !is_known
            })
    };
    let known: Vec<_> = beside
        .iter()
        .flat_map(|other| gets_of(other).map(move |get| (other, get)))
        .filter_map(|(other, get)| Some((known_ms(other, &get)?, Reverse(get.began_ms), get.name)))
        .collect();
    gets_of(case.exchange).find_map(|get| {
        let known = known.iter().filter(|(known_ms, _, name)| {
            *name == get.name && *known_ms <= get.began_ms // of one moment, either may be first
        });
        let (known_ms, Reverse(began_ms), name) = known.max()?;
        // The time that a request waited for another one's read of a settlement counts, too.
        let waited_ms = if is_settlement(name) { PAUSED_MS } else { 0 };
        let until_ms = began_ms + ISOLATE_MS - waited_ms;
        let is_again = *known_ms < get.began_ms && get.began_ms < until_ms;
        let is_excused = has_failed(name) || is_being_read(&get, *began_ms);
        (is_again && !is_excused).then(|| format!("{name} was read at {began_ms} ms"))
    })
}

/// Returns when a request knew a record's value, or knew that the record does not exist. Returns `None` if its
/// read failed or took too long. A fault of the record's content has no effect if the record does not exist.
fn known_ms(exchange: &Exchange, get: &Call) -> Option<u64> {
    let in_time =
        |call: &Call| call.ended_ms.filter(|ended_ms| ended_ms - call.began_ms < READ_MS.into());
    let fails = |call: &Call| match call.fault {
        None => false,
        Some(Fault::ErrorBefore | Fault::Hang) => true,
        Some(_) => call.found.is_some(),
    };
    let got_ms = in_time(get).filter(|_| !fails(get))?;
    if get.found.is_none() {
        return Some(got_ms);
    }
    let reads = calls(exchange, "read");
    reads.iter().find(|read| read.name == get.name).and_then(in_time)
}

/// Checks that the record of an answered create request is stored with the content of the answer. If the request
/// has an idempotency key, its replay record must be stored too.
fn what_is_acknowledged_is_kept(case: &Case<'_>) -> Wrong {
    let answer = case.exchange.created()?;
    let (kept, answered) =
        (case.kept_transaction(id_of(answer), case.ended_ms()), retrieved(answer.json()));
    if !kept.iter().any(|record| *record.json() == answered) {
        return Some("it is not stored".to_owned());
    }
    let replay = case.replay_get().filter(|_| !answer.is_replayed)?;
    let mut kept = case.kept(&replay.name, case.ended_ms()).into_iter();
    let is_kept = kept.any(|record| record.writer == case.number);
    unless(is_kept, || "its replay record is not stored".to_owned())
}

/// Checks that a get in the same scope never returns 404 once the create request's write is in force
/// everywhere. At the end, the get must return the record that was stored last.
fn what_is_acknowledged_can_be_read(case: &Case<'_>) -> Wrong {
    let Action::Get { id } = &case.exchange.ask.action else { return None };
    let (answer, begun_ms) = (case.answer()?, case.exchange.begun_ms);
    let name = transaction_name(id);
    let is_acknowledged = |earlier: &Exchange| {
        earlier.created().is_some_and(|answer| id_of(answer) == id)
            && earlier.ask.scope() == case.exchange.ask.scope()
            && earlier
                .ended_ms
                .is_some_and(|ms| case.everywhere_ms(&name, ms, CACHE_MS) <= begun_ms)
    };
    if !case.exchanges.iter().any(is_acknowledged) {
        return None;
    }
    let kept = case.kept(&name, begun_ms);
    let last = kept.last().map(|record| &record.value);
    let is_last = answer.status == 200 && answer.body.as_deref().map(unpaid).as_ref() == last;
    let is_read = answer.status != 404 && (is_last || !case.exchange.is_audit);
    unless(is_read, || format!("{} and not the last write", answer.status))
}

// ---- Repeats ---------------------------------------------------------------------------------------

/// Checks that a repeated create request gets its own transaction again, whichever API key of its scope it
/// uses. No other create request may get that transaction.
fn a_create_answers_with_its_own_transaction(case: &Case<'_>) -> Wrong {
    let answer = case.exchange.created()?;
    let own = case.identity();
    let owner = |record: Rc<Record>| identity(case.exchanges, record.writer);
    let kept = case.kept_transaction(id_of(answer), u64::MAX);
    let other = kept.into_iter().map(owner).find(|owner| *owner != own);
    let may_replay = case.exchange.ask.name().is_some();
    unless(other.is_none() && (may_replay || !answer.is_replayed), || {
        format!("{own:?} is answered with that of {other:?}")
    })
}

/// Checks the answer to a create request that found a replay record and had no fault:
///
/// - A 200 must be a replay.
/// - A 422 is right only if a different create request wrote the replay record.
/// - A 503 is right only for lack of memory.
fn what_was_seen_decides(case: &Case<'_>) -> Wrong {
    let answer = case.answer().filter(|_| !case.has_fault())?;
    let replay = case.replay_get()?.found?;
    let (own, by) = (case.identity(), identity(case.exchanges, replay.writer));
    let is_right = match answer.status {
        200 => answer.is_replayed, // of its own transaction, as another rule checks
        422 => own != by,
        503 => may_be_full(case), // the transaction must be read before the replay record can decide
        _ => false,
    };
    unless(is_right, || format!("{} for {own:?}, which saw that of {by:?}", answer.status))
}

/// Checks that a replay equals the first answer byte for byte, even if prices, time or host have changed
/// since.
fn a_replay_is_the_first_answer(case: &Case<'_>) -> Wrong {
    let answer = case.exchange.created().filter(|answer| answer.is_replayed)?;
    let json = answer.json();
    let firsts = case.exchanges.iter().filter_map(Exchange::created);
    let mut same = firsts.filter(|first| !first.is_replayed && first.json() == json);
    unless(same.all(|first| first.body == answer.body), || "the bytes differ".to_owned())
}

/// Checks that an isolate remembers its own answers for two minutes, whatever KV shows. During this time, it
/// makes no second transaction under the same idempotency key, and does not refuse the same payload.
fn an_isolate_knows_what_it_answered(case: &Case<'_>) -> Wrong {
    let Exchange { ask, isolate, begun_ms, ended_ms, .. } = case.exchange;
    let is_refused = case.answer().is_some_and(|answer| answer.status == 422);
    ask.name().filter(|_| is_refused || case.wrote())?;
    let is_known = case.exchanges.iter().any(|first| {
        let first_ms = first.ended_ms.unwrap_or(u64::MAX);
        let is_its = !is_refused || first.ask.payload() == ask.payload();
        is_its
            && first.created().is_some_and(|answer| !answer.is_replayed)
            && first.isolate == *isolate
            && (first.ask.scope(), first.ask.name()) == (ask.scope(), ask.name())
            && first_ms < *begun_ms
            && ended_ms.is_some_and(|ended_ms| ended_ms < first_ms + RECENT_MS)
    });
    unless(!is_known, || {
        if is_refused { "it is refused" } else { "it is created a second time" }.to_owned()
    })
}

/// Checks that an isolate needs no record to replay an answer of the last two minutes. This holds even if it
/// has since answered another payload with the same idempotency key. The rule applies if Workers KV shows no
/// replay record of this create request.
fn an_isolate_replays_its_own_answer_from_memory(case: &Case<'_>) -> Wrong {
    let own = case.identity();
    let answer = case.exchange.created().filter(|answer| answer.is_replayed)?;
    let shown = case.replay_get()?.found;
    let is_shown = shown.is_some_and(|record| identity(case.exchanges, record.writer) == own);
    let is_known = case.exchanges.iter().enumerate().any(|(number, first)| {
        let first_ms = first.ended_ms.unwrap_or(u64::MAX);
        first.created().is_some_and(|answer| !answer.is_replayed)
            && first.isolate == case.exchange.isolate
            && identity(case.exchanges, number) == own
            && first_ms < case.exchange.begun_ms
            && case.ended_ms() < first_ms + RECENT_MS
    });
    let reads = case.calls("get").into_iter().any(|get| get.name.starts_with("transaction:"));
    let is_wrong = reads && is_known && !is_shown && !case.has_fault();
    unless(!is_wrong, || format!("{} is read", id_of(answer)))
}

/// Checks that a create request writes nothing more once its replay record is in force everywhere.
fn a_repeat_is_replayed_everywhere_in_the_end(case: &Case<'_>) -> Wrong {
    let replay = case.replay_get().filter(|_| case.wrote())?;
    let is_known = case.was_acknowledged(|_| replay.name.clone());
    unless(!is_known, || "it is written again".to_owned())
}

/// Checks that an acknowledged create request is not refused with 422 later, even if other payloads used its
/// idempotency key at the same time.
fn what_is_acknowledged_is_not_refused_later(case: &Case<'_>) -> Wrong {
    case.answer().filter(|answer| answer.status == 422)?;
    let was_acknowledged = case.was_acknowledged(|answer| transaction_name(id_of(answer)));
    unless(!was_acknowledged, || "it was acknowledged before".to_owned())
}

/// Checks that a new payload gets 422 if its idempotency key was used before. The check uses a payload that
/// is sent only at the end, when all writes are visible.
fn a_reused_idempotency_key_is_refused(case: &Case<'_>) -> Wrong {
    let Exchange { ask, .. } = case.exchange;
    let answer = case.answer().filter(|answer| !matches!(answer.status, 401 | 422))?;
    let name = ask.name().filter(|_| ask.payload() == Some(NEW_PAYLOAD))?;
    let is_used = case.exchanges.iter().any(|first| {
        let is_same = first.ask.scope() == ask.scope() && first.ask.name() == Some(name);
        is_same && !first.is_audit && first.created().is_some()
    });
    unless(!is_used, || format!("{} for a new payload", answer.status))
}

/// Checks that a 422 is returned only if the idempotency key was used with another payload in the same scope.
fn a_422_has_a_reason(case: &Case<'_>) -> Wrong {
    let Exchange { ask, .. } = case.exchange;
    case.answer().filter(|answer| answer.status == 422)?;
    let is_reason = |other: &Exchange| {
        other.ask.scope() == ask.scope()
            && other.ask.name() == ask.name()
            && other.ask.payload() != ask.payload()
            && other.begun_ms <= case.ended_ms()
    };
    unless(case.exchanges.iter().any(is_reason), || "no other payload was sent".to_owned())
}

// ---- Who sees what ---------------------------------------------------------------------------------

/// Checks that a get returns, byte for byte, a record that a create request of the same mode and unit stored.
fn a_get_shows_a_record_of_its_own_scope(case: &Case<'_>) -> Wrong {
    let Action::Get { id } = &case.exchange.ask.action else { return None };
    let answer = case.answer().filter(|answer| answer.status == 200)?;
    let spoilt = [Fault::DamagedValue, Fault::BrokenValue, Fault::HangingValue].map(Some);
    let is_spoilt = case.calls("get").iter().any(|call| spoilt.contains(&call.fault));
    let is_own = case.kept_transaction(id, case.ended_ms()).iter().any(|record| {
        let writer = case.exchanges[record.writer].ask.scope();
        let is_whole = answer.body.as_deref().map(unpaid).as_ref() == Some(&record.value);
        writer == case.exchange.ask.scope() && (is_spoilt || is_whole)
    });
    unless(is_own, || "it is not a record of this scope".to_owned())
}

fn a_timeline_opens_with_its_edit_key_alone(case: &Case<'_>) -> Wrong {
    let Action::Timeline { id, edit_key } = &case.exchange.ask.action else { return None };
    let answer = case.answer()?;
    let page = String::from_utf8_lossy(answer.body.as_deref().unwrap_or_default());
    if case.simulation.payloads.iter().any(|payload| page.contains(&payload.email)) {
        return Some("the page shows an e-mail address".to_owned());
    }
    let url_end = format!("?edit_key={edit_key}");
    let is_right = case.kept_transaction(id, u64::MAX).iter().any(|record| {
        record.json()["timelineUrl"].as_str().is_some_and(|url| url.ends_with(&url_end))
    });
    unless(answer.status != 200 || is_right, || "it opens with another edit key".to_owned())
}

/// The minimum number of random or derived bytes in an ID or an edit key.
const DRAWN_BYTES: usize = 15;

/// Returns the random or derived bytes of a transaction's ID, a pledge's ID or an edit key.
fn drawn(text: &str) -> Option<Vec<u8>> {
    let decoded = match text.rsplit_once('_') {
        None => base16ct::lower::decode_vec(text).ok()?,
        Some(("transaction:ptran", id)) => Base32Unpadded::decode_vec(id).ok()?.split_off(10),
        Some((_, id)) => Base32Unpadded::decode_vec(id).ok()?,
    };
    decoded.get(..DRAWN_BYTES).map(<[u8]>::to_vec)
}

/// Checks that no two create requests share an ID or an edit key, and that a create request has only one
/// transaction. An edit key must also differ from every ID, because IDs are not secret.
fn no_id_or_edit_key_twice(exchanges: &[Exchange]) -> Wrong {
    let mut owners: BTreeMap<Vec<u8>, (Identity, usize)> = BTreeMap::new();
    let mut transactions: BTreeMap<Identity, String> = BTreeMap::new();
    for (number, exchange) in exchanges.iter().enumerate() {
        let puts = calls(exchange, "put").into_iter();
        for call in puts.filter(|call| call.name.starts_with("transaction:")) {
            let (Some(own), Some(written)) = (identity(exchanges, number), call.written) else {
                continue;
            };
            let first = transactions.entry(own).or_insert_with(|| call.name.clone());
            if *first != call.name {
                return Some(format!("{first} and {} are both {own:?}", call.name));
            }
            let json = written.json();
            let edit_key = json["timelineUrl"].as_str().and_then(|url| url.rsplit('=').next());
            let pledges = json["pledges"].as_array().into_iter().flatten();
            let ids = pledges.filter_map(|pledge| pledge["id"].as_str());
            let all = [Some(&*call.name), edit_key].into_iter().flatten().chain(ids);
            for (index, id) in all.enumerate() {
                let Some(drawn) = drawn(id) else {
                    return Some(format!("{id} is neither ID nor edit key"));
                };
                let owner = owners.entry(drawn).or_insert((own, index));
                if *owner != (own, index) {
                    return Some(format!("{id} of {own:?} also belongs to {owner:?}"));
                }
            }
        }
    }
    None
}
