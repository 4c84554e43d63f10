//! Chooses which start page and which search a person gets: those for operators, or those for people of shops.

use super::home as tasks;
use crate::office::orders::page::{find as everywhere, own};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::guard::Units;
use crate::office::shared::page::refusal::Result;
use crate::office::shops::page::shop;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;

/// Shows the start page. It costs as much as [`tasks::home`] for operators, and as [`shop::home`] for people
/// of shops.
pub(crate) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
) -> Result {
    match units {
        Units::All => tasks::home(context).await,
        Units::Own(units) => shop::home(context, units).await,
    }
}

/// Redirects a search for transactions, a unit or a key to its results. It costs as much as
/// [`everywhere::search`] for operators, and as [`own::search`] for people of shops.
pub(crate) async fn search<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
    form: &Form,
) -> Result {
    match units {
        Units::All => everywhere::search(context, form).await,
        Units::Own(units) => own::search(context, units, form).await,
    }
}

/// Shows the results of a search. It costs as much as [`everywhere::find`] for operators, and as
/// [`own::find`] for people of shops.
pub(crate) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    units: &Units,
    query: &Form,
) -> Result {
    match units {
        Units::All => everywhere::find(context, query).await,
        Units::Own(units) => own::find(context, units, query).await,
    }
}
