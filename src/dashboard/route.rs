//! Maps a method and a path to a page.

use super::{Refusal, Result};
use crate::http::percent_decode;
use crate::operator::roles::Act;
use strum::EnumIter;

/// The pages, and the forms that are posted. IDs are decoded, and not checked.
#[derive(Clone, Debug, PartialEq, Eq, EnumIter)]
pub enum Route {
    /// Where everything begins: the search.
    Home,
    /// Finds transactions, a unit or a key.
    Find,
    /// A page of a list of transactions.
    Orders,
    /// A transaction.
    Transaction(String),
    /// Shows its texts and its timeline's address whole.
    Reveal(String),
    /// Sends its e-mail once more.
    Resend(String),
    /// The e-mail as it would be sent now.
    PreviewMail(String),
    /// Erases its personal data.
    Erase(String),
    /// The register of units.
    Units,
    /// Adds a unit to it.
    AddUnit,
    /// A unit (§5's settings).
    Unit(String),
    /// Sets a unit's profile.
    SetProfile(String),
    /// An example of the page, or of the e-mail, that its buyers see.
    PreviewProfile(String),
    /// A unit's usage by month.
    Usage(String),
    /// The same as a table for a spreadsheet.
    UsageCsv(String),
    /// A month's usage of all units.
    Month,
    /// The same as a table for a spreadsheet.
    MonthCsv,
    /// A month's quantities by offering, of all units.
    Quantities,
    /// The same as a table for a spreadsheet.
    QuantitiesCsv,
    /// A month's quantities by offering, of a unit.
    UnitQuantities(String),
    /// The same as a table for a spreadsheet.
    UnitQuantitiesCsv(String),
    /// Marks a month as paid.
    MarkPaid(String),
    /// Takes that back.
    UndoPaid(String),
    /// Asks for a person whose transactions are to be erased.
    Person,
    /// Erases a person's transactions, a step at a time.
    ErasePerson,
    /// Makes an API key.
    MakeKey,
    /// Replaces an API key.
    RotateKey,
    /// Revokes an API key.
    RevokeKey,
    /// The register of teams.
    Teams,
    /// Makes a team of a first unit.
    AddTeam,
    /// A team (§5's settings).
    Team(String),
    /// Adds a unit to a team.
    AddMember(String),
    /// Removes a unit from a team.
    RemoveMember(String),
    /// The prices of both modes, and their history.
    Prices,
    /// Shows what new prices change, and sets them.
    SetPrices,
    /// E-mails that failed.
    Mails,
    /// Sends those of a day once more, a step at a time.
    ResendDay,
    /// The record of changes.
    Audit,
    /// Versions, limits, the ledger, and the last backup.
    System,
    /// How the ledger is, for monitors.
    Health,
}

impl Route {
    /// What a person must be allowed to do.
    pub fn act(&self) -> Act {
        match self {
            Route::Home
            | Route::Orders
            | Route::Units
            | Route::Unit(_)
            | Route::PreviewProfile(_)
            | Route::Health => Act::Look,
            Route::Find
            | Route::Transaction(_)
            | Route::Resend(_)
            | Route::PreviewMail(_)
            | Route::Mails
            | Route::ResendDay => Act::Support,
            Route::Usage(_)
            | Route::UsageCsv(_)
            | Route::Month
            | Route::MonthCsv
            | Route::Quantities
            | Route::QuantitiesCsv
            | Route::UnitQuantities(_)
            | Route::UnitQuantitiesCsv(_)
            | Route::MarkPaid(_)
            | Route::UndoPaid(_) => Act::Account,
            Route::Reveal(_)
            | Route::Erase(_)
            | Route::AddUnit
            | Route::SetProfile(_)
            | Route::Person
            | Route::ErasePerson
            | Route::MakeKey
            | Route::RotateKey
            | Route::RevokeKey
            | Route::Teams
            | Route::AddTeam
            | Route::Team(_)
            | Route::AddMember(_)
            | Route::RemoveMember(_)
            | Route::Prices
            | Route::SetPrices
            | Route::Audit
            | Route::System => Act::Operate,
        }
    }

