/** How long it takes until something happens. Written by `UPDATE=1 cargo test --test native generated`. */
/** How long until a list or a read of Workers KV shows a write. */
export const SHOWN_SECONDS = 60;
/** How long until prices, payments and profiles apply everywhere. */
export const APPLIED_SECONDS = 70;
/** How long until a revoked key, or a unit that was removed from its team, is refused. */
export const REFUSED_SECONDS = 40;
/** How long until the delivery state of an e-mail shows. */
export const MAILED_SECONDS = 120;
/** How long until an e-mail without a result counts as failed. */
export const WAITING_HOURS = 24;
/** How long until the outcome of an e-mail is deleted. */
export const NOTIFICATION_DAYS = 30;
/** How long until a failed e-mail is removed from the list of failures. */
export const FAILED_MAIL_DAYS = 30;
