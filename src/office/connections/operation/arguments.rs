//! Arguments of operations on connections, and what reads them.

use crate::office::shared::operation::call::{Call, Host as _, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Kind, text};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::api::ORDERS_PATH;
use crate::pledges::orders::{OrderSettings, SettingsIssue};

pub(super) const CONNECTION: Argument = Argument::positional(
    "connection",
    text("connection"),
    "the ID of the connection, which its URL ends with",
);
pub(super) const SECRET: Argument = Argument::option(
    "secret",
    Kind::Input,
    "a file with the secret with which the shop system signs; `-` is standard input",
)
.secret(
    "Secret",
    "The secret with which the shop system signs what it sends. It is not shown again.",
);
pub(super) const TOKEN: Argument = Argument::option(
    "token",
    Kind::Input,
    "a file with an API token of the shop system, with which missed orders are fetched hourly; `-` is standard input",
)
.secret(
    "API token (BigCommerce needs it)",
    "With it, orders that the webhook did not bring are fetched hourly. WooCommerce: ck_…:cs_…, Shopify: client ID:client secret or shpat_…, Stripe: rk_…, BigCommerce: the access token. It is not shown again.",
);
pub(super) const SETTINGS: Argument = Argument::option(
    "settings",
    Kind::Input,
    "a file with the rules that say what an order pledges, as JSON; `-` is standard input",
)
.field("Rules", "What an order pledges, as JSON.");

/// Returns the path of the URL to which the shop system sends its orders.
pub(in super::super) fn path(id: &impl std::fmt::Display) -> String {
    format!("{ORDERS_PATH}/{id}")
}

pub(super) async fn read_text<P: Ports>(call: &Call<'_, P>, file: &str) -> Result<String> {
    Ok(String::from_utf8_lossy(&call.host.read(file).await?).trim().to_owned())
}

pub(super) async fn read_settings<P: Ports>(
    call: &Call<'_, P>,
    file: &str,
) -> Result<OrderSettings> {
    let json = read_text(call, file).await?;
    let refused = |problem: String| {
        let text = format!("nothing was changed: {problem}");
        OperatorError::at("settings", RefusalCode::Invalid, text).into()
    };
    OrderSettings::parse(&json)
        .map_err(|issues| refused(issues.iter().map(in_words).collect::<Vec<_>>().join("; ")))
}

/// Writes an issue of settings, such as `rules/0/cap: must be …`.
pub(in super::super) fn in_words(SettingsIssue { path, message }: &SettingsIssue) -> String {
    match path.trim_start_matches('/') {
        "" => format!("the rules {message}"),
        path => format!("`{path}` {message}"),
    }
}
