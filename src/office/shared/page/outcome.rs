use super::form::Form;
use super::problem::FormProblem;
use crate::office::shared::operation::spec::Spec;
use maud::Markup;

/// What the page that follows a form shows of it.
pub(crate) struct FormOutcome {
    pub spec: &'static Spec,
    /// Whether the form was carried out.
    pub is_done: bool,
    /// Whether this request made the change, in contrast to an earlier request with the same operation ID.
    pub is_first: bool,
    /// The operation's answer as JSON; empty if the form was refused.
    pub data: String,
    pub notice: Markup,
    /// What the person entered, if the form is shown again; otherwise empty.
    pub entered: Form,
    pub problem: FormProblem,
}

impl FormOutcome {
    /// Creates the outcome of a form that did nothing.
    pub fn new(spec: &'static Spec) -> Self {
        FormOutcome {
            spec,
            is_done: false,
            is_first: false,
            data: String::new(),
            notice: Markup::default(),
            entered: Form::default(),
            problem: FormProblem::default(),
        }
    }
}
