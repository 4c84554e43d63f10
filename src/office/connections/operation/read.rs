//! Operations that read connections, and what shop systems have sent.

use super::arguments::{CONNECTION, SETTINGS, path, read_settings};
use crate::office::connections::rows::received::{Fate, Finding, ReceivedRow};
use crate::office::connections::rule as connections;
use crate::office::connections::rule::Connection;
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::link;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, unit};
use crate::office::shared::operation::table::paragraphs;
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
    let text = listing(&found).in_lines();
    let connections: Vec<ListedConnection> = found.into_iter().map(Into::into).collect();
    Answer::list("connections", &connections, text)
}

/// Returns the list of connections.
pub(crate) fn listing(connections: &[Connection]) -> Listing {
    Listing::new(
        connections,
        "No shop system is connected yet.",
        &[
            ("Connection", &|it| Fact::id(it.id.as_str())),
            ("Unit", &|it| Fact::unit(&it.record.scope.unit)),
            ("Shop system", &|it| {
                let address = link::path(&["connections", it.id.as_str()]);
                Fact::words(it.record.endpoint.system.label()).at(address)
            }),
            ("Shop", &|it| Fact::Text(it.record.store.clone())),
            ("Mode", &|it| Fact::Mode(it.record.scope.mode)),
            ("Changed", &|it| Fact::time(&*it.changed)),
        ],
    )
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
    let text = received(&rows).in_lines();
    let deliveries: Vec<Delivery> = rows.into_iter().map(Into::into).collect();
    Answer::list("deliveries", &deliveries, text)
}

/// Returns the list of what was received.
pub(crate) fn received(rows: &[ReceivedRow]) -> Listing {
    Listing::new(
        rows,
        "Nothing was received yet.",
        &[
            ("Received", &|it| Fact::time_of(it.at)),
            ("Order", &|it| {
                Fact::text(it.finding.shown.as_deref().or(it.finding.number.as_deref()))
            }),
            ("Outcome", &|it| Fact::words(in_words(it.finding.outcome))),
            ("Transaction", &|it| {
                it.finding.id.as_deref().map_or_else(Fact::none, Fact::transaction)
            }),
            ("Details", &|it| Fact::Message(it.finding.detail.clone().unwrap_or_default())),
            ("Delivery", &|it| Fact::id(&it.delivery)),
        ],
    )
}

fn in_words(fate: Fate) -> &'static str {
    match fate {
        Fate::Waiting => "Waiting",
        Fate::Pledged => "Pledged",
        Fate::Known => "Pledged before",
        Fate::Credited => "Refund credited",
        Fate::Held => "Not pledged: its refund came first",
        Fate::Skipped => "Not pledged",
        Fate::Ignored => "Not an order",
        Fate::Refused => "Refused",
        Fate::Unreadable => "Not readable",
        Fate::Ended => "Not pledged: the connection was ended",
        Fate::Lost => "Lost",
    }
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
