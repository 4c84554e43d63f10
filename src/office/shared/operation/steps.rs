//! Changes of many records, which are made in steps of a limited size. A step may be repeated.

use super::call::{Call, Failure, Host as _, Ports, Result};
use crate::office::shared::rule::error::OperatorError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What the steps so far have done, and where the next one begins.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Steps<T> {
    pub done: T,
    /// The position of the next step; `None` before the first step, and after the last.
    pub next: Option<String>,
}

impl<T: Serialize> Steps<T> {
    /// Returns the steps as text, which the form of the next step sends; `None` after the last step.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub fn rest(&self) -> Result<Option<String>> {
        let text =
            || serde_json::to_string(self).map_err(|error| OperatorError::from(error).into());
        self.next.as_ref().map(|_| text()).transpose()
    }
}

impl<P: Ports> Call<'_, P> {
    /// Makes the steps of a change: all of them for a command, and one for a form. `begin` confirms the change before its first
    /// step. `step` adds to what was done, and sets where the next step begins. Also returns why a step failed, after which
    /// the change can continue.
    ///
    /// # Errors
    /// If the form of a step is damaged, or the change was not confirmed.
    pub(crate) async fn in_steps<T: DeserializeOwned>(
        &self,
        begin: impl AsyncFnOnce() -> Result<T>,
        mut step: impl AsyncFnMut(&mut Steps<T>) -> Result<()>,
    ) -> Result<(Steps<T>, Option<Failure>)> {
        let mut steps: Steps<T> = match self.rest {
            "" => Steps { done: begin().await?, next: None },
            text => serde_json::from_str(text).map_err(|_| Failure::Usage(DAMAGED.into()))?,
        };
        loop {
            let failure = step(&mut steps).await.err();
            if failure.is_some() || steps.next.is_none() || self.host.is_page() {
                return Ok((steps, failure));
            }
        }
    }
}

const DAMAGED: &str = "this form is damaged, and nothing was done. Begin again";
