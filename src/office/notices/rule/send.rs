//! Sends the e-mails to people, from the cron.

use super::super::rows::notices;
use super::super::rows::notices::{Attempt, AttemptEnd, Notice, NoticeKind, NoticeState, Planned};
use super::super::rows::people::people_of;
use super::found;
use super::found::{Found, HOUR_MS, LASTING_MINUTES, period};
use super::letter::{Letter, Site, letter};
use crate::buyer::delivery::SendError;
use crate::buyer::recipient::brief;
use crate::office::people::rule::of_person;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::roles::{MemberRight, Memberships, Staff};
use crate::office::shops::rows::names;
use crate::office::system::rows::health::CRON_MINUTES;
use crate::office::system::rows::upkeep::holder;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::DAY_MS;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use strum::IntoEnumIterator as _;

/// Maximum number of e-mails that an invocation sends.
pub const MAX_SENT: usize = 20;
/// Number of days for which the log is kept.
pub const KEPT_DAYS: u64 = 90;
/// Maximum number of attempts to send an e-mail.
const MAX_ATTEMPTS: u32 = 5;
/// The time between two attempts, in milliseconds.
const AGAIN_MS: u64 = HOUR_MS;
/// After this time, an invocation begins no other attempt, in milliseconds.
const MAX_MS: u64 = 60_000;
/// Maximum number of addresses in one statement.
const MAX_ADDRESSES: usize = 1_000;
/// The code of an attempt without an answer: the e-mail may have been sent.
const NO_ANSWER: &str = "no-answer";

/// Sends an e-mail to a person of the dashboard.
#[expect(async_fn_in_trait, reason = "one thread: no caller needs the futures to be Send")]
pub trait Post {
    /// Whether the mail service sends two e-mails with the same key only once.
    fn is_idempotent(&self) -> bool;

    /// Sends an e-mail. `key` is its idempotency key.
    ///
    /// # Errors
    /// If it is not certain that the e-mail was sent. With the code `no-answer`, it may have been sent.
    async fn send(&self, to: &str, letter: &Letter, key: &str) -> Result<(), SendError>;
}

/// What an invocation uses.
#[expect(missing_debug_implementations, reason = "ports")]
pub struct Office<'o, S, C, E, P> {
    pub store: &'o S,
    pub ledger: &'o dyn Ledger,
    pub clock: &'o C,
    pub entropy: &'o E,
    pub post: &'o P,
    pub staff: &'o Staff,
    /// The origin of the dashboard, without a slash at its end.
    pub origin: &'o str,
    /// The environment's name; empty if it is not set.
    pub environment: &'o str,
}

/// What an invocation did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Told {
    pub sent: usize,
    pub failed: usize,
    /// Why a kind could not be told: its name, and the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<(NoticeKind, String)>,
}

/// Plans e-mails if the invocation began in the first minutes of an hour, then sends those that are due: at most [`MAX_SENT`].
///
/// Ledger cost: 1 query, and 4 for each e-mail. In each hour, about 40 more, with at most 2 lists and 85 reads of Workers KV for up to
/// 1,000 failures of a day.
///
/// # Errors
/// If the ledger fails. The next invocation continues.
pub async fn tell<S: OperatorStore, C: Clock, E: Entropy, P: Post>(
    office: &Office<'_, S, C, E, P>,
    began_ms: u64,
) -> Result<Told> {
    let mut run = Run { office, told: Told::default(), known: BTreeMap::new() };
    let now = office.clock.now_ms();
    if began_ms % HOUR_MS < CRON_MINUTES * 60_000 {
        notices::forget(office.ledger, now.saturating_sub(KEPT_DAYS * DAY_MS)).await?;
        for kind in NoticeKind::iter() {
            run.plan(kind, now).await?;
        }
    }
    for notice in notices::due(office.ledger, now, MAX_SENT).await? {
        if office.clock.now_ms() > now.saturating_add(MAX_MS) {
            break;
        }
        run.deliver(&notice).await?;
    }
    Ok(run.told)
}

/// An invocation. It finds what there is to tell once for each kind.
struct Run<'r, 'o, S, C, E, P> {
    office: &'r Office<'o, S, C, E, P>,
    told: Told,
    /// What was found, by kind and period. `Err` if it could not be read.
    known: BTreeMap<(NoticeKind, String), Result<Option<Found>, ()>>,
}

impl<S: OperatorStore, C: Clock, E: Entropy, P: Post> Run<'_, '_, S, C, E, P> {
    /// Writes the e-mails of a kind into the ledger that are not there yet.
    async fn plan(&mut self, kind: NoticeKind, now: u64) -> Result<()> {
        let office = self.office;
        let Some(period) = period(kind, now) else { return Ok(()) };
        let Ok(Some(found)) = self.find(kind, &period).await else { return Ok(()) };
        let addresses = recipients(office.ledger, office.staff, kind, &found).await?;
        let wait_ms = if kind == NoticeKind::Ledger { LASTING_MINUTES * 60_000 } else { 0 };
        let due = now.saturating_add(wait_ms);
        for addresses in addresses.chunks(MAX_ADDRESSES) {
            let planned = Planned { kind, period: &period, addresses, now, due };
            notices::plan(office.ledger, &planned).await?;
        }
        Ok(())
    }

