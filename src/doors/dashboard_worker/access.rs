//! Identifies the person who sends a request, by Cloudflare Access.

use crate::doors::cloudflare::Call;
use crate::doors::cloudflare::deadline::within;
use crate::office::shared::page::identity::Identity;
use js_sys::Promise;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::console_error;

/// Timeout of a call to Access, in milliseconds.
const IDENTITY_MS: u32 = 5_000;

#[wasm_bindgen]
extern "C" {
    /// The context of a request, as Cloudflare passes it. Unlike `worker::Context`, it has `access`.
    #[wasm_bindgen(extends = Call)]
    pub type Context;
    /// Returns the result of Cloudflare Access; `undefined` if Access did not check the request.
    #[wasm_bindgen(method, getter)]
    fn access(this: &Context) -> Option<Access>;

    type Access;
    /// Resolves to the sender's identity, an object; to `undefined` for a service token.
    #[wasm_bindgen(method, catch, js_name = getIdentity)]
    fn get_identity(this: &Access) -> Result<JsValue, JsValue>;

    type Claims;
    #[wasm_bindgen(method, catch, getter)]
    fn email(this: &Claims) -> Result<JsValue, JsValue>;
}

/// The person that Access identified.
pub enum Person {
    /// Access did not check the request.
    None,
    /// Access knows no e-mail address of the sender.
    WithoutAddress,
    /// Access failed or did not answer in time.
    Unknown,
    Address(String),
}

impl Person {
    pub fn identity(&self) -> Identity<'_> {
        match self {
            Person::None => Identity::None,
            Person::WithoutAddress => Identity::WithoutAddress,
            Person::Unknown => Identity::Unknown,
            Person::Address(address) => Identity::Address(address),
        }
    }
}

/// Asks Access who sent the request. The text of a failure is not logged, because it may name the person.
pub async fn identify(context: &Context) -> Person {
    let Some(access) = context.access() else { return Person::None };
    match address(&access).await {
        Ok(Some(address)) => Person::Address(address),
        Ok(None) => Person::WithoutAddress,
        Err(error) => {
            let cause = if error.is_undefined() { "no answer in time" } else { "refused" };
            console_error!(r#"{{"access":"getIdentity","cause":"{cause}"}}"#);
            Person::Unknown
        }
    }
}

/// Returns the e-mail address, or `None` if Access knows none. The error is what Access threw, or `undefined` after a timeout.
async fn address(access: &Access) -> Result<Option<String>, JsValue> {
    let identity = Promise::resolve(&access.get_identity()?);
    let identity = JsFuture::from(within(&identity, IDENTITY_MS)).await?;
    if !identity.is_object() {
        return Ok(None);
    }
    let email = Claims::from(identity).email()?.as_string();
    Ok(email.map(|email| email.trim_ascii().to_owned()).filter(|email| !email.is_empty()))
}
