//! News: the updates of which a buyer gets an e-mail, after asking for it on the timeline.

use super::updates::{Stage, Update};
use crate::pledges::settlement::Month;
use crate::pledges::version::Version;
use serde::{Deserialize, Serialize};

/// Whether a buyer gets e-mails with news about a transaction: the value of a record in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    pub on: bool,
    /// The tag of the language in which the buyer saw the page.
    pub language: String,
    /// The IDs of the news that the page already showed when the buyer asked.
    pub seen: Vec<String>,
    #[serde(skip_deserializing)]
    pub version: Version,
}

impl Update {
    /// Returns whether buyers get an e-mail about the update: something was done, or verified.
    pub fn is_news(&self) -> bool {
        self.stage >= Stage::Done
    }
}

/// Returns the [round](crate::pledges::service::Message::round) of the e-mails with news of this time, such as `202611`. A buyer
/// gets at most one e-mail about a transaction in each round.
pub fn news_round(now_ms: u64) -> u32 {
    Month::at(now_ms).map_or(0, Month::number)
}
