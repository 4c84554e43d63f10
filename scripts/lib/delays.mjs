/** Delays that the commands state. Written by `UPDATE=1 cargo test --test native generated`. */
/** How long it takes until a list, or a read of Workers KV, shows a write. */
export const SHOWN_SECONDS = 60;
/** How long it takes until prices, payments and profiles apply everywhere. */
export const APPLIED_SECONDS = 70;
/** How long it takes until a revoked key, or a unit that was removed from its team, is refused. */
export const REFUSED_SECONDS = 40;
/** How long it takes until the result of sending an e-mail is known. */
export const MAILED_SECONDS = 120;
/** How long it takes until an e-mail without a delivery report counts as failed. */
export const WAITING_HOURS = 24;
/** How long it takes until the result of sending an e-mail is forgotten. */
export const NOTIFICATION_DAYS = 30;
/** How long it takes until the record of a failed e-mail is removed. */
export const FAILED_MAIL_DAYS = 90;
