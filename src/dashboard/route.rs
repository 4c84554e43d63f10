//! The routes of the dashboard: each page and form with its method, path, required permission and handler.

use super::form::Form;
use super::{
    PageContext, Refusal, Result, audit, find, fulfilment, keys, ledger, mails, month, orders,
    payment, person, prices, profile, quantities, system, team, transaction, unit, usage,
};
use crate::http::percent_decode;
use crate::operator::roles::Permission;
use crate::service::{Clock, Entropy};
use crate::store::OperatorStore;
use strum::EnumIter;

/// Generates [`Route`] from a table. Each line has the name of the route, `(id)` if its path contains an ID, method and
/// path, the required permission, and the handler, which also gets the [`PageContext`]. `form` is the posted form,
/// `query` the query string.
macro_rules! routes {
    (
        ($form:ident, $query:ident);
        $(
            #[doc = $doc:literal]
            $route:ident $(($id:ident))? = $template:literal, $act:ident,
            $module:ident::$function:ident($($argument:expr),*);
        )*
    ) => {
        /// The pages and forms of the dashboard. IDs are percent-decoded, but not checked.
        #[derive(Clone, Debug, PartialEq, Eq, EnumIter)]
        pub enum Route {
            $(#[doc = $doc] $route $((routes!(@id $id)))?,)*
        }

        impl Route {
            /// The permission that the route requires.
            pub fn permission(&self) -> Permission {
                match self { $(Route::$route { .. } => Permission::$act,)* }
            }

            /// Method and path with `{id}` in place of an ID, for the log.
            pub fn template(&self) -> &'static str {
                match self { $(Route::$route { .. } => $template,)* }
            }
        }

        /// Returns the route of a method (`GET` or `POST`) and a path; `None` if there is no such route.
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

        impl<S: OperatorStore, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
            /// Renders the page of a route.
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
    /// The start page: the search.
    Home = "GET /", Look, find::home(query);
    /// Finds transactions, a unit or a key.
    Find = "POST /find", Support, find::find(form);
    /// A list of transactions, one page at a time.
    Orders = "GET /orders", Look, orders::orders(query);
    /// Shows a transaction, masked.
    Transaction(id) = "GET /transactions/{id}", Support, transaction::transaction(id);
    /// Shows a transaction unmasked, with the URL of its timeline.
    Reveal(id) = "POST /transactions/{id}/whole", Operate, transaction::reveal(id);
    /// Sends the e-mail of a transaction again.
    Resend(id) = "POST /transactions/{id}/mail", Support, transaction::resend(id, form);
    /// A preview of the e-mail as it would be sent now.
    PreviewMail(id) = "GET /transactions/{id}/mail", Support, transaction::preview_mail(id);
    /// Erases the personal data of a transaction.
    Erase(id) = "POST /transactions/{id}/erase", Operate, transaction::erase(id, form);
    /// The list of units.
    Units = "GET /units", Look, unit::units();
    /// Creates a unit.
    AddUnit = "POST /units", Operate, unit::add_unit(form);
    /// A unit and its settings (§5).
    Unit(id) = "GET /units/{id}", Look, unit::unit(id);
    /// Sets a unit's profile.
    SetProfile(id) = "POST /units/{id}/profile", Operate, profile::set_profile(id, form);
    /// A preview of the page or the e-mail that the unit's buyers see.
    PreviewProfile(id) = "GET /units/{id}/preview", Look, profile::preview_profile(id, query);
    /// A unit's usage by month.
    Usage(id) = "GET /units/{id}/usage", Account, usage::usage(id, query);
    /// CSV export of a unit's usage.
    UsageCsv(id) = "GET /units/{id}/usage.csv", Account, usage::usage_csv(id, query);
    /// The usage of all units in a month.
    Month = "GET /usage", Account, month::month(query);
    /// CSV export of the usage of all units in a month.
    MonthCsv = "GET /usage.csv", Account, month::month_csv(query);
    /// What was pledged and done in a month, by offering, over all units.
    Fulfilment = "GET /fulfilment", Account, fulfilment::fulfilment(query);
    /// CSV export of what was pledged and done in a month.
    FulfilmentCsv = "GET /fulfilment.csv", Account, fulfilment::fulfilment_csv(query);
    /// Records what was done for the pledges of a month.
    RecordFulfilment = "POST /fulfilment", Operate, fulfilment::record(form);
    /// Removes what was recorded as done.
    RemoveFulfilment = "POST /fulfilment/remove", Operate, fulfilment::remove(form);
    /// A unit's quantities per offering in one month.
    UnitQuantities(id) = "GET /units/{id}/quantities", Account, quantities::quantities(id, query);
    /// CSV export of the quantities of a unit in a month.
    UnitQuantitiesCsv(id) = "GET /units/{id}/quantities.csv", Account, quantities::quantities_csv(id, query);
    /// Marks a month as paid.
    MarkPaid(id) = "POST /units/{id}/paid", Account, payment::mark_paid(id, form);
    /// Undoes the marking of a month as paid.
    UndoPaid(id) = "POST /units/{id}/unpaid", Account, payment::undo_paid(id, form);
    /// The form to erase all transactions of a person.
    Person = "GET /person", Operate, person::person(query);
    /// Erases a person's transactions, in steps.
    ErasePerson = "POST /person", Operate, person::erase_person(form);
    /// Creates an API key.
    MakeKey = "POST /keys", Operate, keys::make_key(form);
    /// Replaces an API key.
    RotateKey = "POST /keys/rotate", Operate, keys::rotate_key(form);
    /// Revokes an API key.
    RevokeKey = "POST /keys/revoke", Operate, keys::revoke_key(form);
    /// The list of teams.
    Teams = "GET /teams", Operate, team::teams();
    /// Creates a team with a first unit.
    AddTeam = "POST /teams", Operate, team::add_team(form);
    /// A team and its settings (§5).
    Team(id) = "GET /teams/{id}", Operate, team::team(id);
    /// Adds a unit to a team.
    AddMember(id) = "POST /teams/{id}/add", Operate, team::add_member(id, form);
    /// Removes a unit from a team.
    RemoveMember(id) = "POST /teams/{id}/remove", Operate, team::remove_member(id, form);
    /// The price list of a mode, and its history.
    Prices = "GET /prices", Operate, prices::prices(query);
    /// Previews a price change, and applies it.
    SetPrices = "POST /prices", Operate, prices::set_prices(form);
    /// Failed e-mails.
    Mails = "GET /mails", Support, mails::mails(query);
    /// Sends the failed e-mails of a day again, in steps.
    ResendDay = "POST /mails", Support, mails::resend_day(form);
    /// The audit log.
    Audit = "GET /audit", Operate, audit::audit(query);
    /// Versions, limits, roles, the ledger, and the last backups.
    System = "GET /system", Operate, system::system();
    /// The health of the ledger, for monitors.
    Health = "GET /healthz", Look, ledger::health_page();
}

/// Returns the ID in a path that matches a template, or an empty text if the template has no ID. `None` if the path does not
/// match.
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

/// Finds the route of a request.
///
/// # Errors
/// 404 for an unknown path, 405 for a known path with another method.
pub(super) fn find(method: &str, path: &str) -> Result<Route> {
    let method = if method == "HEAD" { "GET" } else { method };
    match route(method, path) {
        Some(route) => Ok(route),
        None if ["GET", "POST"].iter().any(|other| route(other, path).is_some()) => {
            Err(Refusal::Request(405, "Open this page from the menu.".to_owned()))
        }
        None => Err(Refusal::Request(
            404,
            "No page has this address. Use the search or the menu.".to_owned(),
        )),
    }
}
