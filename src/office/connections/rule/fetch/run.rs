//! Fetches the orders of the connections whose time has come.

use super::bigcommerce;
use super::shop::{Shop, ShopApi, ShopProblem};
use super::step::{Item, Listed, Page, Step};
use crate::office::connections::rows::fetches as rows;
use crate::office::connections::rows::fetches::FetchRow;
use crate::office::connections::rows::received::{Fate, Finding};
use crate::office::connections::rule::api::PledgeApi;
use crate::office::connections::rule::intake::Intake;
use crate::office::connections::rule::record;
use crate::office::connections::rule::record::Connection;
use crate::office::shared::rule::error::Result;
use crate::office::system::rule::secret;
use crate::pledges::hash::first_bytes;
use crate::pledges::secret::NamespaceSecret;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// How often the orders of a connection are fetched, in milliseconds.
const EVERY_MS: u64 = 3_600_000;
/// How far a fetch goes back before the last change that it knows, in milliseconds. A shop system may show a change late.
const OVERLAP_MS: u64 = 10 * 60_000;
/// Maximum number of connections of a call, and how many of them are asked at the same time.
const CONNECTIONS: usize = 40;
const AT_ONCE: usize = 4;
/// Maximum number of pages that a call reads for a connection, and of orders that it reads there.
const PAGES: usize = 30;
const ORDERS: usize = 50;
/// How long a call may ask one shop system, in milliseconds, besides the request that has begun. A slow one must not keep others
/// waiting.
const PATIENCE_MS: u64 = 60_000;
/// Number of orders on a page.
const PAGE: usize = 20;
/// Maximum number of orders of the overlap that are remembered. Others are read again.
const SEEN: usize = 1_000;

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FetchedOrders {
    /// Number of connections that were asked.
    pub asked: usize,
    /// Number of orders that were read.
    pub fetched: usize,
    /// Number of connections that gave no orders.
    pub failed: usize,
}

/// What was fetched of a connection.
struct Progress {
    row: FetchRow,
    fetched: usize,
    /// Whether the end of the list was reached.
    is_whole: bool,
}

