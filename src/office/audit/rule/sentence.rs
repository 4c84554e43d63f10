//! The changes of the audit log in sentences, which the dashboard and the command `audit list` share.

use super::change::{Change, MemberChange};
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::ScopeMonth;
use crate::pledges::store::{PriceListKey, PriceListVersionKey, SettlementKey};
use crate::pledges::types::TransactionId;

/// Maximum number of units or transactions that a sentence names.
const MAX_NAMED: usize = 10;

/// The groups of commands that the audit log records, each with the noun for what its commands change.
pub const GROUPS: [(&str, &str); 15] = [
    ("keys", "API keys"),
    ("prices", "Prices"),
    ("units", "Units"),
    ("teams", "Teams"),
    ("people", "People of shops"),
    ("connections", "Shop systems"),
    ("transactions", "Transactions"),
    ("payments", "Payments"),
    ("credits", "Credits"),
    ("fulfilments", "Fulfilment"),
    ("updates", "Updates"),
    ("emails", "E-mails"),
    ("notices", "E-mails to people of the dashboard"),
    ("ledger", "Ledger"),
    ("tasks", "Tasks"),
];

/// The sentence of each command, without its author. Words in braces are placeholders for the IDs of an
/// entry. The number in a placeholder is the index of an ID or text:
///
/// - `{key 0}`: the first ID
/// - `{units 1}`: all IDs from the second one on
/// - `{text 1}`: a colon, and the texts from the second one on
/// - `{of}`: the unit or team that the change concerns
const SENTENCES: &[(&str, &str)] = &[
    ("keys create", "created the key {key 0}{of}"),
    ("keys rotate", "replaced the key {key 0} with the key {key 1}{of}"),
    ("keys revoke", "revoked the key {key 0}{of}"),
    ("prices set", "changed the {prices 0}"),
    ("prices change", "changed the {prices 0}"),
    ("prices remove", "removed the {prices 0}"),
    ("units add", "created {units 0}"),
    ("units set", "changed the profile of {units 0}"),
    ("units unset", "removed fields from the profile of {units 0}"),
    ("units remove", "removed {units 0}"),
    ("teams add", "added {units 1} to {team 0}"),
    ("teams remove", "removed {units 1} from {team 0}"),
    ("people add", "added a person{of}{text 0}"),
    ("people remove", "removed a person{of}{text 0}"),
    ("transactions erase", "erased the personal data of {transactions 0}"),
    ("transactions note", "wrote a note on {transaction 0}"),
    ("transactions note-done", "ended the hand-over of {transaction 0}"),
    ("transactions reveal", "viewed the unmasked data of {transactions 0}"),
    ("payments mark", "marked {month 0} as paid{text 1}"),
    ("payments undo", "marked {month 0} as unpaid again{text 1}"),
    ("credits add", "credited {transaction 0}{text 1}"),
    ("credits confirm", "credited {transaction 0}{text 1}"),
    ("credits request", "requested a credit of {transaction 0}{text 1}"),
    ("credits refuse", "refused the requested credit of {transaction 0}{text 1}"),
    ("credits limit", "changed the limit of credits{of}{text 0}"),
    ("fulfilments add", "recorded a fulfilment{text 1}"),
    ("fulfilments remove", "removed a fulfilment{text 1}"),
    ("updates add", "drafted an update{text 1}"),
    ("updates edit", "edited an update{text 1}"),
    ("updates publish", "published an update{text 1}"),
    ("updates withdraw", "withdrew an update{text 1}"),
    ("connections add", "connected a shop system{text 1}"),
    ("connections set", "changed a connection{text 1}"),
    ("connections end", "ended a connection"),
    ("connections retry", "had a delivery read again"),
    ("connections fetch", "had orders fetched again"),
    ("notices set", "changed which e-mails a person gets{text 0}"),
    ("tasks accept", "accepted tasks of the home page{text 0}"),
    ("tasks reopen", "reopened an accepted task of the home page{text 0}"),
    ("emails dismiss", "dismissed the failed e-mails or messages of {transactions 0}"),
    ("emails resend", "sent the e-mail of {transactions 0} again"),
    (
        "emails resend (MessagingServiceA)",
        "sent the MessagingServiceA message of {transactions 0} again",
    ),
    (
        "emails resend (MessagingServiceB)",
        "sent the MessagingServiceB message of {transactions 0} again",
    ),
    (
        "emails resend (MessagingServiceC)",
        "sent the MessagingServiceC message of {transactions 0} again",
    ),
];

