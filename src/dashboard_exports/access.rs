//! Who asks, by Cloudflare Access.

use crate::dashboard::Identity;
use crate::workers::Call;
use crate::workers::deadline::within;
use js_sys::Promise;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::console_error;

/// Deadline of Access, in milliseconds.
const IDENTITY_MS: u32 = 5_000;

#[wasm_bindgen]
extern "C" {
    /// The context of a request. `worker::Context` has no `access`.
    #[wasm_bindgen(extends = Call)]
    pub type Context;
    /// `undefined` where Access did not check the request.
    #[wasm_bindgen(method, getter)]
    fn access(this: &Context) -> Option<Access>;

    type Access;
    /// Resolves to an object, or to `undefined` for a service token.
    #[wasm_bindgen(method, catch, js_name = getIdentity)]
    fn get_identity(this: &Access) -> Result<JsValue, JsValue>;

    type Claims;
    #[wasm_bindgen(method, catch, getter)]
    fn email(this: &Claims) -> Result<JsValue, JsValue>;
}

/// What Access says of who asks.
pub enum Person {
    /// Access did not check the request.
    None,
    /// Access knows no e-mail address.
    WithoutAddress,
    /// Access did not answer.
    Unknown,
    /// The e-mail address.
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

/// Asks Access who sent the request. A failure is logged without its text, which may name the person.
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

/// The e-mail address. Errors are those of Access, and `undefined` if the time is up.
async fn address(access: &Access) -> Result<Option<String>, JsValue> {
    let identity = Promise::resolve(&access.get_identity()?);
    let identity = JsFuture::from(within(&identity, IDENTITY_MS)).await?;
    if !identity.is_object() {
        return Ok(None);
    }
    let email = Claims::from(identity).email()?.as_string();
    Ok(email.map(|email| email.trim_ascii().to_owned()).filter(|email| !email.is_empty()))
}
