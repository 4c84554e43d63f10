//! Waits that end with time or with the caller's signal.

use super::js::Signal;
use futures_util::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Promise};
use wasm_bindgen_futures::JsFuture;

/// The end of a wait.
pub enum Interruption {
    /// The caller's signal fired.
    Aborted,
    /// The time was over.
    TimedOut,
}

const ABORT: &str = "abort";

/// Waits for so many milliseconds or until the caller aborts. Returns which came first.
///
/// A wait that is dropped removes its timer, which would keep a process alive, and its listener,
/// because the signal can live longer.
pub async fn wait(signal: Option<Signal>, ms: u32) -> Interruption {
    let timer = TimeoutFuture::new(ms);
    let Some(signal) = signal else {
        timer.await;
        return Interruption::TimedOut;
    };
    let (_listener, abort) = Listener::new(signal.clone());
    if is_aborted(Some(&signal)) {
        return Interruption::Aborted; // before the listener was added
    }
    match select(timer, JsFuture::from(abort)).await {
        Either::Left(_) => Interruption::TimedOut,
        Either::Right(_) => Interruption::Aborted,
    }
}

/// Whether a signal has fired. A signal that throws counts as one that has not.
pub fn is_aborted(signal: Option<&Signal>) -> bool {
    signal.and_then(|signal| signal.aborted().ok()).is_some_and(|aborted| aborted.is_truthy())
}

/// A listener on a signal. Dropping it removes the listener.
struct Listener {
    signal: Signal,
    listener: Option<Function>,
}

impl Listener {
    /// Adds a listener. Returns it with a promise that is resolved when the signal fires.
    fn new(signal: Signal) -> (Self, Promise) {
        // Not `Function::default`, which compiles text: Workers and most pages' policies forbid it.
        let mut listener = None;
        // The promise calls this function at once.
        let abort = Promise::new(&mut |resolve, _reject| listener = Some(resolve));
        if let Some(listener) = &listener {
            // A signal that throws here counts as one that never fires.
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
