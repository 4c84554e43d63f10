//! What a buyer sees: the timeline, e-mails and messages, and what became of the pledges.
//!
//! - [`timeline`] serves timelines, and [`recipient`] renders them and the e-mails, in the buyer's language.
//! - [`total`] is what a shop publishes about all of its pledges.
//! - [`news`] are the updates of which a buyer gets an e-mail, if the buyer asked for it.
//! - [`updates`] are the records of what became of pledges.
//! - [`delivery`] sends the e-mails and messages that create requests have put into the queue. [`adapters`] knows how to
//!   reach the operator's adapters, which pass messages on, and signs the requests to them.

pub mod adapters;
pub mod delivery;
pub mod news;
pub mod recipient;
pub mod timeline;
pub mod total;
pub mod updates;
pub mod visible;
pub mod web_address;
