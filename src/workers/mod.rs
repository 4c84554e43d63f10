//! The ports on Cloudflare Workers: requests and responses, the namespace of KV, the queues, the rate limit,
//! variables. Every wait has a deadline.

mod call;
pub(crate) mod deadline;
pub(crate) mod json;
pub(crate) mod kv;
mod ledger;
mod outbox;
pub(crate) mod pieces;
mod rate_limit;
mod request;
mod response;
pub(crate) mod slots;
mod variable;

pub use call::Call;
pub use kv::{KvNamespace, KvStore};
pub use ledger::BackgroundQueue;
pub use outbox::{DelayedQueue, Queue};
pub use rate_limit::RateLimit;
pub use request::WorkerRequest;
pub use response::convert;
pub use variable::trimmed;
