//! Operations on connections to shop systems, and on what these have sent.

use super::rows::received::{Fate, Finding, ReceivedRow};
use super::rule as connections;
use super::rule::{ChangedConnection, Connection, ConnectionChange, Created, NewConnection};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, text, unit};
use crate::office::shared::operation::table::{paragraphs, table, time};
use crate::office::shared::rule::delays::REFUSED_SECONDS;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::shops::operation::register::confirm_new;
use crate::office::system::rows::health::CRON_MINUTES;
use crate::pledges::api::ORDERS_PATH;
use crate::pledges::auth::KeyLevel;
use crate::pledges::orders::{OrderSettings, SettingsIssue, System};
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::service::Clock as _;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

const CONNECTION: Argument = Argument::positional(
    "connection",
    text("connection"),
    "the ID of the connection, which its URL ends with",
);
const SECRET: Argument = Argument::option(
    "secret",
    Kind::Input,
    "a file with the secret with which the shop system signs; `-` is standard input",
)
.secret(
    "Secret",
    "The secret with which the shop system signs what it sends. It is not shown again.",
);
const SETTINGS: Argument = Argument::option(
    "settings",
    Kind::Input,
    "a file with the rules that say what an order pledges, as JSON; `-` is standard input",
)
.field("Rules", "What an order pledges, as JSON.");

// ---- Add, change and end -------------------------------------------------------------------------

pub const ADD: Spec = Spec::changes(
    "connections",
    "add",
    "connect a shop system, so that its paid orders are pledged by themselves",
    &[
        unit("the unit whose orders they are").required(),
        mode("whether the orders are pledged for real")
            .required()
            .menu("Mode", &["Test: nothing is charged", "Live: real pledges and charges"]),
        Argument::option(
            "system",
            Kind::Choice { choices: &["woocommerce", "shopify", "stripe"] },
            "the shop system",
        )
        .required()
        .menu("Shop system", &["WooCommerce", "Shopify", "Stripe Checkout"]),
        Argument::option(
            "store",
            text("address"),
            "the shop's address in the system, such as shop.example or acme.myshopify.com; it keeps the orders of two shops apart",
        )
        .required()
        .field("Shop address", "For example shop.example or acme.myshopify.com. It cannot be changed later."),
        SECRET.required(),
        SETTINGS.required(),
    ],
)
.confirmed_if("the unit is not registered")
.button("Connect")
.answers("`connection`: its ID; `path`: the path of the URL to which the shop system sends its orders; `unit`, `mode`, `system`, `store`; `key`: the ID of the API key that belongs to the connection");

#[derive(Deserialize)]
pub struct Add {
    unit: String,
    mode: Mode,
    system: System,
    store: String,
    secret: String,
    settings: String,
}

#[derive(Serialize)]
struct Connected {
    #[serde(flatten)]
    created: Created,
    path: String,
}

pub async fn add<P: Ports>(call: &Call<'_, P>, asked: Add) -> Result<Answer> {
    let Add { unit, mode, system, store, secret, settings } = asked;
    if secret == "-" && settings == "-" {
        return Err(invalid(
            "nothing was added: only one of `--secret` and `--settings` can be `-`",
        ));
    }
    let settings = read_settings(call, &settings).await?;
    let secret = read_text(call, &secret).await?;
    let new = NewConnection { scope: Scope { unit, mode }, system, store, secret, settings };
    if !call.was_done().await? {
        new.check()?;
        let level = KeyLevel::Unit(new.scope.unit.clone());
        confirm_new(call, &[level], "nothing was connected").await?;
    }
    let by = call.host.person().await?;
    let done = connections::add(call.store, call.ledger, &call.author(&by)?, &new).await?;
    let said = format!(
        "{} was connected. Enter the URL below in the shop system.",
        done.outcome.system.label()
    );
    let change = Changed::new(said, facts(&done.outcome));
    Answer::changed(
        &done.map(|created| Connected { path: path(&created.connection), created }),
        change,
    )
}

