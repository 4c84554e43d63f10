//! What may end a wait early: time, and the caller's signal.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// An `AbortSignal`, or what the caller takes for one.
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

    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, ms: u32) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

const ABORT: &str = "abort";

/// A wait that ends with time, or with the caller's signal.
pub struct Limits {
    ended: Promise,
    watch: Option<Watch>,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Aborted,
    TimedOut,
}

impl End {
    pub fn is_aborted(self) -> bool {
        self == End::Aborted
    }
}

impl Limits {
    pub fn new(signal: Option<Signal>, ms: u32) -> Self {
        let mut signal = Some(signal);
        let mut watch = None;
        // Runs at once, and once.
        let ended = Promise::new(&mut |end, _reject| {
            watch = signal.take().map(|signal| Watch::new(signal, ms, end));
        });
        Limits { ended, watch }
    }

    /// Waits until the time is up or the caller aborts.
    pub async fn ended(&self) -> End {
        // This promise is ours, and only ever resolved.
        let _ = JsFuture::from(self.ended.clone()).await;
        if self.is_aborted() { End::Aborted } else { End::TimedOut }
    }

    pub fn is_aborted(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_aborted)
    }
}

/// A timer and a listener on a signal. Both are gone when this is dropped: nothing keeps a
/// process alive, or a signal that outlives many calls growing.
struct Watch {
    end: Function,
    timer: JsValue,
    signal: Option<Signal>,
}

impl Watch {
    fn new(signal: Option<Signal>, ms: u32, end: Function) -> Self {
        let timer = set_timeout(&end, ms);
        if let Some(signal) = &signal {
            // A signal that cannot be listened to is one that never fires.
            let _ = signal.add_event_listener(ABORT, &end);
        }
        let watch = Watch { end, timer, signal };
        if watch.is_aborted() {
            let _ = watch.end.call0(&JsValue::UNDEFINED);
        }
        watch
    }

    fn is_aborted(&self) -> bool {
        let aborted = self.signal.as_ref().and_then(|signal| signal.aborted().ok());
        aborted.is_some_and(|aborted| aborted.is_truthy())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        clear_timeout(&self.timer);
        if let Some(signal) = &self.signal {
            let _ = signal.remove_event_listener(ABORT, &self.end);
        }
    }
}
