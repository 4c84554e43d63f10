//! Records a seed's inputs and the service's answers, for a host that replays them on the Worker's wasm.

use crate::executor::Time;
use crate::random::Random;
use impact_pledge::handle::Entropy;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;

/// Events in their order; none are kept by default.
#[derive(Clone, Default)]
pub struct Recording(Option<Rc<Events>>);

struct Events {
    time: Rc<Time>,
    list: RefCell<Vec<Value>>,
}

impl Recording {
    /// One that keeps what is added to it.
    pub fn new(time: &Rc<Time>) -> Self {
        Recording(Some(Rc::new(Events { time: Rc::clone(time), list: RefCell::default() })))
    }

    /// Adds an event of a request, or of no request, at this moment.
    pub fn add(&self, event: &str, request: Option<usize>, details: impl FnOnce() -> Value) {
        let Some(events) = &self.0 else { return };
        let at_ms = events.time.now_ms();
        let event =
            json!({ "event": event, "at": at_ms, "request": request, "details": details() });
        events.list.borrow_mut().push(event);
    }

    /// A line of JSON.
    pub fn line(&self, seed: u64) -> String {
        let events = self.0.as_ref().map(|events| events.list.borrow().clone());
        json!({ "seed": seed, "events": events }).to_string()
    }
}

/// Bytes as text: a character for each, whatever they are.
pub fn text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// How a call ended: with this, with an error, or not before its deadline.
pub fn outcome<T, E>(ended: Option<&Result<T, E>>, with: impl FnOnce(&T) -> Value) -> Value {
    match ended {
        Some(Ok(value)) => json!({ "ok": with(value) }),
        Some(Err(_)) => json!("error"),
        None => json!("hung"),
    }
}

/// The randomness of an isolate.
pub struct RecordedEntropy {
    pub random: Random,
    pub isolate: usize,
    pub recording: Recording,
}

impl Entropy for RecordedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.random.fill(bytes);
        let details = || json!({ "isolate": self.isolate, "bytes": text(bytes) });
        self.recording.add("random", None, details);
    }
}
