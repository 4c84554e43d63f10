//! A refusal as data: the wrong argument, a code and a text.

use crate::buyer::recipient::InvalidMember;
use serde::{Serialize, Serializer};
use strum::IntoStaticStr;

/// Why a request is refused. Forms and commands show the text beside the wrong argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The wrong argument; `None` if the refusal does not concern a single argument.
    #[serde(flatten)]
    pub argument: Option<ArgumentName>,
    pub code: RefusalCode,
    /// What is wrong, and what the person can do. The text contains no key and no personal data.
    #[serde(rename = "message")]
    pub text: String,
}

/// The name of the argument that a refusal concerns. It is the same in a form, as an option of a
/// command, and in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArgumentName {
    /// The name in the operation's [`Spec`](crate::office::shared::operation::spec::Spec), such as `paid-at`.
    pub field: &'static str,
    /// The item of an argument that has several values: the offering of a quantity, the language of a sentence, or the
    /// currency of an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
}

/// The kind of a refusal. In JSON it is a text such as `not_found`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RefusalCode {
    /// The text alone says why.
    Failed,
    Required,
    /// The value breaks a rule of its format or its length.
    Invalid,
    /// The value has the right format, but the records do not allow it now.
    NotAllowed,
    /// Nothing has this ID or address.
    NotFound,
    /// Another change was made at the same moment, or the ledger was slow. The same request may succeed later.
    TryAgain,
}

impl Refused {
    pub fn at(
        argument: impl Into<ArgumentName>,
        code: RefusalCode,
        text: impl Into<String>,
    ) -> Self {
        Refused { argument: Some(argument.into()), code, text: text.into() }
    }
}

impl<T: Into<String>> From<T> for Refused {
    fn from(text: T) -> Self {
        Refused { argument: None, code: RefusalCode::Failed, text: text.into() }
    }
}

impl From<InvalidMember> for Refused {
    fn from(InvalidMember { name, problem }: InvalidMember) -> Self {
        Refused::at(name, RefusalCode::Invalid, problem)
    }
}

impl From<&'static str> for ArgumentName {
    fn from(field: &'static str) -> Self {
        ArgumentName { field, item: None }
    }
}

impl From<(&'static str, &str)> for ArgumentName {
    fn from((field, item): (&'static str, &str)) -> Self {
        (field, Some(item)).into()
    }
}

impl From<(&'static str, Option<&str>)> for ArgumentName {
    fn from((field, item): (&'static str, Option<&str>)) -> Self {
        ArgumentName { field, item: item.map(str::to_owned) }
    }
}

impl Serialize for RefusalCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.into())
    }
}
