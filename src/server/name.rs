//! Texts of the code as JavaScript's: made anew, one costs as much as what it is needed for.

use js_sys::JsString;
use std::cell::RefCell;

thread_local! {
    static KNOWN: RefCell<Vec<(&'static str, JsString)>> = const { RefCell::new(Vec::new()) };
}

/// Uses a text of the code, which is made JavaScript's once.
pub fn constant<T>(text: &'static str, then: impl FnOnce(&JsString) -> T) -> T {
    KNOWN.with_borrow_mut(|known| match known.iter().find(|(made, _)| *made == text) {
        Some((_, made)) => then(made),
        None => {
            let made = JsString::from(text);
            let result = then(&made);
            known.push((text, made));
            result
        }
    })
}
