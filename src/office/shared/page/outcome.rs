use super::form::Form;
use super::problem::FormProblem;
use crate::office::shared::operation::spec::Spec;
use maud::Markup;

/// What the page that follows a form shows of it.
pub(crate) struct FormOutcome {
    pub spec: &'static Spec,
    /// Whether this request made the change, in contrast to an earlier request with the same operation ID.
    pub is_first: bool,
    /// The operation's answer as JSON; empty if the form was refused.
    pub data: String,
    pub notice: Markup,
    /// What the person entered, if the form was refused; otherwise empty.
    pub entered: Form,
    pub problem: FormProblem,
}
