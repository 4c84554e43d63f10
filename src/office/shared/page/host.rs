//! Runs operations for the dashboard's forms, as the command line does for commands.

use super::form::Form;
use super::problem::initial_name;
use crate::office::shared::operation::call::{Aborted, Host, Ports};
use crate::office::shared::operation::question::Question;
use crate::pledges::hash::first_bytes;
use crate::pledges::service::{Clock, Entropy, Message, Outbox, PutFuture};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::TimeZones;
use sha2::{Digest as _, Sha256};
use std::cell::RefCell;
use std::marker::PhantomData;

/// The interfaces that operations use in the dashboard.
pub(crate) struct PagePorts<'p, S, C, E>(PhantomData<(&'p S, &'p C, &'p E)>);

impl<'p, S: OperatorStore, C: Clock, E: Entropy> Ports for PagePorts<'p, S, C, E> {
    type Store = S;
    type Platform = PagePlatform<'p, C, E>;
    type Host = FormHost<'p>;
}

pub(crate) struct PagePlatform<'p, C, E> {
    pub clock: &'p C,
    pub entropy: &'p E,
}

impl<C: Clock, E> Clock for PagePlatform<'_, C, E> {
    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }
}

impl<C: Clock, E> TimeZones for PagePlatform<'_, C, E> {
    fn utc_offset(&self, zone: &str, seconds: i64) -> Option<i32> {
        self.clock.utc_offset(zone, seconds)
    }
}

impl<C, E: Entropy> Entropy for PagePlatform<'_, C, E> {
    fn fill(&self, bytes: &mut [u8]) {
        self.entropy.fill(bytes);
    }
}

/// A form that was sent, as the program that runs an operation.
pub(crate) struct FormHost<'p> {
    pub by: &'p str,
    /// The [digest] of the question that the person confirmed; empty if the person confirmed none.
    pub confirmed: &'p str,
    /// The word that the person typed to confirm.
    pub typed: &'p str,
    pub form: &'p Form,
    /// The question that the person has to confirm first.
    pub question: RefCell<Option<Question>>,
    /// Texts to show besides the answer.
    pub notes: RefCell<Vec<String>>,
    pub outbox: Option<&'p dyn Outbox>,
}

/// Returns a digest of everything that a question shows. A form confirms only the question that the person has seen: if
/// something has changed since, the person is asked again.
pub(crate) fn digest(question: &Question) -> String {
    base16ct::lower::encode_string(&first_bytes::<16>(Sha256::digest(question.in_words(""))))
}

impl Host for FormHost<'_> {
    async fn person(&self) -> Result<String, Aborted> {
        Ok(self.by.to_owned())
    }

    async fn confirm(&self, question: &Question) -> Result<(), Aborted> {
        if digest(question) == self.confirmed && question.typed == self.typed {
            return Ok(());
        }
        *self.question.borrow_mut() = Some(question.clone());
        Err(Aborted)
    }

    /// Returns the text itself: a form has the content of a file in its field.
    async fn read(&self, content: &str) -> Result<Vec<u8>, Aborted> {
        Ok(content.as_bytes().to_vec())
    }

    async fn create(&self, _: Option<&str>) -> Result<(), Aborted> {
        Err(Aborted)
    }

    async fn write(&self, _: &str) -> Result<(), Aborted> {
        Err(Aborted)
    }

    fn note(&self, text: &str) {
        self.notes.borrow_mut().push(text.to_owned());
    }

    async fn open_queue(&self) -> Result<(), Aborted> {
        self.outbox.map(|_| ()).ok_or(Aborted)
    }

    fn is_page(&self) -> bool {
        true
    }

    fn initial(&self, argument: &str) -> Option<&str> {
        let name = initial_name(argument);
        self.form.has(&name).then(|| self.form.text(&name))
    }
}

impl Outbox for FormHost<'_> {
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m> {
        match self.outbox {
            Some(outbox) => outbox.put(message),
            None => Box::pin(async { false }),
        }
    }
}