fn facts(created: &Created) -> Facts {
    vec![
        (
            "URL",
            Fact::Words(format!("the address of the service, then {}", path(&created.connection))),
        ),
        ("Shop", Fact::Text(created.store.clone())),
        ("Mode", Fact::Words(created.scope.mode.name().to_owned())),
        ("Connection", Fact::Id(created.connection.to_string())),
        ("API key", Fact::Id(created.key.clone())),
    ]
}

/// Returns the path of the URL to which the shop system sends its orders.
pub(super) fn path(id: &impl std::fmt::Display) -> String {
    format!("{ORDERS_PATH}/{id}")
}

async fn read_text<P: Ports>(call: &Call<'_, P>, file: &str) -> Result<String> {
    Ok(String::from_utf8_lossy(&call.host.read(file).await?).trim().to_owned())
}

async fn read_settings<P: Ports>(call: &Call<'_, P>, file: &str) -> Result<OrderSettings> {
    let json = read_text(call, file).await?;
    let refused = |problem: String| {
        let text = format!("nothing was changed: {problem}");
        OperatorError::at("settings", RefusalCode::Invalid, text).into()
    };
    OrderSettings::parse(&json)
        .map_err(|issues| refused(issues.iter().map(in_words).collect::<Vec<_>>().join("; ")))
}

/// Writes an issue of settings, such as `rules/0/cap: must be …`.
pub(super) fn in_words(SettingsIssue { path, message }: &SettingsIssue) -> String {
    match path.trim_start_matches('/') {
        "" => format!("the rules {message}"),
        path => format!("`{path}` {message}"),
    }
}

pub const SET: Spec = Spec::changes(
    "connections",
    "set",
    "change the rules or the secret of a connection",
    &[
        CONNECTION,
        SETTINGS,
        SECRET.about("a file with a new secret; `-` is standard input. The secret before it is still accepted, until `--drop-old`"),
        Argument::option("drop-old", Kind::Flag, "accept only the newest secret from now on")
            .field("Accept only the newest secret", ""),
    ],
)
.button("Save")
.answers("`connection`; `unit`; `secrets`: the number of secrets that are accepted");

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Set {
    connection: String,
    settings: Option<String>,
    secret: Option<String>,
    #[serde(default)]
    drop_old: bool,
}

pub async fn set<P: Ports>(call: &Call<'_, P>, asked: Set) -> Result<Answer> {
    let Set { connection, settings, secret, drop_old } = asked;
    let settings = match &settings {
        Some(file) => Some(read_settings(call, file).await?),
        None => None,
    };
    let secret = match &secret {
        Some(file) => Some(read_text(call, file).await?),
        None => None,
    };
    if settings.is_none() && secret.is_none() && !drop_old {
        return Err(invalid("nothing was changed: say what to change"));
    }
    let change = ConnectionChange { settings, secret, drops_old: drop_old };
    let by = call.host.person().await?;
    let (author, what) = (call.author(&by)?, (&*connection, &change));
    let done = connections::set(call.store, call.ledger, &author, what).await?;
    let ChangedConnection { secrets, .. } = done.outcome;
    let said = match secrets {
        1 => "The connection was changed. One secret is accepted.".to_owned(),
        _ => format!(
            "The connection was changed. {secrets} secrets are accepted: drop the old one once the shop system uses the new one."
        ),
    };
    Answer::changed(&done, Changed::new(said, Facts::new()))
}

pub const END: Spec = Spec::changes(
    "connections",
    "end",
    "end a connection: its URL and its API key stop working",
    &[CONNECTION],
)
.confirmed()
.button("End the connection")
.answers("`connection`; `unit`");

#[derive(Deserialize)]
pub struct Which {
    connection: String,
}

pub async fn end<P: Ports>(call: &Call<'_, P>, Which { connection }: Which) -> Result<Answer> {
    if !call.was_done().await? {
        let found = connections::get(call.ledger, &connection).await?;
        call.confirm(ending(&found)).await?;
    }
    let by = call.host.person().await?;
    let done = connections::end(call.store, call.ledger, &call.author(&by)?, &connection).await?;
    Answer::changed(&done, Changed::new("The connection was ended.", Facts::new()))
}

