//! Implements the service's interfaces on Cloudflare Workers: requests and responses, the KV namespace, the
//! queues, the rate limit, bindings and variables. Every wait has a deadline.

mod bindings;
mod call;
pub(crate) mod chunk_reader;
pub(crate) mod deadline;
pub(crate) mod json;
pub(crate) mod kv;
mod ledger_queue;
mod outbox;
mod queue;
pub(crate) mod r2;
mod rate_limit;
mod request;
mod response;
pub(crate) mod slots;

pub use bindings::{Bindings, SendEmail, ServiceBinding, trimmed};
pub use call::Call;
pub use kv::{KvNamespace, KvStore};
pub use ledger_queue::BackgroundQueue;
pub use outbox::DelayedQueue;
pub use queue::{Queue, QueueMessage};
pub use r2::R2;
pub use rate_limit::RateLimit;
pub use request::WorkerRequest;
pub use response::to_web_response;
