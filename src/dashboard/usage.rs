//! TODO

use super::form::Form;
use super::frame::Page;
use super::{Desk, Refusal, Result};
use crate::handle::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::html;

pub(super) async fn usage<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn usage_csv<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn count<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn mark_paid<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn undo_paid<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}
