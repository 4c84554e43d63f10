//! The table of the dashboard: each page, and each form that is posted, with its address, what a role must allow, and the
//! function that makes it.

use super::form::Form;
use super::{
    Desk, Refusal, Result, audit, find, keys, ledger, mails, month, orders, payment, person,
    prices, profile, quantities, system, team, transaction, unit, usage,
};
use crate::handle::{Clock, Entropy};
use crate::http::percent_decode;
use crate::operator::roles::Act;
use crate::store::OperatorStore;
use strum::EnumIter;

/// Makes the routes of the table. A line is a page: its name, `(id)` where its address has one, method and address, what a
/// role must allow, and the function, which also gets the person at work. `form` is what was posted, `query` what the address
/// has behind `?`.
macro_rules! routes {
    (
        ($form:ident, $query:ident);
        $(
            #[doc = $doc:literal]
            $route:ident $(($id:ident))? = $template:literal, $act:ident,
            $module:ident::$function:ident($($argument:expr),*);
        )*
    ) => {
        /// The pages, and the forms that are posted. IDs are decoded, and not checked.
        #[derive(Clone, Debug, PartialEq, Eq, EnumIter)]
        pub enum Route {
            $(#[doc = $doc] $route $((routes!(@id $id)))?,)*
        }

        impl Route {
            /// What a person's role must allow.
            pub fn act(&self) -> Act {
                match self { $(Route::$route { .. } => Act::$act,)* }
            }

            /// Method and path for the log, with placeholders.
            pub fn template(&self) -> &'static str {
                match self { $(Route::$route { .. } => $template,)* }
            }
        }

        /// The route of `GET` or `POST` and a path; `None` for any other.
        pub fn route(method: &str, path: &str) -> Option<Route> {
            let segments: Vec<_> = path.strip_prefix('/')?.split('/').map(percent_decode).collect();
            let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
            $(
                if let Some(_id) = matched($template, method, &segments) {
                    return Some(Route::$route $((routes!(@owned $id, _id)))?);
                }
            )*
            None
        }

        impl<S: OperatorStore, C: Clock, E: Entropy> Desk<'_, S, C, E> {
            /// Makes the page of a route.
            pub(super) async fn show(&self, route: &Route, $form: &Form, $query: &Form) -> Result {
                match route {
                    $(Route::$route $(($id))? => $module::$function(self, $($argument),*).await,)*
                }
            }
        }
    };
    (@id $id:ident) => { String };
    (@owned $id:ident, $found:ident) => { $found.to_owned() };
}

