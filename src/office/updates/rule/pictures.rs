//! Keeps uploaded pictures, and deletes those that no update has any more.

use super::picture::clean;
use super::refusal::refused_at;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::bucket::Bucket;
use crate::office::updates::rows::pictures as rows;
use crate::pledges::picture::PictureName;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::DAY_MS;
use serde::Serialize;

/// The time between two invocations of the cron, in milliseconds.
const EVERY_MS: u64 = 5 * 60_000;

/// Stores a picture without what it does not need, such as the place of a photo. Returns the path of the picture, which an
/// update can have instead of a URL. The same picture is stored once.
///
/// # Errors
/// If the file is not an acceptable picture, or the store keeps no pictures or fails.
pub async fn keep_picture(store: &impl OperatorStore, file: &[u8]) -> Result<String> {
    let picture = clean(file)
        .map_err(|problem| refused_at("picture-file", RefusalCode::Invalid, problem.in_words()))?;
    let name = PictureName::of(&picture.bytes, picture.format);
    match store.keep_picture(&name, picture.bytes).await? {
        true => Ok(name.path()),
        false => {
            let problem = "no bucket is bound as `PICTURES`, so pictures cannot be uploaded: give the address of the picture";
            Err(refused_at("picture-file", RefusalCode::NotAllowed, problem))
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Number of pictures that were deleted.
    pub deleted: usize,
}

/// Deletes pictures that no update has, in any state, and that were not uploaded in the last day. Each invocation looks at
/// those whose names begin with two other digits, so that 256 invocations look at all. Cost: 1 list of the bucket, and up to 1
/// ledger query and 1 deletion.
///
/// # Errors
/// If the bucket or the ledger fails.
pub async fn sweep(bucket: &impl Bucket, ledger: &dyn Ledger, clock: &impl Clock) -> Result<Swept> {
    let now_ms = clock.now_ms();
    let prefix = format!("{:02x}", now_ms / EVERY_MS % 256);
    let names = bucket.list_before(&prefix, now_ms.saturating_sub(DAY_MS)).await?;
    let names = names.iter().filter_map(|name| PictureName::parse(name));
    let unused = rows::unused(ledger, &names.map(|name| name.path()).collect::<Vec<_>>()).await?;
    let unused = unused.iter().filter_map(|path| PictureName::of_path(path));
    let unused: Vec<_> = unused.map(|name| name.as_str().to_owned()).collect();
    if !unused.is_empty() {
        bucket.delete(&unused).await?;
    }
    Ok(Swept { deleted: unused.len() })
}
