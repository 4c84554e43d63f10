//! Previews of the page and the e-mail that a unit's buyers get.

use crate::buyer::recipient;
use crate::buyer::recipient::{Language, OfferingProgress, Profile};
use crate::buyer::updates::OfferingUpdates;
use crate::office::orders::page::transaction::MAIL_POLICY;
use crate::office::shared::page::change::values;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::refusal::{Refusal, Result};
use crate::office::shared::page::response::{Content, Page};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shops::operation::units::{SET, Set};
use crate::office::shops::rule::units;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::types::RetrievedPledgeTransaction;
use std::borrow::Cow;

/// The transaction that previews show.
const EXAMPLE: &[u8] = include_bytes!("example.json");
/// The updates that previews show for the first offering of the example transaction.
const UPDATES: &[u8] = include_bytes!("example_updates.json");

/// Previews the page or the e-mail with the unit's stored profile. KV cost: 1 read.
pub(crate) async fn preview_profile<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    query: &Form,
) -> Result {
    crate::pledges::auth::check_id(id).map_err(Refusal::invalid)?;
    let row = units::get(context.store, id).await?;
    preview(context, row.and_then(|row| row.profile).as_ref(), query.text("of"))
}

/// Previews the page or the e-mail with the profile of a form. Saves nothing. Ledger cost: 1 query. KV cost: at most 1 read.
pub(crate) async fn try_profile<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    id: &str,
    (form, query): (&Form, &Form),
) -> Result {
    let asked: Set = values(&SET, form, &[("unit", id)])?;
    let members = asked.members().map_err(|failure| Refusal::invalid(failure.reason()))?;
    let (store, ledger) = (context.store, context.ledger);
    let profile = units::tried(store, ledger, context.clock, id, members).await?;
    preview(context, Some(&profile), query.text("of"))
}

/// Shows a preview of the page or of the e-mail that a unit's buyers get. `of` is `page` or `mail`.
fn preview<S, C: Clock, E>(
    context: &PageContext<'_, S, C, E>,
    profile: Option<&Profile>,
    of: &str,
) -> Result {
    let example: RetrievedPledgeTransaction<'_> =
        serde_json::from_slice(EXAMPLE).map_err(OperatorError::from)?;
    let document = match of {
        "page" => {
            let updates: OfferingUpdates =
                serde_json::from_slice(UPDATES).map_err(OperatorError::from)?;
            let tree = OfferingProgress { offering_id: "tree", updates: Some(&*updates.updates) };
            let other = OfferingProgress { offering_id: "plastic-kg", updates: Some(&[]) };
            let progress = [tree, other];
            let page =
                recipient::page(&example, profile, &progress, Language::En, context.clock, None);
            Some((page.html, page.policy))
        }
        "mail" => recipient::mail(&example, profile, context.clock)
            .map(|mail| (mail.html, Cow::Borrowed(MAIL_POLICY))),
        _ => None,
    };
    let (html, policy) =
        document.ok_or_else(|| Refusal::invalid("`of` must be `page` or `mail`"))?;
    Ok(Page { status: 200, content: Content::Document(html, policy) })
}
