//! Says what is wrong with a connection.

use super::address::address;
use crate::office::connections::rows::troubles::Trouble;
use crate::office::connections::rule as connections;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::view;
use crate::office::shared::rule::error::OperatorError;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::{date_time, day_of};
use maud::{Markup, html};

impl Trouble {
    /// Returns sentences without their last full stop.
    pub(super) fn in_words(&self) -> String {
        let waiting = (self.waiting > 0).then(|| {
            let waiting = view::counted(self.waiting, "order");
            format!("{waiting} could not be read yet, because the service or the shop system did not answer. This is tried again by itself")
        });
        let problem = self.problem.as_ref();
        let problem = problem.map(|it| format!("Missed orders could not be fetched: {it}"));
        let silent = self.silent.map(|last| {
            format!(
                "Nothing has been received since {}, although orders came regularly before: check the webhook",
                day_of(&date_time(last))
            )
        });
        [waiting, problem, silent].into_iter().flatten().collect::<Vec<_>>().join(". ")
    }
}

/// Lists those of the connections that somebody has to look at which are `shown`; `None` if there are none. Ledger cost: 1 query, and
/// 1 for the names of their units.
pub(crate) async fn troubles<S: OperatorStore, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    unit: Option<&str>,
    shown: impl Fn(&Trouble) -> bool,
) -> Result<Option<Markup>, OperatorError> {
    let mut found = connections::troubles(context.ledger, unit, context.clock).await?;
    found.retain(shown);
    let of_others = found.iter().map(|it| &*it.unit).filter(|_| unit.is_none());
    let names = context.names_of(of_others).await;
    Ok((!found.is_empty()).then(|| {
        html! {
            "Shop systems with problems:"
            ul {
                @for it in &found {
                    li {
                        a href=(address(&it.connection)) { (it.system.label()) " " (it.store) }
                        @if unit.is_none() { " of " (names.link(&it.unit)) }
                        ". " (view::sentence(&it.in_words()))
                    }
                }
            }
        }
    }))
}
