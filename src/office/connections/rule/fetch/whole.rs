//! Completes what a webhook or a list leaves out: the orders of BigCommerce, and the items of Stripe.

use super::bigcommerce;
use super::shop::{Shop, ShopApi, ShopProblem};
use super::{shopify, stripe};
use crate::office::connections::rows::received::{Fate, Finding};
use crate::office::connections::rule::api::PledgeApi;
use crate::office::connections::rule::intake::Intake;
use crate::office::connections::rule::record::Connection;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::system::rule::secret;
use crate::pledges::orders::{Event, Order, ReadError, System, read};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;

impl Shop<'_> {
    /// Returns the token to send.
    pub(super) async fn access_token(&self, api: &impl ShopApi) -> Result<String, ShopProblem> {
        match self.system {
            System::Shopify => shopify::access_token(api, self).await,
            _ => Ok(self.token.to_owned()),
        }
    }

    /// Returns a listed order as a whole; `None` if the list has all of it.
    pub(super) async fn whole_item(
        &self,
        api: &impl ShopApi,
        body: &[u8],
    ) -> Result<Option<Vec<u8>>, ShopProblem> {
        match self.system {
            System::BigCommerce => bigcommerce::with_products(api, self, body).await.map(Some),
            _ => Ok(None), // the reader adds the items of Stripe
        }
    }
}

impl Connection {
    pub(super) fn shop<'s>(&'s self, token: &'s str) -> Shop<'s> {
        Shop { system: self.record.endpoint.system, store: &self.record.store, token }
    }
}

const NO_TOKEN: &str = "this shop system sends only the order's ID, and the connection has no token to fetch the order";
const NO_ORDER: &str = "the shop system has no order with this ID";

impl<S: OperatorStore, C: Clock, E: Entropy, A: PledgeApi + ShopApi> Intake<'_, S, C, E, A> {
    /// Reads an order of which only the ID was sent.
    pub(in super::super) async fn order_by_id(
        &self,
        connection: &Connection,
        number: String,
    ) -> Result<Finding> {
        let finding = match self.token_of(connection).await? {
            None => Finding::new(Fate::Unreadable).because(NO_TOKEN),
            Some(token) => {
                match bigcommerce::order(self.api, &connection.shop(&token), &number).await {
                    Ok(body) => match read(connection.record.endpoint.system, &body) {
                        Ok(Event::Order(order)) => return self.order(connection, &order).await,
                        Ok(_) => {
                            Finding::new(Fate::Unreadable).because(ReadError::Unknown.to_string())
                        }
                        Err(error) => Finding::new(Fate::Unreadable).because(error.to_string()),
                    },
                    Err(ShopProblem::Status(404)) => {
                        Finding::new(Fate::Unreadable).because(NO_ORDER)
                    }
                    Err(problem) => return Err(OperatorError::invalid(problem.to_string())),
                }
            }
        };
        Ok(Finding { number: Some(number), ..finding })
    }

    /// Adds the items to an order of which they were not sent, if a rule reads items and the connection has a token.
    pub(in super::super) async fn with_items(
        &self,
        connection: &Connection,
        body: &[u8],
        order: Box<Order>,
    ) -> Result<Box<Order>> {
        let Connection { record, .. } = connection;
        let lacks_items = record.endpoint.system == System::Stripe && order.lines.is_empty();
        if !lacks_items || !record.settings.reads_items() {
            return Ok(order);
        }
        let Some(token) = self.token_of(connection).await? else { return Ok(order) };
        let whole = stripe::with_items(self.api, &connection.shop(&token), body).await;
        let whole = whole.map_err(|problem| OperatorError::invalid(problem.to_string()))?;
        match whole.map(|whole| read(record.endpoint.system, &whole)) {
            Some(Ok(Event::Order(order))) => Ok(order),
            _ => Ok(order),
        }
    }

    async fn token_of(&self, connection: &Connection) -> Result<Option<String>> {
        Ok(match connection.record.token {
            Some(_) => connection.token(secret::find(self.store).await?.as_ref()),
            None => None,
        })
    }
}