    /// Method and path for the log, with placeholders.
    pub fn template(&self) -> &'static str {
        match self {
            Route::Home => "GET /",
            Route::Find => "POST /find",
            Route::Orders => "GET /orders",
            Route::Transaction(_) => "GET /transactions/{id}",
            Route::Reveal(_) => "POST /transactions/{id}/whole",
            Route::Resend(_) => "POST /transactions/{id}/mail",
            Route::PreviewMail(_) => "GET /transactions/{id}/mail",
            Route::Erase(_) => "POST /transactions/{id}/erase",
            Route::Units => "GET /units",
            Route::AddUnit => "POST /units",
            Route::Unit(_) => "GET /units/{id}",
            Route::SetProfile(_) => "POST /units/{id}/profile",
            Route::PreviewProfile(_) => "GET /units/{id}/preview",
            Route::Usage(_) => "GET /units/{id}/usage",
            Route::UsageCsv(_) => "GET /units/{id}/usage.csv",
            Route::Month => "GET /usage",
            Route::MonthCsv => "GET /usage.csv",
            Route::Quantities => "GET /quantities",
            Route::QuantitiesCsv => "GET /quantities.csv",
            Route::UnitQuantities(_) => "GET /units/{id}/quantities",
            Route::UnitQuantitiesCsv(_) => "GET /units/{id}/quantities.csv",
            Route::MarkPaid(_) => "POST /units/{id}/paid",
            Route::UndoPaid(_) => "POST /units/{id}/unpaid",
            Route::Person => "GET /person",
            Route::ErasePerson => "POST /person",
            Route::MakeKey => "POST /keys",
            Route::RotateKey => "POST /keys/rotate",
            Route::RevokeKey => "POST /keys/revoke",
            Route::Teams => "GET /teams",
            Route::AddTeam => "POST /teams",
            Route::Team(_) => "GET /teams/{id}",
            Route::AddMember(_) => "POST /teams/{id}/add",
            Route::RemoveMember(_) => "POST /teams/{id}/remove",
            Route::Prices => "GET /prices",
            Route::SetPrices => "POST /prices",
            Route::Mails => "GET /mails",
            Route::ResendDay => "POST /mails",
            Route::Audit => "GET /audit",
            Route::System => "GET /system",
            Route::Health => "GET /healthz",
        }
    }
}

/// The route of a request.
///
/// # Errors
/// 404 for an unknown path, 405 for a method that it has not.
pub(super) fn find(method: &str, path: &str) -> Result<Route> {
    let method = if method == "HEAD" { "GET" } else { method };
    match route(method, path) {
        Some(route) => Ok(route),
        None if ["GET", "POST"].iter().any(|other| route(other, path).is_some()) => {
            Err(Refusal::Request(405, "This address takes another method.".to_owned()))
        }
        None => Err(Refusal::Request(
            404,
            "No page has this address: begin at the search, or take a link of the menu.".to_owned(),
        )),
    }
}

/// The route of `GET` or `POST` and a path; `None` for any other.
pub fn route(method: &str, path: &str) -> Option<Route> {
    let segments: Vec<_> = path.strip_prefix('/')?.split('/').map(percent_decode).collect();
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    let route = match (method, segments.as_slice()) {
        ("GET", [""]) => Route::Home,
        ("POST", ["find"]) => Route::Find,
        ("GET", ["orders"]) => Route::Orders,
        ("GET", ["transactions", id]) => Route::Transaction((*id).to_owned()),
        ("POST", ["transactions", id, "whole"]) => Route::Reveal((*id).to_owned()),
        ("POST", ["transactions", id, "mail"]) => Route::Resend((*id).to_owned()),
        ("GET", ["transactions", id, "mail"]) => Route::PreviewMail((*id).to_owned()),
        ("POST", ["transactions", id, "erase"]) => Route::Erase((*id).to_owned()),
        ("GET", ["units"]) => Route::Units,
        ("POST", ["units"]) => Route::AddUnit,
        ("GET", ["units", id]) => Route::Unit((*id).to_owned()),
        ("POST", ["units", id, "profile"]) => Route::SetProfile((*id).to_owned()),
        ("GET", ["units", id, "preview"]) => Route::PreviewProfile((*id).to_owned()),
        ("GET", ["units", id, "usage"]) => Route::Usage((*id).to_owned()),
        ("GET", ["units", id, "usage.csv"]) => Route::UsageCsv((*id).to_owned()),
        ("GET", ["units", id, "quantities"]) => Route::UnitQuantities((*id).to_owned()),
        ("GET", ["units", id, "quantities.csv"]) => Route::UnitQuantitiesCsv((*id).to_owned()),
        ("GET", ["usage"]) => Route::Month,
        ("GET", ["usage.csv"]) => Route::MonthCsv,
        ("GET", ["quantities"]) => Route::Quantities,
        ("GET", ["quantities.csv"]) => Route::QuantitiesCsv,
        ("POST", ["units", id, "paid"]) => Route::MarkPaid((*id).to_owned()),
        ("POST", ["units", id, "unpaid"]) => Route::UndoPaid((*id).to_owned()),
        ("GET", ["person"]) => Route::Person,
        ("POST", ["person"]) => Route::ErasePerson,
        ("POST", ["keys"]) => Route::MakeKey,
        ("POST", ["keys", "rotate"]) => Route::RotateKey,
        ("POST", ["keys", "revoke"]) => Route::RevokeKey,
        ("GET", ["teams"]) => Route::Teams,
        ("POST", ["teams"]) => Route::AddTeam,
        ("GET", ["teams", id]) => Route::Team((*id).to_owned()),
        ("POST", ["teams", id, "add"]) => Route::AddMember((*id).to_owned()),
        ("POST", ["teams", id, "remove"]) => Route::RemoveMember((*id).to_owned()),
        ("GET", ["prices"]) => Route::Prices,
        ("POST", ["prices"]) => Route::SetPrices,
        ("GET", ["mails"]) => Route::Mails,
        ("POST", ["mails"]) => Route::ResendDay,
        ("GET", ["audit"]) => Route::Audit,
        ("GET", ["system"]) => Route::System,
        ("GET", ["healthz"]) => Route::Health,
        _ => return None,
    };
    Some(route)
}
