//! Waiting for a promise of JavaScript's.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A promise of anything.
    #[wasm_bindgen(js_name = Promise)]
    pub type Promise;
    #[wasm_bindgen(method)]
    fn then(this: &Promise, fulfilled: &JsValue, rejected: &JsValue);
}

thread_local! {
    /// Those that wait for nothing at present.
    static IDLE: RefCell<Vec<Waiter>> = const { RefCell::new(Vec::new()) };
}

/// Two callbacks for a promise. Making them costs more than waiting: they are used again and again.
struct Waiter {
    progress: Rc<RefCell<Progress>>,
    fulfilled: Closure<dyn Fn(JsValue)>,
    rejected: Closure<dyn Fn(JsValue)>,
}

enum Progress {
    Waiting(Option<Waker>),
    Settled(Result<JsValue, JsValue>),
}

impl Waiter {
    fn new() -> Self {
        let progress = Rc::new(RefCell::new(Progress::Waiting(None)));
        let (kept, broken) = (Rc::clone(&progress), Rc::clone(&progress));
        Waiter {
            progress,
            fulfilled: Closure::new(move |value| settle(&kept, Ok(value))),
            rejected: Closure::new(move |error| settle(&broken, Err(error))),
        }
    }
}

fn settle(progress: &RefCell<Progress>, outcome: Result<JsValue, JsValue>) {
    let before = progress.replace(Progress::Settled(outcome));
    if let Progress::Waiting(Some(waker)) = before {
        waker.wake();
    }
}

/// What a promise comes to.
pub struct Settlement(Option<Waiter>);

impl Promise {
    /// Waits for it.
    pub fn settled(&self) -> Settlement {
        let waiter = IDLE.with_borrow_mut(Vec::pop).unwrap_or_else(Waiter::new);
        self.then(waiter.fulfilled.as_ref(), waiter.rejected.as_ref());
        Settlement(Some(waiter))
    }
}

impl Future for Settlement {
    type Output = Result<JsValue, JsValue>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(waiter) = self.0.take() else { return Poll::Pending }; // it was ready before
        let waiting = Progress::Waiting(Some(context.waker().clone()));
        match waiter.progress.replace(waiting) {
            Progress::Waiting(_) => {
                self.0 = Some(waiter);
                Poll::Pending
            }
            Progress::Settled(outcome) => {
                waiter.progress.replace(Progress::Waiting(None));
                IDLE.with_borrow_mut(|idle| idle.push(waiter));
                Poll::Ready(outcome)
            }
        }
    }
}

impl Drop for Settlement {
    /// Nobody waits any more, but the promise may still call.
    fn drop(&mut self) {
        if let Some(Waiter { fulfilled, rejected, .. }) = self.0.take() {
            fulfilled.forget();
            rejected.forget();
        }
    }
}
