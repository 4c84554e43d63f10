//! Pledges: requests, records, IDs and quantities.

mod amount;
mod id;
mod notification_service;
mod record;
mod request;

pub use amount::Amount;
pub use id::{
    EDIT_KEY_BYTES, EditKey, PLEDGE_ID_BYTES, PledgeId, TRANSACTION_ID_BYTES, TransactionId,
};
pub use notification_service::NotificationService;
pub use record::{
    Charge, CurrencyCode, ERASED_EMAIL, Impact, Notification, Pledge, PledgeDetail,
    PledgeTransaction, Recipient, RetrievedPledge, RetrievedPledgeTransaction, Trigger,
};
pub use request::{PledgeRequest, PledgeTransactionRequest};
