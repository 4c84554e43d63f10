//! The state of a delivery to a mail service or an adapter. It is kept outside of this wasm instance.

use crate::buyer::delivery::{Marker, SendError};
use crate::doors::cloudflare::KvNamespace;
use crate::doors::cloudflare::kv::put_options;
use crate::doors::mail::attempts::temporary;
use crate::pledges::store::{Key, NoMetadata};
use js_sys::{Promise, Uint8Array};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The state of a delivery. `recover.js` keeps it if this wasm instance breaks.
    #[derive(Clone)]
    pub type Sending;
    /// The ID of the delivery. It stays the same if the delivery starts again.
    #[wasm_bindgen(method, getter)]
    pub fn token(this: &Sending) -> String;
    #[wasm_bindgen(method)]
    fn begin(
        this: &Sending,
        sent: &Promise,
        records: &KvNamespace,
        name: &str,
        value: &Uint8Array,
        options: &JsValue,
    );
}

impl Sending {
    /// Tells `recover.js` that a mail service or an adapter was called. Also gives it the marker: the record
    /// which says that the notification was sent. If this wasm instance breaks before the answer,
    /// `recover.js` waits for the promise `sent`. Once the promise is fulfilled, `recover.js` writes the
    /// marker. It writes no marker if the result is an HTTP response with a status other than 2xx.
    ///
    /// # Errors
    /// If the marker cannot be prepared, which never happens.
    pub fn begin_with<K: Key<Metadata = NoMetadata>>(
        &self,
        sent: &Promise,
        records: &KvNamespace,
        key: &K,
        marker: &Marker,
    ) -> Result<(), SendError> {
        let value = Uint8Array::from(crate::pledges::api::to_json(marker).as_slice());
        let options = put_options(&NoMetadata, K::KEPT_SECONDS);
        let options = options.map_err(|_| temporary("no-marker"))?;
        self.begin(sent, records, &key.name(), &value, &options);
        Ok(())
    }
}