/// The sentences of the commands about the ledger. Their entries have texts instead of IDs.
const OF_LEDGER: [(&str, &str); 3] = [
    (
        "ledger accept-loss",
        "accepted that the ledger has lost people, credits, fulfilments or updates",
    ),
    ("ledger keep-from", "changed the first month that the ledger keeps{text 0}"),
    ("ledger rebuild", "started a rebuild of the ledger"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// The ID of an API key.
    Key(String),
    /// The ID of a unit.
    Unit(String),
    /// The ID of a team.
    Team(String),
    /// The ID of a transaction.
    Transaction(String),
    /// A month of a scope.
    Month(ScopeMonth),
    /// The price list of a mode, or of a unit in that mode.
    Prices(Mode, Option<String>),
    /// A text that somebody wrote, such as an invoice number.
    Words(String),
}

impl Part {
    fn text(text: &str) -> Self {
        Part::Text(text.to_owned())
    }

    pub fn plain(&self) -> String {
        match self {
            Part::Text(text)
            | Part::Key(text)
            | Part::Unit(text)
            | Part::Team(text)
            | Part::Transaction(text)
            | Part::Words(text) => text.clone(),
            Part::Month(ScopeMonth { scope, month }) => {
                format!("{month} of the unit {} ({})", scope.unit, scope.mode.name())
            }
            Part::Prices(mode, None) => format!("prices for {} keys", mode.name()),
            Part::Prices(mode, Some(unit)) => {
                format!("prices for {} keys of the unit {unit}", mode.name())
            }
        }
    }
}

/// Returns whether a command, such as `keys revoke`, has a sentence.
pub fn is_known(command: &str) -> bool {
    template(command).is_some()
}

fn template(command: &str) -> Option<&'static str> {
    let mut all = SENTENCES.iter().chain(&OF_LEDGER);
    all.find(|(known, _)| *known == command).map(|(_, template)| *template)
}

impl Change {
    /// Returns the change as a sentence without its author and without a full stop: `revoked the key 0123456789ab of
    /// the unit shop`. If this release does not know the command, the sentence contains the command's name.
    pub fn sentence(&self) -> Vec<Part> {
        match template(&self.command) {
            Some(template) => filled(template, &self.on, self.of.as_ref()),
            None => unknown(&self.command, &self.on),
        }
    }

    /// Returns the sentence as plain text, followed by the changed members with their values before and after the
    /// change.
    pub fn plain_sentence(&self) -> String {
        let mut text: String = self.sentence().iter().map(Part::plain).collect();
        let changed: Vec<_> = self.changed.iter().map(MemberChange::plain).collect();
        if !changed.is_empty() {
            text.extend([" (", &*changed.join("; "), ")"]);
        }
        text
    }
}

impl MemberChange {
    /// Returns whether the entry has the member's value before or after the change.
    pub fn has_values(&self) -> bool {
        self.before.is_some() || self.after.is_some()
    }

    /// Returns words such as `language: de, before: en`. If the values are not recorded, returns words such
    /// as `replyTo was changed`.
    fn plain(&self) -> String {
        if !self.has_values() {
            return [&*self.member, " was changed"].concat();
        }
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        format!("{}: {}, before: {}", self.member, or_none(&self.after), or_none(&self.before))
    }
}

fn unknown(command: &str, on: &[String]) -> Vec<Part> {
    let mut parts = vec![Part::text("ran "), Part::Words(command.to_owned())];
    if !on.is_empty() {
        parts.push(Part::text(" on "));
        parts.extend(listed(on, Part::Words));
    }
    parts
}

/// The kinds of placeholders in a sentence's template, named after what their IDs stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Key,
    Units,
    Team,
    Transactions,
    Transaction,
    Month,
    Prices,
    Text,
    Of,
}

