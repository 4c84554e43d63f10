/**
 * Runs the service with a queue, a mail service and Workers KV. The header `x-takes` states how long each
 * call to one of these three takes. A request to `/delivery` delivers a message of the queue. Any other
 * request is passed to the service, and the response is the message that the service queued.
 */
import service from "../../../../build/worker.js";

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * The names of the records that deliveries have written. This set collects them, because workerd's KV service
 * cannot list.
 */
const names = new Set();

/** @param {{read: number, write: number, list: number}} takes */
const slow = (kv, takes) => ({
  getWithMetadata: async (...args) => (await pause(takes.read)) ?? kv.getWithMetadata(...args),
  put: async (name, ...args) => {
    names.add(name);
    await pause(takes.write);
    return kv.put(name, ...args);
  },
  list: async ({ prefix }) => {
    await pause(takes.list);
    const keys = [...names].filter((name) => name.startsWith(prefix)).map((name) => ({ name }));
    return { keys, list_complete: true };
  },
});

async function deliver(request, env) {
  const takes = JSON.parse(request.headers.get("x-takes"));
  const end = { acked: false };
  const message = {
    body: await request.json(),
    attempts: 1,
    ack: () => void Object.assign(end, { acked: true }),
    retry: (options) => void Object.assign(end, options),
  };
  const EMAIL = { send: async () => (await pause(takes.mail)) ?? { messageId: "<1@example>" } };
  const bindings = { PUBLIC_ORIGIN: "https://pledges.example", MAIL_FROM: "a@shop.example", EMAIL };
  const PLEDGES = slow(env.PLEDGES, takes);
  await service.queue({ queue: "mails", messages: [message] }, { ...env, ...bindings, PLEDGES });
  return Response.json(end);
}

async function create(request, env, context) {
  const messages = [];
  const NOTIFICATIONS = { send: async (message) => void messages.push(message) };
  const response = await service.fetch(request, { ...env, NOTIFICATIONS }, context);
  return response.ok ? Response.json(messages[0]) : response;
}

export default {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === "/delivery"
      ? deliver(request, env)
      : create(request, env, context),
};
