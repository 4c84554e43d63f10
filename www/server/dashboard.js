/**
 * The dashboard for local development. It is the deployed Worker, except that it answers only requests to
 * this machine's own host names.
 */
import dashboard from "../../build/dashboard/worker.js";
import { withRetries } from "./locked.js";
import { forThisMachine } from "./loopback.js";

/** Returns a handler of the dashboard that repeats calls of KV. */
const repeating = (handler) => (asked, env, context) => handler(asked, withRetries(env), context);

export default {
  ...dashboard,
  fetch: forThisMachine(repeating(dashboard.fetch)),
  queue: repeating(dashboard.queue),
  scheduled: repeating(dashboard.scheduled),
};
