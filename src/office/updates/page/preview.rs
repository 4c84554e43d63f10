//! Previews of an update as a buyer sees it on a timeline.

use super::form::PAGE;
use crate::buyer::recipient;
use crate::buyer::recipient::{Language, OfferingProgress};
use crate::office::shared::page::change::values;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::month::MonthSelection;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::{Content, Page};
use crate::office::shared::rule::error::OperatorError;
use crate::office::updates::operation::{ADD, Add, EDIT, Edit};
use crate::office::updates::rows::updates::{Pledges, UpdateRow};
use crate::office::updates::rule as updates;
use crate::office::updates::rule::NewUpdate;
use crate::pledges::picture::PICTURES_PATH;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::types::RetrievedPledgeTransaction;
use serde_json::json;

/// Shows an example timeline with a stored update, in the language of the query. Ledger cost: 2 queries.
pub(crate) async fn preview_update<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    let row = updates::get(context.ledger, id).await?;
    let wanted = NewUpdate::from(&row.update);
    let tag = query.given("language").unwrap_or("en");
    preview(context, &row.pledges, Some(&row), &wanted, tag).await
}

/// Shows an example timeline with the update of a form that adds one. Ledger cost: 1 query.
pub(crate) async fn preview_new<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    form: &Form,
) -> Result {
    let MonthSelection { mode, month } = MonthSelection::read(context, form, PAGE)?;
    let pledges = Pledges { mode, month, offering: form.text("offering").to_owned() };
    let add: Add = values(&ADD, form, &[])?;
    let wanted = add.members.over(NewUpdate::default())?;
    preview(context, &pledges, None, &wanted, "en").await
}

/// Shows an example timeline with the update of a form that edits one. Ledger cost: 2 queries.
pub(crate) async fn preview_edit<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    form: &Form,
) -> Result {
    let row = updates::get(context.ledger, id).await?;
    let edit: Edit = values(&EDIT, form, &[("update", id)])?;
    let wanted = edit.members.over(NewUpdate::from(&row.update))?;
    preview(context, &row.pledges, Some(&row), &wanted, "en").await
}

/// Shows an example timeline with an update as it would be saved, and with the published updates of the
/// same offering. `row` is the stored update; `None` if the update is new. Ledger cost: 1 query.
async fn preview<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    pledges: &Pledges,
    row: Option<&UpdateRow>,
    wanted: &NewUpdate,
    tag: &str,
) -> Result {
    let language = Language::from_tag(tag)
        .ok_or_else(|| Refusal::invalid("timelines are not available in this language"))?;
    let ledger = context.ledger;
    let shown = updates::preview(ledger, &context.author, pledges, row, wanted).await?;
    let example = example(pledges)?;
    let example: RetrievedPledgeTransaction<'_> =
        serde_json::from_str(&example).map_err(OperatorError::from)?;
    let progress =
        [OfferingProgress { offering_id: &pledges.offering, updates: Some(&shown.updates) }];
    let page = recipient::page(&example, None, &progress, language, context.clock, None);
    // The service has the uploaded pictures, not the dashboard.
    let (own, there) = (uploaded(""), uploaded(&context.settings.service_origin));
    Ok(Page {
        status: 200,
        content: Content::Document(page.html.replace(&own, &there), page.policy),
    })
}

/// Returns how the HTML of an uploaded picture at this origin begins.
fn uploaded(origin: &str) -> String {
    ["<img src=\"", origin, PICTURES_PATH, "/"].concat()
}

/// Returns a transaction with a pledge of the offering and month, as JSON.
fn example(Pledges { month, offering, mode }: &Pledges) -> Result<String> {
    let example = json!({
        "createdAt": format!("{month}-14T09:30:00.000Z"),
        "reference": "1042",
        "isLive": mode.is_live(),
        "charge": { "amount": "7.50", "currencyCode": "USD", "paidAt": null },
        "trigger": {
            "date": format!("{month}-14T09:29:00Z"),
            "phrase": "placed an order",
            "externalUrl": null,
        },
        "pledges": [{
            "id": "p_example_1",
            "impact": { "amount": 12, "offeringId": offering },
            "details": [],
            "recipient": { "email": "ada@example.org", "firstName": "Ada", "name": "Ada Lovelace" },
        }],
        "notifications": [],
        "timelineUrl": "https://example.org/",
    });
    Ok(serde_json::to_string(&example).map_err(OperatorError::from)?)
}
