use super::listing::listed;
use super::parts::{MODE, MONTH, MOST, Transactions, UNIT};
use crate::office::orders::rows::order::TransactionState;
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{ListQuery, TransactionFilter};
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::covered::complete;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use serde::Deserialize;
use strum::VariantNames as _;

pub const LIST: Spec = Spec::reads(
    "transactions",
    "list",
    "list the newest transactions",
    &[
        UNIT,
        Argument::option("key", text("id"), "only transactions that the API key with this ID created"),
        MODE,
        MONTH,
        Argument::option(
            "state",
            Kind::Choice { choices: TransactionState::VARIANTS },
            "only transactions in this state. `paid`: their month is marked as paid; `unpaid`: it is not; `credited`: they \
             have credits; `cancelled`: their timeline says so; `failed`: an e-mail or message failed recently, \
             and was neither sent nor dismissed since; `unpriced`: a pledge cost nothing because its offering had no price; `erased`: \
             their personal data was erased",
        ),
        Argument::option(
            "limit",
            Kind::Number { least: 1, most: MOST as u64 },
            "the largest number of rows to print, up to 1000",
        )
        .or("50"),
    ],
)
.permission(Permission::Look)
.answers("`transactions`: for each `id`, `mode`, `unit`, `createdAt`, `amount`, `currencyCode`, `unpriced` (number of unpriced pledges), `key` (the API key's ID), `erased` (when its personal data was erased, or `null`), and, only if they apply, `credited` (the sum of its credits), `paid` (`true` if its month is marked as paid) and `cancelled` (`true`); `completeUpTo`: the [ledger](ledger.md) has all transactions up to this time, or `null` if it was never complete; `completeFrom`: it has none from before this time, if it [does not keep all](ledger.md#remove-old-months); `damaged`: number of damaged records, which are left out");

#[derive(Deserialize)]
pub struct List {
    unit: Option<String>,
    key: Option<String>,
    mode: Option<Mode>,
    month: Option<Month>,
    state: Option<TransactionState>,
    limit: usize,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, asked: List) -> Result<Answer> {
    let List { unit, key, mode, month, state, limit } = asked;
    let filter = TransactionFilter { unit, mode };
    let mut query = ListQuery { filter, key, month, state, ..ListQuery::default() };
    transactions::add_ids(call.store, call.platform, &mut query).await?;
    let found = transactions::list(call.ledger, &query, &Direction::Newest, limit).await?;
    let mut orders = found.page.orders;
    if orders.is_empty() {
        unit_must_be_registered(call, query.filter.unit.as_deref()).await?;
    }
    transactions::mark_cancelled(call.store, &mut orders).await?;
    let text = paragraphs([listed(&orders), complete(&found.coverage)]);
    let covered = Some(found.coverage).into();
    Answer::new(&Transactions { transactions: orders, more: None, covered }, text)
}
