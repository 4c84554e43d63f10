//! Delays that pages, commands and documents state, each from the constants that cause it. Cloudflare calls its bounds
//! usual, not certain.

use crate::handle::LIFETIME_MS;
use crate::notify::{DELAY_SECONDS, TRIED_SECONDS};
use crate::store::{LEAST_CACHE_SECONDS, USUAL_CACHE_SECONDS};

/// A list, or a read of Workers KV, shows what was written after so many seconds.
pub const SHOWN_SECONDS: u64 = USUAL_CACHE_SECONDS as u64;
/// A running Worker uses what it has read for so many seconds.
pub const USED_SECONDS: u64 = LIFETIME_MS / 1_000;
/// Prices, payments and profiles apply everywhere after so many seconds.
pub const APPLIED_SECONDS: u64 = SHOWN_SECONDS + USED_SECONDS;
/// A location answers with a key, or a unit of a team, from its cache for so many seconds.
pub const KEY_CACHED_SECONDS: u64 = LEAST_CACHE_SECONDS as u64;
/// A key that was revoked, and a unit that was removed from its team, are refused everywhere after so many seconds.
pub const REFUSED_SECONDS: u64 = KEY_CACHED_SECONDS + USED_SECONDS;
/// What became of an e-mail is known after so many seconds, if it is sent at once.
pub const MAILED_SECONDS: u64 = DELAY_SECONDS as u64 + SHOWN_SECONDS;
/// An e-mail is tried for so many hours.
pub const MAILED_HOURS: u64 = (TRIED_SECONDS as u64).div_ceil(3_600);