fn ending(Connection { record, .. }: &Connection) -> Question {
    Question::new("End this connection?", "nothing was ended")
        .about(vec![
            ("Shop system", Fact::Words(record.endpoint.system.label().to_owned())),
            ("Shop", Fact::Text(record.store.clone())),
            ("Unit", Fact::Id(record.scope.unit.clone())),
        ])
        .effect(format!(
            "Its orders are no longer pledged, and refunds are no longer credited. The URL may still accept orders for up to {REFUSED_SECONDS} s. \
             This cannot be undone. Delete the webhook in the shop system as well."
        ))
        .button("End the connection")
}

// ---- Read ----------------------------------------------------------------------------------------

pub const LIST: Spec = Spec::reads(
    "connections",
    "list",
    "list connections",
    &[unit("only the connections of this unit")],
)
.answers("`connections`: for each connection `connection`, `path`, `unit`, `mode`, `system`, `store`, `settings`, `changed`, `by`; newest first");

#[derive(Deserialize)]
pub struct List {
    unit: Option<String>,
}

#[derive(Serialize)]
struct Listed {
    connections: Vec<ListedConnection>,
}

#[derive(Serialize)]
struct ListedConnection {
    connection: String,
    path: String,
    #[serde(flatten)]
    scope: Scope,
    system: System,
    store: String,
    settings: OrderSettings,
    changed: String,
    by: String,
}

impl From<Connection> for ListedConnection {
    fn from(Connection { id, record, changed, by, .. }: Connection) -> Self {
        let (connection, path) = (id.to_string(), path(&id));
        let (scope, system, store) = (record.scope, record.endpoint.system, record.store);
        ListedConnection {
            connection,
            path,
            scope,
            system,
            store,
            settings: record.settings,
            changed,
            by,
        }
    }
}

pub async fn list<P: Ports>(call: &Call<'_, P>, List { unit }: List) -> Result<Answer> {
    let found = connections::list(call.ledger, unit.as_deref()).await?;
    let connections: Vec<ListedConnection> = found.into_iter().map(Into::into).collect();
    let cells = |it: &ListedConnection| {
        [
            it.connection.clone(),
            it.scope.unit.clone(),
            it.scope.mode.name().to_owned(),
            it.system.label().to_owned(),
            it.store.clone(),
            time(&it.changed),
        ]
    };
    let text = match connections.is_empty() {
        true => "no connections".to_owned(),
        false => {
            let rows: Vec<_> = connections.iter().map(cells).collect();
            table(["CONNECTION", "UNIT", "MODE", "SYSTEM", "SHOP", "CHANGED"], &rows)
        }
    };
    Answer::new(&Listed { connections }, text)
}

pub const DELIVERIES: Spec = Spec::reads(
    "connections",
    "deliveries",
    "list what a shop system sent last, and what became of it",
    &[
        CONNECTION,
        Argument::option("before", Kind::Time, "only what was received before this time"),
    ],
)
.answers("`deliveries`: for each delivery `delivery` (its ID), `at`, `outcome` (`pledged`, `known`, `credited`, `held`, `skipped`, `ignored`, `refused`, `unreadable`, `ended`, `lost` or `waiting`), `number` (the order's ID), `shown` (its number), `detail` (the reason, or what differs), `id` (the transaction); newest first, at most 100");

#[derive(Deserialize)]
pub struct Deliveries {
    connection: String,
    before: Option<String>,
}

#[derive(Serialize)]
struct ListedDeliveries {
    deliveries: Vec<Delivery>,
}

#[derive(Serialize)]
struct Delivery {
    delivery: String,
    at: String,
    outcome: Fate,
    number: Option<String>,
    shown: Option<String>,
    detail: Option<String>,
    id: Option<String>,
}

