//! API keys: the keys of a unit or a team, and the forms that create, replace and revoke a key.
//!
//! A key is shown once, in the response to the form that created it. Sending the form again creates no second key.

mod list;
mod make;
mod new_key;
mod parts;
mod revoke;
mod rotate;

pub(crate) use list::section;
pub(crate) use make::make_key;
pub(crate) use parts::change_forms;
pub(crate) use revoke::revoke_key;
pub(crate) use rotate::rotate_key;
