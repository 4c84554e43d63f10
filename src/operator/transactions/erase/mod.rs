//! Erasure of personal data (GDPR, article 17). The data for accounting is kept.

mod age;
mod counts;
mod record;
mod replay;
mod texts;

pub use age::{ERASABLE_MINUTES, check_erasable};
pub(super) use record::{ERASE, erase_now};
pub use record::{Erased, erase};
pub(in crate::operator) use texts::quantities_to_keep;
pub(super) use texts::without_texts;
