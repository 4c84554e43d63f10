/** After how long something is so. Written by `UPDATE=1 cargo test --test native generated`. */
/** Until a list, or a read of Workers KV, shows a write. */
export const SHOWN_SECONDS = 60;
/** Until prices, payments and profiles apply everywhere. */
export const APPLIED_SECONDS = 70;
/** Until a revoked key, or a unit of no team any more, is refused. */
export const REFUSED_SECONDS = 40;
/** Until it is known what became of an e-mail. */
export const MAILED_SECONDS = 120;
/** Until an e-mail of which nothing was heard has failed. */
export const WAITING_HOURS = 24;
/** Until it is forgotten what became of an e-mail. */
export const NOTIFICATION_DAYS = 30;
/** Until it is forgotten that an e-mail failed. */
export const FAILED_MAIL_DAYS = 90;
