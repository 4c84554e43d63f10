//! Delays that pages, commands and documents state. They are computed from the cache times and waiting times
//! that the code uses. Cloudflare describes its own delays as typical, not as guaranteed.

use crate::buyer::delivery::{DELAY_SECONDS, TRIED_SECONDS};
use crate::pledges::service::LIFETIME_MS;
use crate::pledges::store::{LEAST_CACHE_SECONDS, USUAL_CACHE_SECONDS};

/// Seconds until a list or a read of Workers KV shows a write.
pub const SHOWN_SECONDS: u64 = USUAL_CACHE_SECONDS as u64;
/// Seconds for which a running Worker uses a record before it reads the record again.
pub const USED_SECONDS: u64 = LIFETIME_MS / 1_000;
/// Seconds until a change of prices, payments or profiles takes effect everywhere.
pub const APPLIED_SECONDS: u64 = SHOWN_SECONDS + USED_SECONDS;
/// Seconds for which each Cloudflare location caches a key, or a unit's membership in a team.
pub const KEY_CACHED_SECONDS: u64 = LEAST_CACHE_SECONDS as u64;
/// Seconds until a revoked key, or a unit that was removed from its team, is rejected everywhere.
pub const REFUSED_SECONDS: u64 = KEY_CACHED_SECONDS + USED_SECONDS;
/// Seconds until the delivery state of an e-mail shows, if the first attempt succeeds.
pub const MAILED_SECONDS: u64 = DELAY_SECONDS as u64 + SHOWN_SECONDS;
/// Hours for which delivery of an e-mail is attempted.
pub const MAILED_HOURS: u64 = (TRIED_SECONDS as u64).div_ceil(3_600);
