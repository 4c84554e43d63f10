/** What became of an e-mail, in words. `src/operator/notifications/status.rs` says what each state means. */

import { NOTIFICATION_DAYS, WAITING_HOURS } from "./delays.mjs";

/**
 * @typedef {"not-asked" | "erased" | "off" | "test" | "waiting" | "sent" | "skipped" | "failed" | "forgotten"} State
 * @typedef {{state: State, reason?: string, round?: number, at?: string, until?: string, attempts?: number, providerId?: string, language?: string}} Status
 */

/** @type {Record<State, string>} */
const STATES = {
  "not-asked": "not asked for",
  erased: "erased, with what became of it",
  off: "not sent: the unit's e-mails are off",
  test: "of a test key: sent to MAIL_TEST_TO if the Worker has that, else to nobody",
  waiting: "waiting",
  sent: "sent",
  skipped: "not sent",
  failed: "failed",
  forgotten: `not known any more: it is kept for ${NOTIFICATION_DAYS} days`,
};

/** A reason that is none of these is the mail service's code. @type {Record<string, string>} */
const REASONS = {
  erased: "the recipient was erased",
  "mail-off": "the unit's e-mails were off",
  "no-origin": "the Worker has no valid PUBLIC_ORIGIN",
  "test-mode": "of a test key, and the Worker has no MAIL_TEST_TO",
  "daily-limit": "the address had had its e-mails of that day",
  "no-page": "the record has no address of its page",
  "no-secret": "the namespace has no secret",
  "no-more-attempts": "no attempt succeeded",
  unsent: "the queue did not take it",
  unknown: `nothing was heard of it within ${WAITING_HOURS} hours`,
  damaged: "a record that it needs is damaged",
};

/** @param {Status} status */
export function mailInWords({ state, reason, round, at, until, attempts, providerId, language }) {
  const known = STATES[state] + (reason === undefined ? "" : `: ${REASONS[reason] ?? reason}`);
  return [
    at === undefined ? known : `${known}, ${at}`,
    until !== undefined && `next attempt ${until}`,
    attempts !== undefined && attempts > 1 && `attempt ${attempts}`,
    round !== undefined && round > 1 && `round ${round}`,
    language !== undefined && `language ${language}`,
    providerId !== undefined && `ID ${providerId}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** What sending it once more may come to. @param {Status} status */
export function riskInWords({ state, reason }) {
  if (state === "sent") return "A second e-mail goes out";
  if (state === "waiting" || state === "test")
    return "Its first message may still wait: if that comes before the new one, two e-mails go out";
  if (state === "forgotten" || reason === "unknown" || reason === "damaged")
    return "It may have been sent: then a second e-mail goes out";
  return "As far as is known, it was not sent before";
}
