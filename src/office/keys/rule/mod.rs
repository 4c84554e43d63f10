//! API keys: creates, lists, revokes and rotates them.

mod changes;
mod find;
mod list;
mod make;
mod revoke;
mod rotate;
mod row;

pub use find::get;
pub use list::{backed, is_key, list};
pub(crate) use make::put;
pub use make::{check, create};
pub use revoke::revoke;
pub use rotate::{KeyExpiry, Rotated, rotate};
pub use row::{KeyMetadata, KeyName, KeyRow, MadeKey};

use changes::{CREATE, REVOKE, ROTATE, of_rotation, revokes};
use find::find;
pub(crate) use row::NotedKey;
use row::{read, row};
