//! Erasure of personal data (GDPR, article 17). The data for accounting is kept.

mod age;
mod counts;
mod record;
mod replay;
mod texts;

pub use age::{ERASABLE_MINUTES, check_erasable};
pub(crate) use record::{ERASE, erase_now};
pub use record::{Erased, erase};
pub(crate) use texts::quantities_to_keep;
pub(crate) use texts::without_texts;
