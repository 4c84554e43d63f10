use super::Key;
use super::metadata::NoMetadata;
use crate::pledges::scope::Mode;
use crate::pledges::settlement::Month;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Maximum size of the updates of an offering and month: 64 KiB.
pub const MAX_UPDATES_BYTES: usize = 64 * 1024;

/// The key `updates:{mode}:{SHA-256 of the offering}:{month}` of
/// [`OfferingUpdates`](crate::buyer::updates::OfferingUpdates): the published updates about the pledges of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpdatesKey {
    mode: Mode,
    /// The SHA-256 of the offering's ID, because the ID may be too long for the name of a record.
    offering: [u8; 32],
    month: Month,
}

impl UpdatesKey {
    /// Returns the key of the updates about an offering's pledges. `month` is the month in which
    /// the transactions were created.
    pub fn new(mode: Mode, offering_id: &str, month: Month) -> Self {
        UpdatesKey { mode, offering: Sha256::digest(offering_id.as_bytes()).into(), month }
    }

    /// Parses a name. Returns `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        let (mode, rest) = name.strip_prefix(Self::PREFIX)?.split_once(':')?;
        let (offering, month) = rest.split_once(':')?;
        let offering = base16ct::lower::decode_vec(offering).ok()?.try_into().ok()?;
        Some(UpdatesKey { mode: Mode::from_name(mode)?, offering, month: Month::parse(month)? })
    }
}

impl Key for UpdatesKey {
    type Metadata = NoMetadata;
    const KIND: &'static str = "updates";
    const PREFIX: &'static str = "updates:";
    /// Uses the store's default cache TTL. This TTL limits how long a page still shows a withdrawn update.
    const CACHE_SECONDS: Option<u32> = None;
    /// The deadline of a read, in milliseconds. It is short, because the page can be shown without updates.
    const READ_MS: u32 = 1_000;
    const MAX_BYTES: usize = MAX_UPDATES_BYTES;
    fn suffix(&self) -> Cow<'_, str> {
        let offering = base16ct::lower::encode_string(&self.offering);
        Cow::Owned([self.mode.name(), ":", &offering, ":", &self.month.to_string()].concat())
    }
}
