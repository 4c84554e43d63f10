//! What published updates tell buyers, by month and offering.

use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::shared::rows::port::{Ledger, Query, Result, ask};
use crate::pledges::decimal::Decimal;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::{Deserialize, Serialize};

/// Returns the number of published updates for each offering of the months, and the exact sum of the quantities of those that
/// say that something is done. Newest month first; at most `most` offerings. One query.
pub async fn told(
    ledger: &dyn Ledger,
    mode: Option<Mode>,
    months: &[Month],
    most: usize,
) -> Result<Vec<OfferingSum>> {
    let sum = |Told { month, mode, offering, updates, quantities }: Told| {
        let quantities = quantities.into_iter().filter_map(Decimal::shortest);
        let quantity = Decimal::sum(quantities).to_exact();
        OfferingSum { month, mode, offering, transactions: updates, quantity }
    };
    let rows = ask(ledger, &ToldOf { mode, months, most }).await?;
    Ok(rows.into_iter().map(sum).collect())
}

#[derive(Serialize)]
struct ToldOf<'a> {
    mode: Option<Mode>,
    months: &'a [Month],
    most: usize,
}

#[derive(Deserialize)]
struct Told {
    month: Month,
    mode: Mode,
    offering: String,
    updates: u64,
    quantities: Vec<f64>,
}

impl Query for ToldOf<'_> {
    type Row = Told;
    const SQL: &'static str =
        "SELECT json_object('month', month, 'mode', mode, 'offering', offering, 'updates', count(*),
  'quantities', json(json_group_array(json(content -> '$.quantity'))
    FILTER (WHERE content ->> '$.stage' = 'done' AND content ->> '$.quantity' IS NOT NULL)))
FROM updates WHERE month IN (SELECT value FROM json_each(?1, '$.months')) AND state = 'published'
  AND (?1 ->> '$.mode' IS NULL OR mode = ?1 ->> '$.mode')
GROUP BY month, mode, offering ORDER BY month DESC, mode, offering LIMIT ?1 ->> '$.most'";
}
