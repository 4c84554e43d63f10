//! Deadlines: nothing that a request waits for may keep it for ever.

use futures_util::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use std::pin::pin;

/// Awaits `work` for so many milliseconds at most: `None` if it was dropped then.
pub async fn within<W: Future>(milliseconds: u32, work: W) -> Option<W::Output> {
    match select(pin!(work), TimeoutFuture::new(milliseconds)).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}
