/**
 * The dashboard in development: as it is deployed, but that the queue is the one of `npm start`, which is in the memory of
 * another process.
 */
import dashboard from "../../build/dashboard/worker.js";
import { forThisMachine } from "./loopback.js";

const QUEUE_MS = 2_000;

/** @param {string} origin of the service @returns the queue's binding */
const queueOf = (origin) => ({
  async send(message) {
    const { status } = await fetch(`${origin}/developer/notifications`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(QUEUE_MS),
    });
    if (status !== 202) throw new Error(`the service of \`npm start\` answers with ${status}`);
  },
});

export default {
  fetch: forThisMachine((request, env, context) =>
    dashboard.fetch(request, { ...env, NOTIFICATIONS: queueOf(env.SERVICE_ORIGIN) }, context),
  ),
};
