//! The keys of records about news: the e-mails that buyers asked for on their timelines.

use super::key::{DAY_SECONDS, Key, LEAST_CACHE_SECONDS};
use super::metadata::NoMetadata;
use crate::pledges::hash::first_bytes;
use crate::pledges::settlement::Month;
use crate::pledges::types::TransactionId;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// How long the records about news are kept after their last write, in days: three years.
const NEWS_DAYS: u32 = 1_095;
/// Number of bytes of an offering's hash in metadata: so few that 20 of them fit.
const HASH_BYTES: usize = 8;

/// The key `news:{month}:{id}` of a [`Subscription`](crate::buyer::news::Subscription): whether the buyer of a live
/// transaction of this month gets an e-mail when something happens. Only the buyer's own requests write it.
#[derive(Clone, Copy, Debug)]
pub struct NewsKey<'k> {
    /// The month in which the transaction was created.
    pub month: Month,
    pub id: &'k TransactionId,
}

/// The metadata of a subscription, so that a list finds the buyers to tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewsMetadata {
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// The [hashes](offering_hash) of the transaction's offerings; empty if the buyer gets no e-mails.
    pub offerings: Vec<String>,
}

impl Key for NewsKey<'_> {
    type Metadata = NewsMetadata;
    const KIND: &'static str = "subscription to news";
    const PREFIX: &'static str = "news:";
    /// This cache TTL limits how long an e-mail may still be sent to a buyer who has unsubscribed.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    const KEPT_SECONDS: Option<u32> = Some(NEWS_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Owned([&*self.month.to_string(), ":", self.id.as_str()].concat())
    }
}

impl NewsKey<'_> {
    pub fn month_prefix(month: Month) -> String {
        [Self::PREFIX, &month.to_string(), ":"].concat()
    }

    /// Parses the transaction's ID from the name of a record. Returns `None` for any other name.
    pub fn parse(name: &str) -> Option<TransactionId> {
        let (month, id) = name.strip_prefix(Self::PREFIX)?.split_once(':')?;
        Month::parse(month).and_then(|_| TransactionId::parse(id))
    }
}

/// Returns the hash of an offering's ID in the metadata of subscriptions: 16 hexadecimal digits.
pub fn offering_hash(offering_id: &str) -> String {
    let digest = Sha256::digest(offering_id.as_bytes());
    base16ct::lower::encode_string(&first_bytes::<HASH_BYTES>(digest))
}

/// The key `news-sent:{id}` of a [`Marker`](crate::buyer::delivery::Marker): the last e-mail with news about a
/// transaction, and all updates that such e-mails were about.
#[derive(Clone, Copy, Debug)]
pub struct NewsSentKey<'k>(pub &'k TransactionId);

impl Key for NewsSentKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "sent news";
    const PREFIX: &'static str = "news-sent:";
    /// As for the outcomes of notifications: within this time, another delivery may not yet see the record.
    const CACHE_SECONDS: Option<u32> = Some(LEAST_CACHE_SECONDS);
    const KEPT_SECONDS: Option<u32> = Some(NEWS_DAYS * DAY_SECONDS);
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}
