/**
 * The dashboard for local development. It is the deployed Worker, except that it answers only requests to
 * this machine's own host names, and keeps e-mails to people instead of sending them.
 */
import dashboard from "../../build/dashboard/worker.js";
import { withRetries } from "./locked.js";
import { forThisMachine } from "./loopback.js";
import { keptMails } from "./mails.js";

/** Returns a handler of the dashboard that repeats calls of KV, and keeps e-mails. */
const repeating = (handler) => (asked, env, context) =>
  handler(asked, { ...withRetries(env), EMAIL: keptMails(env) }, context);

export default {
  ...dashboard,
  fetch: forThisMachine(repeating(dashboard.fetch)),
  queue: repeating(dashboard.queue),
  scheduled: repeating(dashboard.scheduled),
};
