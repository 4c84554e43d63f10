//! Writes the create request (§4.1) of an order.

use super::order::Order;
use super::reason::Unpledged;
use super::settings::{OrderSettings, Rule, RuleDetail};
use crate::pledges::decimal::Decimal;
use crate::pledges::types::{Amount, NotificationService, PledgeTransactionRequest};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreateBody<'o> {
    reference: String,
    recipient: Buyer<'o>,
    pledges: Vec<PledgeBody<'o>>,
    trigger: TriggerBody<'o>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notifications: &'o [NotificationService],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Buyer<'o> {
    email: &'o str,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_name: Option<&'o str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize)]
struct PledgeBody<'o> {
    impact: ImpactBody<'o>,
    detail: RuleDetail,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImpactBody<'o> {
    amount: Amount,
    offering_id: &'o str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TriggerBody<'o> {
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<&'o str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phrase: Option<&'o str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_url: Option<String>,
}

/// Returns the JSON of the request.
///
/// # Errors
/// The first issue of the request, such as an e-mail address that is none.
pub(super) fn body(
    order: &Order,
    settings: &OrderSettings,
    pledged: &[(&Rule, Decimal)],
) -> Result<String, Unpledged> {
    let language = settings.language.as_ref().or(order.language.as_ref());
    let trigger = &settings.trigger;
    let url = trigger.external_url.as_ref();
    let body = CreateBody {
        reference: fill(&settings.reference, order, str::to_owned),
        recipient: Buyer {
            email: order.email.as_deref().unwrap_or_default(),
            first_name: order.first_name.as_deref(),
            name: full_name(order),
        },
        pledges: pledged
            .iter()
            .filter_map(|(rule, amount)| pledge(rule, amount, language))
            .collect(),
        trigger: TriggerBody {
            date: order.created.as_deref(),
            phrase: trigger.phrase.as_deref(),
            external_url: url.map(|template| fill(template, order, encode)),
        },
        notifications: &settings.notifications,
    };
    let json = serde_json::to_string(&body).unwrap_or_default(); // texts and numbers never fail
    check(&json)?;
    Ok(json)
}

/// Returns the buyer's full name, which most systems tell in two parts.
fn full_name(order: &Order) -> Option<String> {
    let parts = || Some([order.first_name.as_ref()?, " ", order.last_name.as_ref()?].concat());
    order.name.clone().or_else(parts)
}

fn check(json: &str) -> Result<(), Unpledged> {
    let Err(report) = PledgeTransactionRequest::parse(json.as_bytes(), 1) else { return Ok(()) };
    let issue = report.into_issues().into_iter().next();
    let (path, message) = issue.map(|issue| (issue.path().to_string(), issue.to_string())).unzip();
    Err(Unpledged::Invalid { path: path.unwrap_or_default(), message: message.unwrap_or_default() })
}

fn pledge<'o>(
    rule: &'o Rule,
    amount: &Decimal,
    language: Option<&String>,
) -> Option<PledgeBody<'o>> {
    let amount = Amount::parse(&amount.to_exact())?;
    let impact = ImpactBody { amount, offering_id: &rule.offering_id };
    let translation = language.and_then(|language| translation(rule, language));
    let detail = translation.map_or_else(|| rule.detail.clone(), |words| words.or(&rule.detail));
    Some(PledgeBody { impact, detail })
}

/// Returns the translation for a language tag: that with the same tag, else that with the same primary language.
fn translation<'o>(rule: &'o Rule, language: &str) -> Option<&'o RuleDetail> {
    let wanted = [language, language.split(['-', '_']).next().unwrap_or_default()];
    wanted.into_iter().find_map(|wanted| {
        let is_same =
            |tag: &str| tag.replace('_', "-").eq_ignore_ascii_case(&wanted.replace('_', "-"));
        rule.translations.iter().find(|(tag, _)| is_same(tag)).map(|(_, detail)| detail)
    })
}

/// Replaces `{number}` and `{id}` in a template. Texts of the order are not searched for them.
fn fill(template: &str, order: &Order, write: impl Fn(&str) -> String) -> String {
    let parts = template.split("{number}").map(|part| part.replace("{id}", &write(&order.id)));
    parts.collect::<Vec<_>>().join(&write(&order.number))
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
