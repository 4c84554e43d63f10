//! The routes of the dashboard. A table says for each page and form who may use it and which handler answers
//! it.

use super::audit::page as audit;
use super::connections::operation as connection_operations;
use super::connections::page as connections;
use super::credit_requests::operation as credit_request_operations;
use super::credits::operation as credit_operations;
use super::fulfilment::operation as fulfilment_operations;
use super::fulfilment::page as fulfilment;
use super::keys::operation as key_operations;
use super::keys::page as keys;
use super::mails::operation as email_operations;
use super::mails::page::mails;
use super::notices::operation as notice_operations;
use super::notices::page as notices;
use super::orders::operation as transaction_operations;
use super::orders::page::{orders, person, transaction};
use super::payments::operation::payments as payment_operations;
use super::payments::page::{payment, payments, several, statement, statements, unit as of_unit};
use super::people::operation as people_operations;
use super::people::page as people;
use super::prices::operation as price_operations;
use super::prices::page as prices;
use super::routes::routes;
use super::shared::operation::call::Call;
use super::shared::operation::spec::Spec;
use super::shared::page::change;
use super::shared::page::context::PageContext;
use super::shared::page::form::Form;
use super::shared::page::guard::Target;
use super::shared::page::refusal::{Refusal, Result};
use super::shared::rule::roles::{MemberRight, Permission};
use super::shops::operation::{teams as team_operations, units as unit_operations};
use super::shops::page::{impact, profile, team, unit};
use super::system::operation::tasks as task_operations;
use super::system::page::{ledger, start, system};
use super::updates::operation as update_operations;
use super::updates::page as update;
use crate::pledges::http::percent_decode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use strum::EnumIter;

