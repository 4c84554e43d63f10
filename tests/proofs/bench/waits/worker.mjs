/**
 * Runs the service and its consumer with Workers KV and a queue whose calls take as long as the header `x-takes`
 * states, in milliseconds. The header `x-waits` of the response is the number of calls that were waited for in
 * turn; calls made at the same time count once. A request to `/delivery` delivers a message of the queue.
 */
import service from "../../../../build/worker.js";

/** Makes the calls of one request slow, and counts them. */
class Slow {
  /** The number of calls in turn that have ended. */
  ended = 0;

  /** @param {number} takes */
  constructor(takes) {
    this.takes = takes;
  }

  /** @param {() => any} call */
  async wait(call) {
    const turn = this.ended + 1;
    const [answer] = await Promise.all([
      call(),
      new Promise((resolve) => setTimeout(resolve, this.takes)),
    ]);
    this.ended = Math.max(this.ended, turn);
    return answer;
  }

  kv(kv) {
    return {
      getWithMetadata: (...args) => this.wait(() => kv.getWithMetadata(...args)),
      put: (...args) => this.wait(() => kv.put(...args)),
      list: () => this.wait(() => ({ keys: [], list_complete: true })), // workerd's KV service cannot list
    };
  }

  queue(messages) {
    return { send: (message) => this.wait(() => void messages.push(message)) };
  }
}

async function deliver(request, env, slow) {
  const outcome = {};
  const message = {
    body: await request.json(),
    attempts: 1,
    ack: () => void Object.assign(outcome, { isSent: true }),
    retry: (options) => void Object.assign(outcome, options),
  };
  const EMAIL = { send: async () => ({ messageId: "<1@example>" }) };
  const own = { PUBLIC_ORIGIN: "https://pledges.example", MAIL_FROM: "a@shop.example", EMAIL };
  const bindings = { ...env, ...own, PLEDGES: slow.kv(env.PLEDGES) };
  await service.queue({ queue: "mails", messages: [message] }, bindings);
  return Response.json(outcome, { status: outcome.isSent ? 200 : 500 });
}

export default {
  async fetch(request, env, context) {
    const slow = new Slow(Number(request.headers.get("x-takes")));
    const messages = [];
    const bindings = {
      ...env,
      PLEDGES: slow.kv(env.PLEDGES),
      NOTIFICATIONS: slow.queue(messages),
    };
    const isDelivery = new URL(request.url).pathname === "/delivery";
    const answer = isDelivery
      ? await deliver(request, env, slow)
      : await service.fetch(request, bindings, context);
    const own = new Response(answer.body, answer);
    own.headers.set("x-waits", String(slow.ended));
    if (messages.length > 0) own.headers.set("x-message", JSON.stringify(messages[0]));
    return own;
  },
};
