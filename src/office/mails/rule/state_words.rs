use std::borrow::Cow;

/// A delivery state in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words<'s> {
    /// One to three words, such as `not sent`.
    pub name: &'static str,
    /// The reason, in lower case and without a full stop; empty if the name is enough.
    pub cause: Cow<'static, str>,
    /// What to do or to know, in sentences; may be empty.
    pub advice: Cow<'static, str>,
    /// The error code of the mail service or the messaging adapter, if the reason is such a code.
    pub code: Option<&'s str>,
}

impl Words<'_> {
    pub(super) fn new(
        name: &'static str,
        cause: impl Into<Cow<'static, str>>,
        advice: impl Into<Cow<'static, str>>,
    ) -> Self {
        Words { name, cause: cause.into(), advice: advice.into(), code: None }
    }
}
