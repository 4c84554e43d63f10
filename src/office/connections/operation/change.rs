//! Operations that change connections.

use super::arguments::{CONNECTION, SECRET, SETTINGS, TOKEN, path, read_settings, read_text};
use crate::office::connections::rule as connections;
use crate::office::connections::rule::{
    ChangedConnection, Connection, ConnectionChange, Created, NewConnection,
};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::link;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, text, unit};
use crate::office::shared::rule::delays::REFUSED_SECONDS;
use crate::office::shops::operation::register::confirm_new;
use crate::office::system::rows::health::CRON_MINUTES;
use crate::pledges::auth::KeyLevel;
use crate::pledges::orders::System;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::time::parse_ms;
use serde::{Deserialize, Serialize};

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
            Kind::Choice { choices: &["woocommerce", "shopify", "stripe", "bigcommerce"] },
            "the shop system",
        )
        .required()
        .menu("Shop system", &["WooCommerce", "Shopify", "Stripe Checkout", "BigCommerce"]),
        Argument::option(
            "store",
            text("address"),
            "the shop's address in the system, such as shop.example, acme.myshopify.com, or the store hash of BigCommerce; it keeps the orders of two shops apart",
        )
        .required()
        .field("Shop address", "For example shop.example or acme.myshopify.com; for BigCommerce the store hash. It cannot be changed later."),
        SECRET.required(),
        TOKEN,
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
    token: Option<String>,
    settings: String,
}

#[derive(Serialize)]
struct Connected {
    #[serde(flatten)]
    created: Created,
    path: String,
}

pub async fn add<P: Ports>(call: &Call<'_, P>, asked: Add) -> Result<Answer> {
    let Add { unit, mode, system, store, secret, token, settings } = asked;
    check_inputs("added", &[Some(&secret), token.as_ref(), Some(&settings)])?;
    let settings = read_settings(call, &settings).await?;
    let secret = read_text(call, &secret).await?;
    let token = read_optional(call, token.as_ref()).await?;
    let (scope, store) = (Scope { unit, mode }, connections::address(&store));
    let new = NewConnection { scope, system, store, secret, settings, token };
    if !call.was_done().await? {
        new.check()?;
        let level = KeyLevel::Unit(new.scope.unit.clone());
        confirm_new(call, &[level], "nothing was connected").await?;
    }
    let by = call.host.person().await?;
    let done = connections::add(call.store, call.ledger, &call.author(&by)?, &new).await?;
    let said = format!(
        "{} was connected. Enter the URL in the shop system: the page of the connection shows it in full.",
        done.outcome.system.label()
    );
    let change = Changed::new(said, facts(&done.outcome));
    Answer::changed(
        &done.map(|created| Connected { path: path(&created.connection), created }),
        change,
    )
}

/// Refuses to read standard input twice.
fn check_inputs(done: &str, inputs: &[Option<&String>]) -> Result<()> {
    let standard = inputs.iter().flatten().filter(|input| **input == "-").count();
    match standard {
        0 | 1 => Ok(()),
        _ => Err(invalid(format!("nothing was {done}: only one of the files can be `-`"))),
    }
}

async fn read_optional<P: Ports>(
    call: &Call<'_, P>,
    file: Option<&String>,
) -> Result<Option<String>> {
    match file {
        Some(file) => Ok(Some(read_text(call, file).await?)),
        None => Ok(None),
    }
}

fn facts(created: &Created) -> Facts {
    let page = link::path(&["connections", created.connection.as_str()]);
    vec![
        (
            "URL",
            Fact::Words(format!("the address of the service, then {}", path(&created.connection))),
        ),
        ("Shop", Fact::Text(created.store.clone())),
        ("Mode", Fact::Words(created.scope.mode.name().to_owned())),
        ("Connection", Fact::id(created.connection.as_str()).at(page)),
        ("API key", Fact::Id(created.key.clone())),
    ]
}

pub const SET: Spec = Spec::changes(
    "connections",
    "set",
    "change the rules, the secret or the token of a connection",
    &[
        CONNECTION,
        SECRET.about("a file with a new secret; `-` is standard input. The secret before it is still accepted, until `--drop-old`"),
        Argument::option("drop-old", Kind::Flag, "accept only the newest secret from now on")
            .field("Accept only the newest secret", ""),
        TOKEN.about("a file with a new API token; `-` is standard input"),
        Argument::option("drop-token", Kind::Flag, "delete the API token, so that missed orders are no longer fetched")
            .field("Delete the API token: missed orders are no longer fetched", ""),
        SETTINGS,
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
    token: Option<String>,
    #[serde(default)]
    drop_token: bool,
}

pub async fn set<P: Ports>(call: &Call<'_, P>, asked: Set) -> Result<Answer> {
    let Set { connection, settings, secret, drop_old, token, drop_token } = asked;
    check_inputs("changed", &[settings.as_ref(), secret.as_ref(), token.as_ref()])?;
    let settings = match &settings {
        Some(file) => Some(read_settings(call, file).await?),
        None => None,
    };
    let secret = read_optional(call, secret.as_ref()).await?;
    let token = read_optional(call, token.as_ref()).await?;
    if settings.is_none() && secret.is_none() && token.is_none() && !drop_old && !drop_token {
        return Err(invalid("nothing was changed: say what to change"));
    }
    let (drops_old, drops_token) = (drop_old, drop_token);
    let change = ConnectionChange { settings, secret, drops_old, token, drops_token };
    let by = call.host.person().await?;
    let (author, what) = (call.author(&by)?, (&*connection, &change));
    let done = connections::set(call.store, call.ledger, &author, what).await?;
    let ChangedConnection { secrets, .. } = done.outcome;
    let said = match secrets {
        1 => "The connection was changed. One secret is accepted.".to_owned(),
        _ => format!(
            "The connection was changed. {secrets} secrets are accepted: accept only the newest secret once the shop system uses it."
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

pub const FETCH: Spec = Spec::changes(
    "connections",
    "fetch",
    "fetch the orders that were changed since a time, and pledge those that were not pledged yet",
    &[
        CONNECTION,
        Argument::option(
            "since",
            Kind::Time,
            "the time of the first change; at most two months ago, or one for Stripe",
        )
        .required()
        .field("Changed since", "At most two months ago, or one for Stripe. Each paid order that was changed since then is pledged unless it was before, also one from before the shop was connected."),
    ],
)
.button("Fetch")
.answers("`connection`; `unit`");

#[derive(Deserialize)]
pub struct Fetch {
    connection: String,
    since: String,
}

pub async fn fetch<P: Ports>(
    call: &Call<'_, P>,
    Fetch { connection, since }: Fetch,
) -> Result<Answer> {
    let by = call.host.person().await?;
    let since = parse_ms(&since).unwrap_or_default(); // the argument's kind is checked
    let (author, which) = (call.author(&by)?, (&*connection, since));
    let done = connections::fetch_since(call.ledger, &author, which).await?;
    let said = format!("Orders begin to be fetched within {CRON_MINUTES} minutes.");
    Answer::changed(&done, Changed::new(said, Facts::new()))
}
