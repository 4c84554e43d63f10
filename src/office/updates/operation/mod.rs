//! Operations on updates. An update tells buyers, on their timelines, what became of their pledges.

mod add;
mod answer;
mod arguments;
mod members;
mod publish;
mod read;

pub use add::{ADD, Add, DRAFT, EDIT, Edit, add, check_add, check_edit, draft, edit};
pub(crate) use answer::about;
pub use members::Members;
pub use publish::{PUBLISH, WITHDRAW, publish, withdraw};
pub use read::{CHECK, LIST, PREVIEW, check, list, preview};
pub(crate) use read::{listing, stage_in_words};
