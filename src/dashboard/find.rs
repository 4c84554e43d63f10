//! TODO

use super::form::Form;
use super::frame::Page;
use super::{Desk, Refusal, Result};
use crate::handle::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::html;

pub(super) async fn home<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn find<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}