impl<S: OperatorStore, C: Clock, E: Entropy, A: PledgeApi + ShopApi> Intake<'_, S, C, E, A> {
    /// Fetches the orders of connections with a token whose time has come: each hourly, and sooner if there are more. Ledger
    /// cost: 1 query, and 2 for each connection. KV cost: 1 read. Both besides what the orders cost.
    ///
    /// # Errors
    /// If the ledger or the store fails. The next call begins again. A shop system that gives no orders is no error: the page
    /// of its connection says why.
    pub async fn fetch(&self) -> Result<FetchedOrders> {
        let due = rows::due(self.ledger, self.clock.now_ms(), CONNECTIONS).await?;
        if due.is_empty() {
            return Ok(FetchedOrders::default());
        }
        let secret = secret::find(self.store).await?;
        let fetch = async |row: FetchRow| self.fetch_of(row, secret.as_ref()).await;
        let done: Vec<_> = stream::iter(due).map(fetch).buffer_unordered(AT_ONCE).collect().await;
        let mut sum = FetchedOrders { asked: done.len(), ..FetchedOrders::default() };
        for one in done {
            let one = one?;
            sum.fetched += one.fetched;
            sum.failed += one.failed;
        }
        Ok(sum)
    }

    async fn fetch_of(
        &self,
        row: FetchRow,
        secret: Option<&NamespaceSecret>,
    ) -> Result<FetchedOrders> {
        let Some(connection) = record::find(self.ledger, &row.connection).await? else {
            return Ok(FetchedOrders::default()); // it was ended meanwhile
        };
        let began_ms = self.clock.now_ms();
        let mut progress = Progress { row, fetched: 0, is_whole: false };
        let problem = match connection.token(secret) {
            Some(token) => match connection.shop(&token).access_token(self.api).await {
                Ok(token) => {
                    let shop = connection.shop(&token);
                    self.fetch_pages(&connection, &shop, &mut progress).await?
                }
                Err(problem) => Some(problem),
            },
            None => Some(ShopProblem::NoToken),
        };
        let Progress { mut row, fetched, is_whole } = progress;
        row.problem = problem.map(|problem| problem.to_string());
        if is_whole {
            row.done = Some(began_ms);
        }
        let is_over = is_whole || problem.is_some();
        row.due = if is_over { began_ms.saturating_add(EVERY_MS) } else { began_ms };
        rows::keep(self.ledger, &row).await?;
        Ok(FetchedOrders { asked: 1, fetched, failed: usize::from(problem.is_some()) })
    }

    /// Reads pages until the end of the list, or until enough orders were read. Returns why the shop system gives no more.
    async fn fetch_pages(
        &self,
        connection: &Connection,
        shop: &Shop<'_>,
        progress: &mut Progress,
    ) -> Result<Option<ShopProblem>> {
        let since_ms = progress.row.since.saturating_sub(OVERLAP_MS);
        let mut step = Step { since_ms, until_ms: None, page: Page::FIRST, most: PAGE };
        let until_ms = self.clock.now_ms().saturating_add(PATIENCE_MS);
        for _ in 0..PAGES {
            let listed = match shop.list(self.api, &step, self.clock.now_ms()).await {
                Ok(listed) => listed,
                Err(ShopProblem::TooLarge) if step.most > 1 => {
                    step = Step { most: 1, page: Page::FIRST, ..step };
                    continue;
                }
                Err(problem) => return Ok(Some(problem)),
            };
            let Listed { items, next } = listed;
            for item in &items {
                if progress.fetched >= ORDERS || self.clock.now_ms() > until_ms {
                    return Ok(None);
                }
                if let Some(problem) = self.fetch_item(connection, shop, item, progress).await? {
                    return Ok(Some(problem));
                }
            }
            let Some(next) = next else {
                progress.is_whole = true;
                return Ok(None);
            };
            progress.row.since = progress.row.since.max(next.since_ms);
            step = next;
        }
        Ok(None)
    }

    /// Reads an order, unless it is known in this state.
    async fn fetch_item(
        &self,
        connection: &Connection,
        shop: &Shop<'_>,
        item: &Item,
        progress: &mut Progress,
    ) -> Result<Option<ShopProblem>> {
        let hash = base16ct::lower::encode_string(&first_bytes::<8>(Sha256::digest(&item.body)));
        let is_new = progress.row.seen.iter().all(|(_, seen)| *seen != hash);
        if is_new {
            match shop.whole_item(self.api, &item.body).await {
                Ok(body) => {
                    self.read_fetched(connection, body.as_deref().unwrap_or(&item.body)).await?;
                }
                Err(problem) if problem.is_of_one_order() => {
                    let finding = Finding::new(Fate::Unreadable).because(problem.to_string());
                    let body = bigcommerce::event_about(&item.body);
                    self.keep_fetched(connection, &body, finding).await?;
                }
                Err(problem) => return Ok(Some(problem)),
            }
            progress.fetched += 1;
            progress.row.seen.push((item.changed_ms, hash));
        }
        progress.row.see(item.changed_ms.min(self.clock.now_ms())); // a shop's clock may be ahead
        Ok(None)
    }

    /// Reads an order that was fetched. If something does not answer, or if the order may be pledged later, it is kept like one
    /// that was sent.
    async fn read_fetched(&self, connection: &Connection, body: &[u8]) -> Result<()> {
        let finding = self.read_body(connection, body).await;
        let finding = finding.unwrap_or_else(|error| Finding::waiting(&error));
        if finding.outcome == Fate::Known && finding.detail.is_none() {
            return Ok(()); // it was sent before
        }
        self.keep_fetched(connection, body, finding).await
    }
}

impl FetchRow {
    /// Moves on to the time of a change, and forgets the orders that the next fetch does not list again.
    fn see(&mut self, changed_ms: u64) {
        self.since = self.since.max(changed_ms);
        let listed_ms = self.since.saturating_sub(OVERLAP_MS);
        self.seen.retain(|(changed_ms, _)| *changed_ms >= listed_ms);
        let surplus = self.seen.len().saturating_sub(SEEN);
        self.seen.drain(..surplus);
    }
}