routes! {
    (form, query);
    /// Where everything begins: the search.
    Home = "GET /", Look, find::home(query);
    /// Finds transactions, a unit or a key.
    Find = "POST /find", Support, find::find(form);
    /// A page of a list of transactions.
    Orders = "GET /orders", Look, orders::orders(query);
    /// A transaction.
    Transaction(id) = "GET /transactions/{id}", Support, transaction::transaction(id);
    /// Shows its texts and its timeline's address whole.
    Reveal(id) = "POST /transactions/{id}/whole", Operate, transaction::reveal(id);
    /// Sends its e-mail once more.
    Resend(id) = "POST /transactions/{id}/mail", Support, transaction::resend(id, form);
    /// The e-mail as it would be sent now.
    PreviewMail(id) = "GET /transactions/{id}/mail", Support, transaction::preview_mail(id);
    /// Erases its personal data.
    Erase(id) = "POST /transactions/{id}/erase", Operate, transaction::erase(id, form);
    /// The register of units.
    Units = "GET /units", Look, unit::units();
    /// Adds a unit to it.
    AddUnit = "POST /units", Operate, unit::add_unit(form);
    /// A unit (§5's settings).
    Unit(id) = "GET /units/{id}", Look, unit::unit(id);
    /// Sets a unit's profile.
    SetProfile(id) = "POST /units/{id}/profile", Operate, profile::set_profile(id, form);
    /// An example of the page, or of the e-mail, that its buyers see.
    PreviewProfile(id) = "GET /units/{id}/preview", Look, profile::preview_profile(id, query);
    /// A unit's usage by month.
    Usage(id) = "GET /units/{id}/usage", Account, usage::usage(id, query);
    /// The same as a table for a spreadsheet.
    UsageCsv(id) = "GET /units/{id}/usage.csv", Account, usage::usage_csv(id, query);
    /// A month's usage of all units.
    Month = "GET /usage", Account, month::month(query);
    /// The same as a table for a spreadsheet.
    MonthCsv = "GET /usage.csv", Account, month::month_csv(query);
    /// A month's quantities by offering, of all units.
    Quantities = "GET /quantities", Account, quantities::quantities(None, query);
    /// The same as a table for a spreadsheet.
    QuantitiesCsv = "GET /quantities.csv", Account, quantities::quantities_csv(None, query);
    /// A month's quantities by offering, of a unit.
    UnitQuantities(id) = "GET /units/{id}/quantities", Account, quantities::quantities(Some(id), query);
    /// The same as a table for a spreadsheet.
    UnitQuantitiesCsv(id) = "GET /units/{id}/quantities.csv", Account, quantities::quantities_csv(Some(id), query);
    /// Marks a month as paid.
    MarkPaid(id) = "POST /units/{id}/paid", Account, payment::mark_paid(id, form);
    /// Takes that back.
    UndoPaid(id) = "POST /units/{id}/unpaid", Account, payment::undo_paid(id, form);
    /// Asks for a person whose transactions are to be erased.
    Person = "GET /person", Operate, person::person(query);
    /// Erases a person's transactions, a step at a time.
    ErasePerson = "POST /person", Operate, person::erase_person(form);
    /// Makes an API key.
    MakeKey = "POST /keys", Operate, keys::make_key(form);
    /// Replaces an API key.
    RotateKey = "POST /keys/rotate", Operate, keys::rotate_key(form);
    /// Revokes an API key.
    RevokeKey = "POST /keys/revoke", Operate, keys::revoke_key(form);
    /// The register of teams.
    Teams = "GET /teams", Operate, team::teams();
    /// Makes a team of a first unit.
    AddTeam = "POST /teams", Operate, team::add_team(form);
    /// A team (§5's settings).
    Team(id) = "GET /teams/{id}", Operate, team::team(id);
    /// Adds a unit to a team.
    AddMember(id) = "POST /teams/{id}/add", Operate, team::add_member(id, form);
    /// Removes a unit from a team.
    RemoveMember(id) = "POST /teams/{id}/remove", Operate, team::remove_member(id, form);
    /// The prices of both modes, and their history.
    Prices = "GET /prices", Operate, prices::prices(query);
    /// Shows what new prices change, and sets them.
    SetPrices = "POST /prices", Operate, prices::set_prices(form);
    /// E-mails that failed.
    Mails = "GET /mails", Support, mails::mails(query);
    /// Sends those of a day once more, a step at a time.
    ResendDay = "POST /mails", Support, mails::resend_day(form);
    /// The record of changes.
    Audit = "GET /audit", Operate, audit::audit(query);
    /// Versions, limits, the ledger, and the last backup.
    System = "GET /system", Operate, system::system();
    /// How the ledger is, for monitors.
    Health = "GET /healthz", Look, ledger::health_page();
}

/// The ID in a path that matches a template, or an empty one if the template has none.
fn matched<'p>(template: &str, method: &str, segments: &[&'p str]) -> Option<&'p str> {
    let (of, path) = template.split_once(" /")?;
    let mut wanted = path.split('/');
    let mut id = "";
    for segment in segments {
        match wanted.next()? {
            "{id}" => id = segment,
            literal if literal == *segment => {}
            _ => return None,
        }
    }
    (of == method && wanted.next().is_none()).then_some(id)
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
