//! The part of a transaction's page about credits: the open request with its decision, or the form that credits or requests a
//! credit. Also the limit of a unit.

use super::operation;
use super::operation::{CONFIRM, LIMIT, REFUSE, REQUEST};
use super::rows::requests::RequestRow;
use super::rule as requests;
use super::rule::{CreditLimit, Request};
use crate::office::credits::page as credit;
use crate::office::credits::rule as credits;
use crate::office::orders::rule::Record;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::facts;
use crate::office::shared::page::fields::OperationForm;
use crate::office::shared::page::link;
use crate::office::shared::page::list_times::ListTimes;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use maud::{Markup, html};

/// Renders what a person may do about the credits of a transaction; `None` for people who may not. `manages` is whether the
/// person manages the shop. `open` is the open request. Cost: that of [`credits::of`], and 1 ledger query.
pub(crate) async fn section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
    open: Option<&RequestRow>,
    (manages, times): (bool, &ListTimes<'_, C>),
) -> Result<Option<Markup>> {
    let is_account = context.may(Permission::Account);
    let id = record.id();
    Ok(match open {
        Some(open) if is_account => Some(html! {
            section #credits { h2 { "Credits" } (credit::section(context, record, id, times, false).await?) }
            section { h2 { "Requested credit" } (request(context, open, times)?) (decision(context, id)) }
        }),
        None if is_account => Some(html! {
            section #credits { h2 { "Credits" } (credit::section(context, record, id, times, true).await?) }
        }),
        Some(open) if manages => Some(html! {
            section #credits { h2 { "Requested credit" } (request(context, open, times)?) (withdrawal(context, id)) }
        }),
        None if manages => Some(html! {
            section #credits { h2 { "Request a credit" } (request_form(context, record).await?) }
        }),
        _ => None,
    })
}

fn request<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    open: &RequestRow,
    times: &ListTimes<'_, C>,
) -> Result<Markup> {
    let request = Request::try_from(open.clone())?;
    let by = context.author.name_of(&request.by, open.by_shop == 1);
    Ok(facts::list_at(&operation::facts(&request, by), &|text| times.text(text)))
}

fn path(id: &str, last: &str) -> String {
    link::path(&["transactions", id, "credit", last])
}

fn decision<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, id: &str) -> Markup {
    let leave_out = if context.is_asked_for(&CONFIRM, "charged") { &[][..] } else { &["charged"] };
    html! {
        (context.operation_form(OperationForm { leave_out, ..OperationForm::new(&CONFIRM, &path(id, "confirm")) }))
        (context.operation_form(OperationForm::new(&REFUSE, &path(id, "refuse"))))
    }
}

fn withdrawal<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>, id: &str) -> Markup {
    let hint = "One line of at most 200 bytes. Do not name the recipient.";
    html! {
        p { "The operator of this service confirms or refuses it. Until then, you can withdraw it." }
        (context.operation_form(OperationForm {
            button: "Withdraw request",
            texts: &[("reason", ("Reason", hint))],
            ..OperationForm::new(&REFUSE, &path(id, "refuse"))
        }))
    }
}

async fn request_form<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    record: &Record,
) -> Result<Markup> {
    let found = credits::of(context.store, context.ledger, record).await;
    let left = match found {
        Err(OperatorError::Ledger(error)) => return Ok(view::problem(&error.to_string())),
        found => found?.left,
    };
    if left.is_nothing() {
        return Ok(html! { p.soft { "Nothing is left to be credited." } });
    }
    let limit = requests::limit(context.ledger, &record.unit()?).await?;
    Ok(html! {
        p { (who_decides(limit.as_ref())) }
        (credit::form(context, (&REQUEST, &path(record.id(), "request")), &left))
    })
}

fn who_decides(limit: Option<&CreditLimit>) -> Markup {
    html! {
        @match limit {
            Some(CreditLimit { currency_code: code, per_order, per_month }) => {
                "A credit is made at once if your requests stay within " (view::money(per_order, code))
                " for this transaction and " (view::money(per_month, code))
                " for this month. Otherwise the operator of this service confirms or refuses it."
            }
            None => "For an order that you refunded. The operator of this service confirms or refuses your request.",
        }
    }
}

/// Renders the form for the limit of a unit. Ledger cost: 1 query.
pub(crate) async fn limit_section<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: &str,
) -> Result<Markup> {
    let limit = match requests::limit(context.ledger, unit).await {
        Err(OperatorError::Ledger(error)) => return Ok(view::problem(&error.to_string())),
        limit => limit?,
    };
    let values =
        limit.as_ref().map(|it| [("per-order", &*it.per_order), ("per-month", &*it.per_month)]);
    let values = values.unwrap_or_default();
    Ok(html! {
        section {
            h2 { "Credits at once" }
            p {
                "Managers of the shop can request credits of refunded orders. Up to these sums, "
                @if let Some(limit) = &limit { "in " (limit.currency_code) ", " }
                "a credit is made at once; accounts and operators confirm the others."
            }
            (context.operation_form(OperationForm {
                values: &values,
                ..OperationForm::new(&LIMIT, &link::path(&["units", unit, "credit-limit"]))
            }))
        }
    })
}
