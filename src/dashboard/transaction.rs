//! TODO

use super::form::Form;
use super::frame::Page;
use super::{Desk, Refusal, Result};
use crate::handle::{Clock, Entropy};
use crate::store::OperatorStore;
use maud::html;

pub(super) async fn transaction<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn reveal<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn resend<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn preview_mail<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}

pub(super) async fn erase<S: OperatorStore, C: Clock, E: Entropy>(
    _desk: &Desk<'_, S, C, E>,
    _id: &str,
    _form: &Form,
    _query: &Form,
) -> Result {
    Err(Refusal::invalid("not written yet"))
}
