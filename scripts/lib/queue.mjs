/** Sends messages to the queue of notifications: the local one of `npm start`, or the one of a deployed Worker. */
import { Cloudflare } from "./cloudflare.mjs";
import { UserError } from "./output.mjs";
import { calledAs, isClone } from "./places.mjs";

const BINDING = "NOTIFICATIONS";
const START = isClone ? "npm start" : calledAs("dev");
const DEADLINE_MS = 30_000; // of each call

/**
 * A message to the queue. It names a transaction, and has no personal data.
 * @typedef {{id: string, createdAt: string, round: number, service: string}} Message
 * @typedef {{put: (message: Message) => Promise<unknown>}} Queue
 */

/**
 * Returns the notification queue of the local service or of a deployed Worker. Never retries `put`, because
 * a failed call may still have put its message into the queue.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {import("./kv.mjs").Place} place
 * @param {string} origin the address of the local service
 * @returns {Promise<Queue>}
 */
export const openQueue = (tools, place, origin) =>
  place.kind === "local" ? localQueue(origin) : boundQueue(tools, place);

async function localQueue(origin) {
  const ask = (path, options) =>
    fetch(new URL(path, origin), { ...options, signal: AbortSignal.timeout(DEADLINE_MS) }).catch(
      () => {
        throw new UserError(
          `no service answers at ${origin}: run \`${START}\`, or pass the address of the local service with \`--origin\``,
        );
      },
    );
  await ask("/healthz");
  const put = async (message) => {
    const { status } = await ask("/developer/notifications", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    if (status !== 202)
      throw new UserError(
        `${origin} does not accept the message (status ${status}): check that the service there was started with \`${START}\``,
      );
  };
  return { put };
}

/**
 * Returns the name of the queue of notifications in a Worker's bindings; undefined if none is bound.
 * @returns {string | undefined}
 */
export const queueAmong = (bindings) =>
  bindings.find(({ name, type }) => name === BINDING && type === "queue")?.queue_name;

async function boundQueue(tools, { account, worker }) {
  const cloudflare = await Cloudflare.open(tools, { account, deadline: DEADLINE_MS });
  const name = queueAmong(await cloudflare.bindings(worker));
  if (name === undefined)
    throw new UserError(
      `the Worker \`${worker}\` of the account ${account} has no queue bound as ${BINDING}, so the Worker sends no notifications`,
    );
  const query = new URLSearchParams({ name });
  const { result } = await cloudflare.call("find the queue", "GET", `/queues?${query}`);
  const id = result?.find(({ queue_name }) => queue_name === name)?.queue_id;
  if (!id) throw new UserError(`the account ${account} has no queue \`${name}\``);
  const path = `/queues/${encodeURIComponent(id)}/messages`;
  const put = (message) =>
    cloudflare.callOnce("put the message into the queue", "POST", path, {
      body: message,
      content_type: "json",
    });
  return { put };
}
