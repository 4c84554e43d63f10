//! API keys: the keys of a unit or a team, and the forms that create, replace and revoke a key.
//!
//! A key is shown once, in the response to the form that created it. Sending the form again creates no second key.

mod changed;
mod list;
mod replace;

pub(crate) use changed::{created, revoked};
pub(crate) use list::{change_forms, section};
pub(crate) use replace::{replace, rotated};
