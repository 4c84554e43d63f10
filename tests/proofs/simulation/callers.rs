//! The callers, their requests, and the answers.

use crate::kv::Calls;
use crate::order_bodies::UNIT;
use impact_pledge::pledges::auth::{ApiKey, KeyLevel};
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::store::{CredentialKey, Key as _, MemberKey};
use serde_json::Value;
use std::cell::OnceCell;
use std::rc::Rc;
use support::service::key_record;

/// An API key and the unit or team that it may act for.
pub struct KeySpec {
    pub text: &'static str,
    pub mode: Mode,
    pub is_team: bool,
    pub units: &'static [&'static str],
}

const fn unit_key(text: &'static str, mode: Mode, unit: &'static [&'static str]) -> KeySpec {
    KeySpec { text, mode, is_team: false, units: unit }
}

pub const KEYS: &[KeySpec] = &[
    unit_key("service_sk_test_first", Mode::Test, &["unit_1"]),
    unit_key("service_sk_test_second", Mode::Test, &["unit_1"]),
    unit_key("service_sk_live_first", Mode::Live, &["unit_1"]),
    unit_key("service_sk_test_other", Mode::Test, &["unit_2"]),
    KeySpec {
        text: "service_sk_test_team",
        mode: Mode::Test,
        is_team: true,
        units: &["unit_1", "unit_2"],
    },
    unit_key("service_sk_live_other", Mode::Live, &["unit_2"]),
    unit_key("service_sk_test_later", Mode::Test, &["unit_1"]),
    unit_key("service_sk_test_audit", Mode::Test, &["unit_1"]),
    unit_key("service_sk_live_audit", Mode::Live, &["unit_1"]),
    unit_key("service_sk_test_audit_other", Mode::Test, &["unit_2"]),
    unit_key("service_sk_live_audit_other", Mode::Live, &["unit_2"]),
    unit_key("service_sk_live_orders", Mode::Live, &[UNIT]),
];
/// The index of the key that is created during the simulation.
pub const LATER: usize = 6;
/// The index of the first key that is used only in the checks at the end.
pub const AUDIT: usize = 7;

/// The index of the key that stands for the keys of the shops' connections, which only the ledger's tasks use.
pub const ORDERS: usize = 11;

/// A mode and a unit.
pub type Scope = (&'static str, &'static str);
/// A mode, and the unit or team that a key belongs to.
pub type Owner = (&'static str, &'static str);

impl KeySpec {
    /// Returns the key's owner. All requests of one owner share a limit on the bytes that an isolate holds
    /// for them.
    pub fn owner(&self) -> Owner {
        let name = if self.is_team { "team" } else { self.units[0] };
        (self.mode.into(), name)
    }

    /// Returns the name of the key's record.
    pub fn record_name(&self) -> String {
        CredentialKey(ApiKey::new(self.text).hash()).name()
    }

    pub fn record(&self) -> Vec<u8> {
        let level = match self.is_team {
            true => KeyLevel::Team("team".to_owned()),
            false => KeyLevel::Unit(self.units.concat()),
        };
        serde_json::to_vec(&key_record(self.mode, level)).unwrap()
    }
}

/// Returns the names of the records that add units to the team.
pub fn members() -> impl Iterator<Item = String> {
    let units = KEYS.iter().filter(|key| key.is_team).flat_map(|key| key.units);
    units.map(|unit| MemberKey { team: "team", unit }.name())
}

/// When a key was created, and when it was revoked.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyLife {
    pub made_ms: Option<u64>,
    pub revoked_ms: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Ask {
    pub key: usize,
    pub unit: Option<&'static str>,
    pub host: &'static str,
    pub action: Action,
}

#[derive(Clone, Debug)]
pub enum Action {
    Create {
        name: Option<usize>,
        payload: usize,
        spelling: usize,
        is_broken: bool,
    },
    Get {
        id: String,
    },
    Timeline {
        id: String,
        edit_key: String,
    },
    /// A create request for the order of a shop system, with its idempotency key.
    Order {
        name: String,
    },
}

impl Ask {
    /// Returns the mode and unit that the caller acts for, if its key is valid.
    pub fn scope(&self) -> Option<Scope> {
        let key = &KEYS[self.key];
        let mut units = key.units.iter().copied();
        let unit = units.find(|unit| !key.is_team || self.unit == Some(unit))?;
        Some((key.mode.into(), unit))
    }

    /// Returns the number of the create request's idempotency key; `None` if the request has no key.
    pub fn name(&self) -> Option<usize> {
        if let Action::Create { name, .. } = self.action { name } else { None }
    }

    /// Whether the request has an idempotency key.
    pub fn is_repeatable(&self) -> bool {
        self.name().is_some() || matches!(self.action, Action::Order { .. })
    }

    pub fn payload(&self) -> Option<usize> {
        if let Action::Create { payload, .. } = self.action { Some(payload) } else { None }
    }
}

/// A request and its answer.
pub struct Exchange {
    pub ask: Ask,
    pub isolate: usize,
    pub location: usize,
    pub ahead_ms: i64,
    pub begun_ms: u64,
    pub ended_ms: Option<u64>,
    /// The answer. It is `None` while the request runs, and stays `None` if the request was cut off.
    pub answer: Option<Answer>,
    pub is_cut: bool,
    /// Whether the request belongs to the checks at the end, after all faults have ended and all caches have
    /// expired.
    pub is_audit: bool,
    pub calls: Rc<Calls>,
}

impl Exchange {
    /// Returns the answer of a create request that succeeded; `None` for any other exchange.
    pub fn created(&self) -> Option<&Answer> {
        self.ask.payload()?;
        self.answer.as_ref().filter(|answer| answer.status == 200)
    }
}

/// An answer as a client received it.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub is_replayed: bool,
    pub asks_to_repeat: bool,
    /// The body; `None` if the answer broke off.
    pub body: Option<Vec<u8>>,
    pub log: Option<String>,
    pub json: OnceCell<Value>,
}

impl Answer {
    /// Returns the body; null if it is not JSON.
    pub fn json(&self) -> &Value {
        let body = || self.body.as_deref().unwrap_or_default();
        self.json.get_or_init(|| serde_json::from_slice(body()).unwrap_or_default())
    }
}
