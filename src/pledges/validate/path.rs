//! Paths from a body to one of its values.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of the contract.
    Member(&'static str),
    /// An item of an array, counted from 0.
    Index(u32),
    /// A member that is not in the contract.
    Unknown(Cow<'a, str>),
}

/// The path from a body to a value in it. It is empty for the body itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path<'a>(Vec<Step<'a>>);

impl<'a> Path<'a> {
    pub(crate) fn new(steps: Vec<Step<'a>>) -> Self {
        Path(steps)
    }

    /// Returns the part of the path that the contract defines. It contains no text of the caller.
    pub fn known(&self) -> Self {
        let is_known = |step: &&Step<'a>| !matches!(step, Step::Unknown(_));
        Path(self.0.iter().take_while(is_known).cloned().collect())
    }

    /// Returns the steps, the outermost first.
    pub fn steps(&self) -> &[Step<'a>] {
        &self.0
    }
}

/// Writes the path as an RFC 6901 JSON Pointer, such as `/pledges/0/impact/amount`.
impl Display for Path<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| {
            out.write_str("/")?;
            match step {
                Step::Member(name) => out.write_str(name),
                Step::Index(index) => index.fmt(out),
                Step::Unknown(name) => out.write_str(&name.replace('~', "~0").replace('/', "~1")),
            }
        })
    }
}