routes! {
    (scoped, form, query, by);
    /// The start page: what needs doing.
    Home = "GET /", Look, global View, start::home(&scoped);
    AcceptTask = "POST /tasks", Operate, global None, start::home(&scoped)
        after task_operations::ACCEPT, accept();
    ReopenTask = "POST /tasks/reopen", Operate, global None, start::home(&scoped)
        after task_operations::REOPEN, reopen();
    /// Searches for transactions, a unit, a team or a key, and redirects to the results.
    Search = "POST /find", Look, global View, start::search(&scoped, form);
    Find = "GET /find", Look, global View, start::find(&scoped, query);
    Orders = "GET /orders", Look, global View, orders::orders(&scoped, query);
    /// Redirects the filters of a form to the list.
    FilterOrders = "POST /orders", Look, global View, orders::filter(&scoped, form);
    OrdersCsv = "GET /orders.csv", Look, global View, orders::orders_csv(&scoped, query);
    /// Shows a transaction, masked. People with only the role `accounts` do not see the recipient or the e-mail.
    Transaction(id) = "GET /transactions/{id}", Look, record View, transaction::transaction(&scoped);
    /// Takes back a transaction's charge, or a part of it, as a credit.
    Credit(id) = "POST /transactions/{id}/credit", Account, record None, transaction::transaction(&scoped)
        after credit_operations::ADD, add("id" = scoped.id());
    /// Requests a credit. Up to the unit's limit, it is made at once.
    RequestCredit(id) = "POST /transactions/{id}/credit/request", Account, record Manage, transaction::transaction(&scoped)
        after credit_request_operations::REQUEST, request("id" = scoped.id());
    ConfirmCredit(id) = "POST /transactions/{id}/credit/confirm", Account, record None, transaction::transaction(&scoped)
        after credit_request_operations::CONFIRM, confirm("id" = scoped.id());
    /// Refuses a request. A shop withdraws its own.
    RefuseCredit(id) = "POST /transactions/{id}/credit/refuse", Account, record Manage, transaction::transaction(&scoped)
        after credit_request_operations::REFUSE, refuse("id" = scoped.id());
    /// Writes a note on a transaction, which may hand it over to accounts or support.
    Note(id) = "POST /transactions/{id}/note", Look, record View, transaction::transaction(&scoped)
        after transaction_operations::NOTE, note("id" = scoped.id());
    EndHandOver(id) = "POST /transactions/{id}/note/done", Look, record None, transaction::transaction(&scoped)
        after transaction_operations::NOTE_DONE, note_done("id" = scoped.id());
    /// Shows a transaction unmasked, with the URL of its timeline.
    Reveal(id) = "POST /transactions/{id}/whole", Operate, record Manage, transaction::reveal(&scoped);
    Resend(id) = "POST /transactions/{id}/mail", Support, record Manage, transaction::transaction(&scoped)
        after email_operations::RESEND, resend("id" = scoped.id());
    /// Previews a transaction's e-mail or message as it would be sent now.
    PreviewMail(id) = "GET /transactions/{id}/mail", Support, record View, transaction::preview_mail(&scoped, query);
    Erase(id) = "POST /transactions/{id}/erase", Operate, record Manage, transaction::erased(&scoped)
        after transaction_operations::ERASE, erase("id" = scoped.id(), "email" = "");
    Units = "GET /units", Look, global None, unit::units();
    AddUnit = "POST /units", Operate, global None, unit::created(form)
        after unit_operations::ADD, add();
    /// A unit and its settings (§5).
    Unit(id) = "GET /units/{id}", Look, unit View, unit::unit(&scoped);
    /// What the unit pledged this year, with texts to publish, and what its buyers were told.
    Impact(id) = "GET /units/{id}/impact", Account, unit View, impact::impact(&scoped);
    /// Sets up to which sums requests for credits are credited at once.
    SetCreditLimit(id) = "POST /units/{id}/credit-limit", Operate, unit None, unit::unit(&scoped)
        after credit_request_operations::LIMIT, limit("unit" = &scoped);
    SetProfile(id) = "POST /units/{id}/profile", Operate, unit Manage, unit::unit(&scoped)
        after unit_operations::SET, set("unit" = &scoped);
    /// A preview of the page or the e-mail that the unit's buyers see.
    PreviewProfile(id) = "GET /units/{id}/preview", Look, unit View, profile::preview_profile(&scoped, query);
    TryProfile(id) = "POST /units/{id}/preview", Operate, unit Manage, profile::try_profile(&scoped, (form, query));
    /// Shows the quantities that were pledged and fulfilled in a month, by offering, for all units together.
    Fulfilment = "GET /fulfilment", Account, global None, fulfilment::fulfilment(query);
    FulfilmentCsv = "GET /fulfilment.csv", Account, global None, fulfilment::fulfilment_csv(query);
    /// Shows the shops that pledged an offering in a month.
    FulfilmentShops = "GET /fulfilment/shops", Account, global None, fulfilment::shops(query);
    FulfilmentShopsCsv = "GET /fulfilment/shops.csv", Account, global None, fulfilment::shops_csv(query);
    RecordFulfilment = "POST /fulfilment", Operate, global None, fulfilment::fulfilment(form)
        after fulfilment_operations::ADD, add();
    RemoveFulfilment = "POST /fulfilment/remove", Operate, global None, fulfilment::fulfilment(form)
        after fulfilment_operations::REMOVE, remove();
    /// Drafts news for buyers (an update) from a record of what was done (a fulfilment).
    DraftUpdate = "POST /fulfilment/update", Operate, global None, fulfilment::fulfilment(form)
        after update_operations::DRAFT, draft();
    Updates = "GET /updates", Operate, global None, update::updates(query);
    AddUpdate = "POST /updates", Operate, global None, update::updates(form)
        after update_operations::ADD, add();
    PreviewNewUpdate = "POST /updates/preview", Operate, global None, update::preview_new(form);
    Update(id) = "GET /updates/{id}", Operate, global None, update::update(id);
    EditUpdate(id) = "POST /updates/{id}", Operate, global None, update::update(id)
        after update_operations::EDIT, edit("update" = id);
    PreviewEditedUpdate(id) = "POST /updates/{id}/preview", Operate, global None, update::preview_edit(id, form);
    PreviewUpdate(id) = "GET /updates/{id}/preview", Operate, global None, update::preview_update(id, query);
    PublishUpdate(id) = "POST /updates/{id}/publish", Operate, global None, update::update(id)
        after update_operations::PUBLISH, publish("update" = id);
    WithdrawUpdate(id) = "POST /updates/{id}/withdraw", Operate, global None, update::update(id)
        after update_operations::WITHDRAW, withdraw("update" = id);
    /// What shops owe for ended months, and what they have paid.
    Payments = "GET /payments", Account, global None, payments::payments(query);
    PaymentsCsv = "GET /payments.csv", Account, global None, payments::payments_csv(query);
    UnitPayments(id) = "GET /units/{id}/payments", Account, unit View, of_unit::payments(&scoped, query);
    UnitPaymentsCsv(id) = "GET /units/{id}/payments.csv", Account, unit View, of_unit::payments_csv(&scoped, query);
    SeveralPayments = "GET /payments/several", Account, global None, several::several(query);
    /// Marks several months as paid, each as a change of its own.
    MarkSeveral = "POST /payments/several", Account, global None, several::mark(form);
    /// The statements of several shops, for printing.
    Statements = "GET /payments/statements", Account, global None, statements::statements(query);
    Statement(id) = "GET /units/{id}/statement", Account, unit View, statement::statement(&scoped, query);
    TransactionsCsv(id) = "GET /units/{id}/transactions.csv", Account, unit View, statement::transactions_csv(&scoped, query);
    Paid(id) = "GET /units/{id}/paid", Account, unit None, payment::paid(&scoped, query);
    MarkPaid(id) = "POST /units/{id}/paid", Account, unit None, payment::paid(&scoped, form)
        after payment_operations::MARK, mark("unit" = &scoped);
    UndoPaid(id) = "POST /units/{id}/unpaid", Account, unit None, payment::changed(&scoped, form)
        after payment_operations::UNDO, undo("unit" = &scoped);
    Person = "GET /person", Operate, global Manage, person::person(&scoped, query);
    /// Erases all transactions of a person, a limited number per request.
    ErasePerson = "POST /person", Operate, owner Manage, person::erased()
        after transaction_operations::ERASE, erase("id" = "");
    UnitPeople(id) = "GET /units/{id}/people", Operate, unit Manage, people::of_unit(&scoped, query);
    AddUnitPerson(id) = "POST /units/{id}/people", Operate, unit Manage, people::of_unit(&scoped, query)
        after people_operations::ADD, add("unit" = &scoped);
    RemoveUnitPerson(id) = "POST /units/{id}/people/remove", Operate, unit Manage, people::of_unit(&scoped, query)
        after people_operations::REMOVE, remove("unit" = &scoped);
    /// Removes the sender of the form from a unit.
    LeaveUnit(id) = "POST /units/{id}/people/leave", Look, unit View, people::left()
        after people_operations::REMOVE, remove("unit" = &scoped, "address" = by);
    UnitConnections(id) = "GET /units/{id}/connections", Operate, unit Manage, connections::of_unit(&scoped);
    AddConnection(id) = "POST /units/{id}/connections", Operate, unit Manage, connections::of_unit(&scoped)
        after connection_operations::ADD, add("unit" = &scoped);
    /// A connection to a shop system.
    Connection(id) = "GET /connections/{id}", Operate, connection Manage, connections::connection(&scoped);
    SetConnection(id) = "POST /connections/{id}", Operate, connection Manage, connections::connection(&scoped)
        after connection_operations::SET, set("connection" = id);
    RetryDelivery(id) = "POST /connections/{id}/retry", Operate, connection Manage, connections::connection(&scoped)
        after connection_operations::RETRY, retry("connection" = id);
    FetchOrders(id) = "POST /connections/{id}/fetch", Operate, connection Manage, connections::connection(&scoped)
        after connection_operations::FETCH, fetch("connection" = id);
    EndConnection(id) = "POST /connections/{id}/end", Operate, connection Manage, connections::ended(&scoped)
        after connection_operations::END, end("connection" = id);
    /// Shows what an order would pledge.
    PreviewOrder(id) = "POST /connections/{id}/preview", Operate, connection Manage, connections::try_order(&scoped, form);
    TeamPeople(id) = "GET /teams/{id}/people", Operate, team Manage, people::of_team(&scoped, query);
    AddTeamPerson(id) = "POST /teams/{id}/people", Operate, team Manage, people::of_team(&scoped, query)
        after people_operations::ADD, add("team" = &scoped);
    RemoveTeamPerson(id) = "POST /teams/{id}/people/remove", Operate, team Manage, people::of_team(&scoped, query)
        after people_operations::REMOVE, remove("team" = &scoped);
    LeaveTeam(id) = "POST /teams/{id}/people/leave", Look, team View, people::left()
        after people_operations::REMOVE, remove("team" = &scoped, "address" = by);
    MakeKey = "POST /keys", Operate, owner Manage, keys::created(form)
        after key_operations::CREATE, create();
    /// The form that replaces an API key. It is requested by POST, because its form names the key.
    ReplaceKey = "POST /keys/replace", Operate, key Manage, keys::replace(form);
    RotateKey = "POST /keys/rotate", Operate, key Manage, keys::rotated(form)
        after key_operations::ROTATE, rotate("id" = form.text("key"));
    RevokeKey = "POST /keys/revoke", Operate, key Manage, keys::revoked(form)
        after key_operations::REVOKE, revoke("id" = form.text("key"));
    Teams = "GET /teams", Operate, global None, team::teams();
    /// Creates a team with a first unit.
    AddTeam = "POST /teams", Operate, global None, team::created(form)
        after team_operations::ADD, add("new" = "yes");
    /// A team and its settings (§5).
    Team(id) = "GET /teams/{id}", Operate, team View, team::team(&scoped);
    AddMember(id) = "POST /teams/{id}/add", Operate, team None, team::changed(&scoped, form)
        after team_operations::ADD, add("team" = &scoped);
    RemoveMember(id) = "POST /teams/{id}/remove", Operate, team None, team::changed(&scoped, form)
        after team_operations::REMOVE, remove("team" = &scoped);
    Prices = "GET /prices", Operate, global None, prices::prices(query);
    /// The price list that applies to a unit. It cannot be changed here.
    UnitPrices(id) = "GET /units/{id}/prices", Operate, unit Manage, prices::of_unit(&scoped, query);
    SetPrices = "POST /prices", Operate, global None, prices::prices(form)
        after price_operations::SET, set();
    RemovePrices = "POST /prices/remove", Operate, global None, prices::prices(form)
        after price_operations::REMOVE, remove();
    /// Failed e-mails and messages.
    Mails = "GET /mails", Support, global None, mails::mails(query);
    /// Resends many failed e-mails and messages, a limited number per request.
    ResendFailed = "POST /mails", Support, global None, mails::handled()
        after email_operations::RESEND, resend("id" = "");
    DismissFailed = "POST /mails/dismiss", Support, global None, mails::handled()
        after email_operations::DISMISS, dismiss();
    /// The e-mails that the person gets, and for operators the log of those that were sent.
    Notices = "GET /notices", Look, global View, notices::notices(query);
    SetNotice = "POST /notices", Look, global View, notices::notices(query)
        after notice_operations::SET, set("address" = by);
    /// The audit log. People of shops see the changes that concern their own units and teams.
    Audit = "GET /audit", Operate, global View, audit::audit(query);
    /// Versions, limits, roles, the ledger, and the last backups.
    System = "GET /system", Operate, global None, system::system();
    /// The health of the ledger, for monitors.
    Health = "GET /healthz", Look, global None, ledger::health_page();
}

impl Route {
    /// Returns whether the form may have a file: the picture of an update.
    pub(crate) fn uploads(&self) -> bool {
        use Route::{AddUpdate, EditUpdate, PreviewEditedUpdate, PreviewNewUpdate};
        matches!(self, AddUpdate | EditUpdate(_) | PreviewNewUpdate | PreviewEditedUpdate(_))
    }
}

/// Returns the ID in a path that matches a template. Returns an empty text if the template has no ID, and
/// `None` if the path does not match.
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
pub(crate) fn find(method: &str, path: &str) -> Result<Route> {
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
