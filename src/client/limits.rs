//! What ends a wait: time, and the caller's signal.

use super::attempt::AttemptError;
use futures_util::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Promise};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// An `AbortSignal`, or an object that the caller passed as one: any of these may throw, so that
    /// gloo-events, which panics then, cannot serve.
    #[derive(Clone)]
    pub type Signal;
    #[wasm_bindgen(method, getter, catch)]
    fn aborted(this: &Signal) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = addEventListener)]
    fn add_event_listener(this: &Signal, event: &str, listener: &Function) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = removeEventListener)]
    fn remove_event_listener(
        this: &Signal,
        event: &str,
        listener: &Function,
    ) -> Result<(), JsValue>;
}

const ABORT: &str = "abort";

/// Waits until the time is up or the caller aborts, and returns which it was. A wait that is dropped
/// leaves no timer, which would keep a process alive, and no listener on a longer-lived signal.
pub async fn wait(signal: Option<Signal>, ms: u32) -> AttemptError {
    let timer = TimeoutFuture::new(ms);
    let Some(signal) = signal else {
        timer.await;
        return AttemptError::TimedOut;
    };
    let (_listener, abort) = Listener::new(signal.clone());
    if is_aborted(Some(&signal)) {
        return AttemptError::Aborted; // before the listener was there
    }
    match select(timer, JsFuture::from(abort)).await {
        Either::Left(_) => AttemptError::TimedOut,
        Either::Right(_) => AttemptError::Aborted,
    }
}

pub fn is_aborted(signal: Option<&Signal>) -> bool {
    signal.and_then(|signal| signal.aborted().ok()).is_some_and(|aborted| aborted.is_truthy())
}

/// A listener on a signal, removed when this is dropped.
struct Listener {
    signal: Signal,
    listener: Option<Function>,
}

impl Listener {
    /// Gives the promise, too, that is resolved when the signal fires.
    fn new(signal: Signal) -> (Self, Promise) {
        // No `Function::default`: it makes code of text, which Workers and most pages' policies forbid.
        let mut listener = None;
        // Runs at once.
        let abort = Promise::new(&mut |resolve, _reject| listener = Some(resolve));
        if let Some(listener) = &listener {
            // A signal that cannot be listened to never fires.
            let _ = signal.add_event_listener(ABORT, listener);
        }
        (Listener { signal, listener }, abort)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            let _ = self.signal.remove_event_listener(ABORT, listener);
        }
    }
}
