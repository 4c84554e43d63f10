//! Finds the price list of a create request: the unit's own, or else the mode's.

use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api::Problem;
use crate::pledges::charge::PriceList;
use crate::pledges::scope::{Mode, Scope};
use crate::pledges::store::{Key as _, PriceListKey, Store};
use futures_util::FutureExt as _;
use futures_util::future::join;
use std::rc::Rc;

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Returns the price list by which a unit is charged; `None` if there is none.
    ///
    /// A list of the other mode is never used: it could charge money for a test. If the unit's own list
    /// cannot be read, this is an error, because the mode's list may have another currency. KV cost: at most
    /// 2 concurrent reads, and none for a cached list.
    pub(super) async fn price_list(&self, scope: &Scope) -> Result<Rc<Option<PriceList>>, Problem> {
        let key = PriceListKey::of_unit(scope.mode, &scope.unit);
        let name = key.name();
        match self.caches.unit_price_lists.get(&*name, self.clock.now_ms()) {
            Some(own) if own.is_some() => Ok(own),
            Some(_) => self.mode_price_list(scope.mode).await,
            None => {
                let own = self.read_unit_price_list(key, name);
                let (own, of_mode) =
                    join(own, self.mode_price_list(scope.mode)).boxed_local().await;
                let own = own?;
                if own.is_some() { Ok(own) } else { of_mode }
            }
        }
    }

    async fn read_unit_price_list(
        &self,
        key: PriceListKey<'_>,
        name: String,
    ) -> Result<Rc<Option<PriceList>>, Problem> {
        let now_ms = self.clock.now_ms();
        let own: Option<PriceList> = self.load(&key).await?;
        let bytes = own.as_ref().map_or(0, PriceList::bytes);
        Ok(self.caches.unit_price_lists.keep_sized(name, own, bytes, now_ms))
    }

    async fn mode_price_list(&self, mode: Mode) -> Result<Rc<Option<PriceList>>, Problem> {
        let now_ms = self.clock.now_ms();
        if let Some(price_list) = self.caches.price_lists.get(&mode, now_ms) {
            return Ok(price_list);
        }
        let price_list = self.load(&PriceListKey::of_mode(mode)).await?;
        Ok(self.caches.price_lists.keep(mode, price_list, now_ms))
    }
}
