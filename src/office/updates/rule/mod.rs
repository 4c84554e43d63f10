//! Updates: news for buyers, shown on their timelines. An update says what became of one offering's pledges
//! of one month. It is a draft until it is published.

mod beyond;
mod change;
mod checked;
mod compile;
mod fulfilment;
mod list;
mod lost;
mod news;
mod picture;
mod pictures;
mod preview;
mod refusal;
mod words;

pub use beyond::beyond;
pub use change::{UpdateChange, add, check_seen, edit, publish, withdraw};
pub use checked::{NewUpdate, check_publishable};
pub use compile::{Compared, compare, heal};
pub use fulfilment::add_from_fulfilment;
pub use list::{UpdateList, get, list};
pub(crate) use lost::lost;
pub use news::{NewsQueued, queue_news};
pub use picture::{CleanPicture, MAX_PICTURE_BYTES, PictureProblem, clean};
pub use pictures::{Swept, keep_picture, sweep};
pub use preview::preview;
