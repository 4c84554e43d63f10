//! Code for deliveries to mail services and to adapters: the waits between attempts, and the state of a
//! delivery. This state is kept outside of this wasm instance.

use crate::buyer::delivery::{Marker, SendError, Timer as _, wait_seconds};
use crate::doors::cloudflare::KvNamespace;
use crate::doors::cloudflare::kv::put_options;
use crate::doors::platform::Platform;
use crate::pledges::retry::RetryAfter;
use crate::pledges::service::Clock as _;
use crate::pledges::store::{Key as _, NoMetadata, NotificationKey};
use js_sys::{Promise, Uint8Array};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::Response;

/// The longest wait between two attempts of a delivery, in seconds. If the answer asks for a longer wait, the
/// delivery ends.
const MAX_PAUSE_SECONDS: u32 = 10;
/// Maximum number of waits within a delivery.
const MAX_PAUSES: u32 = 3;
/// Milliseconds after the start of a delivery until which a wait may begin. The last wait (10 s)
/// and the timeouts of one more attempt (20 s) can follow, so a delivery takes at most 45 s. The
/// duration of claims in `buyer::delivery` depends on this.
const PATIENCE_MS: u64 = 15_000;

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

    #[wasm_bindgen(catch)]
    pub fn fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}

impl Sending {
    /// Tells `recover.js` that a mail service or an adapter was called. Also gives it the marker: the record
    /// which says that the notification was sent. If this wasm instance breaks before the answer,
    /// `recover.js` waits for the promise `sent`. Once the promise is fulfilled, `recover.js` writes the
    /// marker. It writes no marker if the result is an HTTP response with a status other than 2xx.
    ///
    /// # Errors
    /// If the marker cannot be prepared, which never happens.
    pub fn begin_with(
        &self,
        sent: &Promise,
        records: &KvNamespace,
        key: &NotificationKey<'_>,
        marker: &Marker,
    ) -> Result<(), SendError> {
        let value = Uint8Array::from(crate::pledges::api::to_json(marker).as_slice());
        let options = put_options(&NoMetadata, NotificationKey::KEPT_SECONDS);
        let options = options.map_err(|_| temporary("no-marker"))?;
        self.begin(sent, records, &key.name(), &value, &options);
        Ok(())
    }
}

/// Attempts to send a notification. If the answer asks for a wait of a few seconds, waits and retries. These
/// retries are part of the same delivery, so that a burst of notifications uses up no delivery attempts.
pub async fn patiently<T>(attempt: impl AsyncFn() -> Result<T, SendError>) -> Result<T, SendError> {
    let until_ms = Platform.now_ms() + PATIENCE_MS;
    for _ in 0..MAX_PAUSES {
        match attempt().await {
            Err(SendError::Temporary { after: Some(seconds), .. })
                if seconds <= MAX_PAUSE_SECONDS && Platform.now_ms() < until_ms =>
            {
                Platform.pause(seconds.max(1) * 1_000).await;
            }
            outcome => return outcome,
        }
    }
    attempt().await
}

/// Returns how long a response asks to wait, in seconds; `None` if it does not ask.
pub fn wait_of(response: &Response) -> Option<u32> {
    let header = |name| response.headers().get(name).ok().flatten();
    let (text, date) = (header("retry-after")?, header("date"));
    wait_seconds(Some(RetryAfter { text: &text, date: date.as_deref() }), Platform.now_ms())
}

/// Returns a temporary error with a code that this service defines, and without a time to wait.
pub fn temporary(code: &str) -> SendError {
    SendError::Temporary { code: code.to_owned(), after: None }
}