    /// Finds what there is to tell. `Err` if it cannot be read now: the log of the invocation says so.
    async fn find(&mut self, kind: NoticeKind, period: &str) -> Result<Option<Found>, ()> {
        let key = (kind, period.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let Office { store, ledger, clock, .. } = *self.office;
        let found = found::found(store, ledger, clock, kind, period).await;
        let found = found.map_err(|error| self.told.problems.push((kind, error.to_string())));
        self.known.insert(key, found.clone());
        found
    }

    async fn deliver(&mut self, notice: &Notice) -> Result<()> {
        let Office { ledger, clock, entropy, .. } = *self.office;
        let Notice { address, kind, period, .. } = notice;
        let (holder, now) = (holder(entropy), clock.now_ms());
        let attempt = Attempt { address, kind: *kind, period, holder: &holder, now };
        let letter = match self.letter(notice).await? {
            Ok(Some(letter)) => letter,
            Ok(None) => return Ok(notices::withdraw(ledger, attempt).await?),
            Err(()) => return Ok(()),
        };
        if !notices::begin(ledger, attempt).await? {
            return Ok(()); // another invocation sends it, or the person has switched it off
        }
        let sent = self.office.post.send(address, &letter, &key_of(notice)).await;
        let now = clock.now_ms();
        match sent {
            Ok(()) => self.told.sent += 1,
            Err(_) => self.told.failed += 1,
        }
        if let Some(end) = self.end(Attempt { now, ..attempt }, notice.attempts + 1, &sent) {
            notices::end(ledger, &end).await?;
        }
        Ok(())
    }

    /// Returns how an attempt ends; `None` if the e-mail may have been sent, and would be sent twice by another attempt.
    fn end<'a>(
        &self,
        attempt: Attempt<'a>,
        attempts: u32,
        sent: &'a Result<(), SendError>,
    ) -> Option<AttemptEnd<'a>> {
        let (code, may_pass) = match sent {
            Ok(()) => {
                let state = NoticeState::Sent;
                return Some(AttemptEnd { attempt, state, cause: None, due: None });
            }
            Err(SendError::Permanent { code }) => (code, false),
            Err(SendError::Temporary { code, .. } | SendError::Quota { code, .. }) => (code, true),
        };
        if code == NO_ANSWER && !self.office.post.is_idempotent() {
            return None;
        }
        let due =
            (may_pass && attempts < MAX_ATTEMPTS).then(|| attempt.now.saturating_add(AGAIN_MS));
        Some(AttemptEnd { attempt, state: NoticeState::Failed, cause: Some(code), due })
    }

    /// Writes the e-mail from what the person may see now. Returns `None` if there is nothing to tell the person any more, and `Err` if
    /// that cannot be read now.
    async fn letter(&mut self, notice: &Notice) -> Result<Result<Option<Letter>, ()>> {
        let Office { ledger, clock, staff, origin, environment, .. } = *self.office;
        let Notice { address, kind, period, .. } = notice;
        if found::period(*kind, clock.now_ms()).as_ref() != Some(period) {
            return Ok(Ok(None));
        }
        let found = match self.find(*kind, period).await {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(Ok(None)),
            Err(()) => return Ok(Err(())),
        };
        let roles = staff.roles_of(address);
        let memberships = Memberships(of_person(ledger, address).await?);
        if !NoticeKind::of(&roles, &memberships).contains(kind) {
            return Ok(Ok(None));
        }
        let own = found.units().map(|about| {
            let own = memberships.units(MemberRight::View);
            own.into_iter().filter(|unit| about.binary_search(&&**unit).is_ok()).collect()
        });
        let own: Vec<String> = match own {
            Some(own) if Vec::is_empty(&own) => return Ok(Ok(None)),
            own => own.unwrap_or_default(),
        };
        let names = names_of(ledger, &own).await?;
        Ok(Ok(Some(letter(&found, &own, &names, Site { origin, environment }))))
    }
}

/// Returns the addresses of the people who are to be told.
async fn recipients(
    ledger: &dyn Ledger,
    staff: &Staff,
    kind: NoticeKind,
    found: &Found,
) -> Result<Vec<String>> {
    match (kind.role(), found.units()) {
        (Some(role), _) => Ok(staff.members(role).map(str::to_owned).collect()),
        (None, units) => {
            let mut people = people_of(ledger, &units.unwrap_or_default()).await?;
            people.retain(|address| staff.roles_of(address).0.is_empty());
            Ok(people)
        }
    }
}

/// Returns the names of units, safe for an e-mail: shops choose them.
async fn names_of(ledger: &dyn Ledger, units: &[String]) -> Result<BTreeMap<String, String>> {
    if units.is_empty() {
        return Ok(BTreeMap::new());
    }
    let units: Vec<_> = units.iter().map(String::as_str).collect();
    let named = names::of_units(ledger, &units).await?;
    Ok(named.into_iter().filter_map(|name| Some((name.id, brief(&name.name)?))).collect())
}

/// Returns the idempotency key of an e-mail, which is the same for each attempt. It hides the address.
fn key_of(Notice { address, kind, period, .. }: &Notice) -> String {
    let digest = base16ct::lower::encode_string(&Sha256::digest(address));
    ["notice/", kind.name(), "/", period, "/", digest.get(..32).unwrap_or_default()].concat()
}
