//! A connection: its URL, its rules, what the shop system sent last, and what an order would pledge.

use super::address::{address, back};
use super::examples;
use super::missed::missed;
use super::steps::steps;
use crate::office::connections::operation;
use crate::office::connections::operation::{END, RETRY, SET, path};
use crate::office::connections::rows::received::ReceivedRow;
use crate::office::connections::rule as connections;
use crate::office::connections::rule::{Connection, Preview};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view;
use crate::office::shared::page::view::{Field, hidden};
use crate::pledges::orders::OrderSettings;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Shows a connection. Ledger cost: 5 queries. KV cost: 1 read.
pub(crate) async fn connection<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
) -> Result {
    // The form of this request may have changed the connection.
    let now = connections::get(context.ledger, found.id.as_str()).await?;
    page(context, &now, &Form::default(), Markup::default()).await
}

/// Shows what an order would pledge with the rules of the form. Changes nothing.
pub(crate) async fn try_order<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
    form: &Form,
) -> Result {
    let record = &found.record;
    let outcome = match OrderSettings::parse(form.raw("rules")) {
        Ok(settings) => {
            let order = form.raw("order").as_bytes();
            let mode = record.scope.mode;
            would_pledge(&connections::preview(record.endpoint.system, order, &settings, mode))
        }
        Err(issues) => html! {
            @for issue in &issues { (view::problem(&operation::in_words(issue))) }
        },
    };
    page(context, found, form, outcome).await
}

fn would_pledge(Preview { pledge, reason }: &Preview) -> Markup {
    html! {
        @if let Some(reason) = reason { p role="status" { "Nothing would be pledged: " (reason) } }
        @if let Some(pledge) = pledge {
            p role="status" { "This would be pledged:" }
            pre tabindex="0" role="group" aria-label="The pledge" { code { (pledge.get()) } }
        }
    }
}

async fn page<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
    form: &Form,
    outcome: Markup,
) -> Result {
    let Connection { id, record, .. } = found;
    let latest = context.clock.now_ms().saturating_add(1);
    let deliveries = connections::deliveries(context.ledger, id.as_str(), latest).await?;
    let unit = Some(&*record.scope.unit);
    let troubles = connections::troubles(context.ledger, unit, context.clock).await?;
    let trouble = troubles.iter().find(|it| it.connection == id.as_str());
    let fetched = connections::fetched(context.ledger, found).await?;
    let times = context.times_of(Some(&record.scope.unit)).await;
    let names = context.names_of([&*record.scope.unit]).await;
    let content = html! {
        @if let Some(trouble) = trouble { (view::problem(&view::sentence(&trouble.in_words()))) }
        (settings(context, found, names.link(&record.scope.unit)))
        (received(context, found, &deliveries, &times))
        section {
            h2 { "Missed orders" }
            (missed(context, found, fetched.as_ref(), &times))
        }
        section {
            h2 { "Try an order" }
            (outcome)
            (order_form(found, form))
        }
        section {
            h2 { "Change the connection" }
            (set_form(context, found))
        }
        section { h2 { "End the connection" } (end_form(context, found)) }
        (back(&record.scope.unit))
    };
    Ok(Page::new(format!("{} of {}", record.endpoint.system.label(), record.store), content))
}

fn settings<S, C, E>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
    unit: Markup,
) -> Markup {
    let Connection { id, record, .. } = found;
    let origin = match &*context.settings.service_origin {
        "" => "https://YOUR-SERVICE",
        origin => origin,
    };
    let url = [origin, &path(id)].concat();
    let mode = view::capital(record.scope.mode.name());
    html! {
        section {
            h2 { "Webhook" }
            (view::facts(&[
                ("URL", view::copyable(&url)),
                ("Shop", view::untrusted_text(&record.store)),
                ("Unit", unit),
                ("Mode", html! { (mode) }),
                ("API key", html! { code { (record.endpoint.key.id()) } " " small { "Revoking it ends the connection." } }),
                ("Secrets", html! { (record.endpoint.secrets.len()) }),
            ]))
            (steps(record.endpoint.system, &url, &record.store))
        }
    }
}

fn received<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
    deliveries: &[ReceivedRow],
    times: &ListTimes<'_, C>,
) -> Markup {
    let change = |row: &ReceivedRow| {
        html! { @if row.finding.outcome.can_retry() { (retry_form(context, found, row)) } }
    };
    let listing = operation::received(deliveries).without(&["Delivery"]);
    html! {
        section {
            h2 { "Received" }
            (times.table_with(&listing, "Change", deliveries.iter().map(change).collect()))
            (view::more(deliveries.len()))
        }
    }
}

fn retry_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
    row: &ReceivedRow,
) -> Markup {
    context.form(
        &[&address(&found.id), "/retry"].concat(),
        &html! {
            (hidden("delivery", &row.delivery))
            button.quiet { (RETRY.button) }
        },
    )
}

fn order_form(found: &Connection, form: &Form) -> Markup {
    let rules = found.record.settings.to_json();
    let or = |sent: &'static str, first: &str| match form.raw(sent) {
        "" => first.to_owned(),
        text => text.to_owned(),
    };
    let order = or("order", examples::order(found.record.endpoint.system));
    let rules = or("rules", &rules);
    let field =
        |name, label, value| Field { name, label, value, required: true, ..Field::default() };
    view::form(
        &[&address(&found.id), "/preview"].concat(),
        &html! {
            p { "Shows what an order would pledge. Nothing is pledged or saved." }
            (field("order", "Order, as the shop system sends it", &order).render_code(12, ""))
            (field("rules", "Rules to try", &rules).render_code(12, ""))
            button { "Show" }
        },
    )
}

fn set_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
) -> Markup {
    let (action, rules) = (address(&found.id), found.record.settings.to_json());
    let form = OperationForm {
        fixed: &[("connection", found.id.as_str())],
        values: &[("settings", &rules)],
        texts: &[
            (
                "secret",
                (
                    "New secret",
                    "Leave empty to keep the secret. The old secret is accepted, too, until you accept only the newest.",
                ),
            ),
            ("token", ("New API token", "Leave empty to keep the token, or to go on without one.")),
        ],
        ..OperationForm::new(&SET, &action)
    };
    context.operation_form(form)
}

fn end_form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    found: &Connection,
) -> Markup {
    let action = [&address(&found.id), "/end"].concat();
    let fixed = [("connection", found.id.as_str())];
    context.operation_form(OperationForm { fixed: &fixed, ..OperationForm::new(&END, &action) })
}
