//! Operations that read connections, and what shop systems have sent.

use super::arguments::{CONNECTION, SETTINGS, path, read_settings};
use crate::office::connections::rows::received::{Fate, Finding, ReceivedRow};
use crate::office::connections::rule as connections;
use crate::office::connections::rule::Connection;
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, unit};
use crate::office::shared::operation::table::{paragraphs, table, time};
use crate::pledges::orders::{OrderSettings, System};
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::service::Clock as _;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};

pub const LIST: Spec = Spec::reads(
    "connections",
    "list",
    "list connections",
    &[unit("only the connections of this unit")],
)
.answers("`connections`: for each connection `connection`, `path`, `unit`, `mode`, `system`, `store`, `settings`, `fetches` (whether missed orders are fetched), `changed`, `by`; newest first");

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
    fetches: bool,
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
            fetches: record.token.is_some(),
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
.answers("`deliveries`: for each delivery `delivery` (its ID), `at`, `outcome` (`pledged`, `known`, `credited`, `held`, `skipped`, `ignored`, `refused`, `unreadable`, `ended`, `lost` or `waiting`), `number` (the order's ID in the shop system), `shown` (the number that people see), `detail` (the reason, or what differs), `id` (the transaction); newest first, at most 100");

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