/// Returns the placeholders of a command's sentence, each with the index of its first ID; `None` if this release does
/// not know the command.
pub(super) fn slots(command: &str) -> Option<Vec<(Slot, usize)>> {
    let pieces = template(command)?.split('{').skip(1);
    Some(pieces.filter_map(|piece| piece.split_once('}')).map(|(text, _)| slot(text)).collect())
}

fn slot(text: &str) -> (Slot, usize) {
    let (kind, index) = text.split_once(' ').unwrap_or((text, "0"));
    let slot = match kind {
        "key" => Slot::Key,
        "units" => Slot::Units,
        "team" => Slot::Team,
        "transactions" => Slot::Transactions,
        "transaction" => Slot::Transaction,
        "month" => Slot::Month,
        "prices" => Slot::Prices,
        "text" => Slot::Text,
        _ => Slot::Of,
    };
    (slot, index.parse().unwrap_or_default())
}

fn filled(template: &str, on: &[String], of: Option<&KeyLevel>) -> Vec<Part> {
    let mut parts = Vec::new();
    for piece in template.split('{') {
        let (name, text) = piece.split_once('}').unwrap_or(("", piece));
        if !name.is_empty() {
            parts.extend(slot_parts(slot(name), on, of));
        }
        if !text.is_empty() {
            parts.push(Part::text(text));
        }
    }
    parts
}

fn slot_parts((slot, index): (Slot, usize), on: &[String], of: Option<&KeyLevel>) -> Vec<Part> {
    let rest = on.get(index..).unwrap_or_default();
    let first = rest.first().cloned().unwrap_or_else(|| "?".to_owned());
    match slot {
        Slot::Key => vec![Part::Key(first)],
        Slot::Team if first.is_empty() => vec![Part::text("a team")], // a person of a shop does not see which one
        Slot::Team => vec![Part::text("the team "), Part::Team(first)],
        Slot::Units if rest.is_empty() => vec![Part::text("a unit")],
        Slot::Units => several("the unit ", "the units ", rest, Part::Unit),
        Slot::Transactions if rest.is_empty() => vec![Part::text("a transaction")],
        Slot::Transactions => several("the transaction ", "the transactions ", rest, transaction),
        Slot::Transaction => vec![Part::text("the transaction "), transaction(first)],
        Slot::Month => vec![month(first)],
        Slot::Prices => vec![prices(first)],
        Slot::Text if rest.is_empty() => Vec::new(),
        Slot::Text => vec![Part::text(": "), Part::Words(rest.join(", "))],
        Slot::Of => of_level(of),
    }
}

/// Returns words such as ` of the unit shop`; empty if the entry names no unit or team.
fn of_level(of: Option<&KeyLevel>) -> Vec<Part> {
    match of {
        None => Vec::new(),
        Some(KeyLevel::Unit(id)) => vec![Part::text(" of the unit "), Part::Unit(id.clone())],
        Some(KeyLevel::Team(id)) => vec![Part::text(" of the team "), Part::Team(id.clone())],
    }
}

fn several(one: &str, many: &str, ids: &[String], part: fn(String) -> Part) -> Vec<Part> {
    let words = Part::text(if ids.len() == 1 { one } else { many });
    std::iter::once(words).chain(listed(ids, part)).collect()
}

/// Lists IDs: `a, b and 3 more`.
fn listed(ids: &[String], part: fn(String) -> Part) -> Vec<Part> {
    let mut parts = Vec::new();
    for (index, id) in ids.iter().take(MAX_NAMED).enumerate() {
        if index > 0 {
            parts.push(Part::text(", "));
        }
        parts.push(part(id.clone()));
    }
    if ids.len() > MAX_NAMED {
        parts.push(Part::Text(format!(" and {} more", ids.len() - MAX_NAMED)));
    }
    parts
}

fn transaction(id: String) -> Part {
    if TransactionId::parse(&id).is_some() { Part::Transaction(id) } else { Part::Words(id) }
}

fn month(name: String) -> Part {
    SettlementKey::parse(&name).map_or(Part::Words(name), Part::Month)
}

fn prices(name: String) -> Part {
    match PriceListVersionKey::parse(&name) {
        Some(PriceListVersionKey { of: PriceListKey { mode, unit }, .. }) => {
            Part::Prices(mode, unit.map(str::to_owned))
        }
        None => Part::Words(name),
    }
}