impl From<ReceivedRow> for Delivery {
    fn from(ReceivedRow { delivery, at, finding, .. }: ReceivedRow) -> Self {
        let Finding { outcome, number, shown, detail, id, .. } = finding;
        Delivery { delivery, at: date_time(at), outcome, number, shown, detail, id }
    }
}

pub async fn deliveries<P: Ports>(call: &Call<'_, P>, asked: Deliveries) -> Result<Answer> {
    let Deliveries { connection, before } = asked;
    let connection = connections::get(call.ledger, &connection).await?;
    let before = before.as_deref().and_then(crate::pledges::time::parse_ms);
    let before = before.unwrap_or_else(|| call.platform.now_ms().saturating_add(1));
    let rows = connections::deliveries(call.ledger, connection.id.as_str(), before).await?;
    let deliveries: Vec<Delivery> = rows.into_iter().map(Into::into).collect();
    let cells = |it: &Delivery| {
        let order = it.shown.as_ref().or(it.number.as_ref());
        let what = it.id.as_ref().or(it.detail.as_ref());
        [
            time(&it.at),
            order.cloned().unwrap_or_default(),
            it.outcome.name().to_owned(),
            what.cloned().unwrap_or_default(),
            it.delivery.clone(),
        ]
    };
    let text = match deliveries.is_empty() {
        true => "nothing was received".to_owned(),
        false => {
            let rows: Vec<_> = deliveries.iter().map(cells).collect();
            table(["RECEIVED", "ORDER", "OUTCOME", "TRANSACTION OR REASON", "DELIVERY"], &rows)
        }
    };
    Answer::new(&ListedDeliveries { deliveries }, text)
}

pub const RETRY: Spec = Spec::changes(
    "connections",
    "retry",
    "read a delivery again for which nothing was pledged, for example after a change of the rules",
    &[
        CONNECTION,
        Argument::positional(
            "delivery",
            text("delivery"),
            "the ID of the delivery, as `connections deliveries` shows it",
        ),
    ],
)
.button("Try again")
.answers("`connection`; `unit`");

#[derive(Deserialize)]
pub struct Retry {
    connection: String,
    delivery: String,
}

pub async fn retry<P: Ports>(
    call: &Call<'_, P>,
    Retry { connection, delivery }: Retry,
) -> Result<Answer> {
    let by = call.host.person().await?;
    let (author, which) = (call.author(&by)?, (&*connection, &*delivery));
    let done = connections::try_again(call.ledger, &author, which).await?;
    let said = format!("The order is read again within {CRON_MINUTES} minutes.");
    Answer::changed(&done, Changed::new(said, Facts::new()))
}

pub const PREVIEW: Spec = Spec::reads(
    "connections",
    "preview",
    "show what an order would pledge, without pledging it",
    &[
        Argument::positional(
            "order",
            Kind::Input,
            "a file with what the shop system sends for an order; `-` is standard input",
        ),
        Argument::option(
            "system",
            Kind::Choice {
                choices: &["woocommerce", "shopify", "stripe", "bigcommerce", "medusa"],
            },
            "the shop system",
        )
        .required(),
        SETTINGS.required(),
        mode("the mode of the connection").or("live"),
    ],
)
.answers(
    "`pledge`: the create request, or `null`; `reason`: why nothing would be pledged, or `null`",
);

#[derive(Deserialize)]
pub struct Preview {
    order: String,
    system: System,
    settings: String,
    mode: Mode,
}

pub async fn preview<P: Ports>(call: &Call<'_, P>, asked: Preview) -> Result<Answer> {
    let settings = read_settings(call, &asked.settings).await?;
    let order = call.host.read(&asked.order).await?;
    let preview = connections::preview(asked.system, &order, &settings, asked.mode);
    let text = match (&preview.pledge, &preview.reason) {
        (Some(pledge), _) => {
            paragraphs(["This would be pledged:".to_owned(), pledge.get().to_owned()])
        }
        (None, reason) => {
            format!("Nothing would be pledged: {}", reason.as_deref().unwrap_or_default())
        }
    };
    Answer::new(&preview, text)
}
