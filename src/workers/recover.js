/** Most calls that are remembered: far more than an isolate serves at once. */
const MAX_WAITING = 10_000;

/** Longest wait for the message before, in milliseconds: the platform may have ended its delivery, which never says so. */
const TURN_MS = 60_000;
/** Seconds until a message is delivered again that broke its instance. */
const AGAIN_SECONDS = 60;

/**
 * A module of wasm. `name` is for the log; `instance` returns the number of the instance, after starting a new one if the
 * last one broke; `broken` makes the answer to a request whose instance broke.
 * @typedef {(request: Request, env: object, call: Call) => Promise<Response>} Fetch
 * @typedef {(request: Request, env: object, context: object) => Promise<Response>} Handler
 * @typedef {{name: string, fetch: Fetch, instance: () => number, broken: (request: Request, id: string) => Response}} Module
 * @typedef {(batch: object, env: object) => Promise<void>} Queue
 * @typedef {() => {queue: Queue, instance: () => number}} StartConsumer
 */

/**
 * The module's handlers, which answer for a broken instance of it. After an uncaught exception the `worker` crate starts
 * a new instance at the next call, and what the old one was at would wait for ever: requests hear that, and messages of
 * the queue are delivered again.
 *
 * Messages have an instance of their own, one at a time: a message that breaks it costs no request and no other message,
 * and no more than one record is in its memory.
 *
 * @type {((module: Module) => {fetch: Handler}) & ((module: Module, startConsumer: StartConsumer) => {fetch: Handler, queue: Queue})}
 */
export const recovering = /** @type {any} */ (handlersOf);

/** @param {Module} module @param {StartConsumer} [startConsumer] where there is a queue */
function handlersOf(module, startConsumer) {
  const requests = callsOf(module.name, module.instance);
  /** Those of the consumer, once there was a message. @type {ReturnType<typeof consumerOf> | undefined} */
  let consumer;
  let turn = Promise.resolve();

  const recover = () => {
    requests.recover();
    consumer?.recover();
  };

  // wasm-bindgen-futures runs all tasks in microtasks. In workerd `queueMicrotask` takes 2 µs, a promise's `then` a tenth
  // of it; and an exception is caught here before anything else calls the instance that it broke.
  const resolved = Promise.resolve();
  const run = (task) => {
    try {
      task();
    } catch (error) {
      recover();
      throw error;
    }
  };
  globalThis.queueMicrotask = (task) => void resolved.then(() => run(task));
  addEventListener("unhandledrejection", recover); // an exception in a callback of a promise or timer

  async function answer(request, env, context) {
    const call = new Call(request, context);
    const { ended, forget } = requests.call(() => module.fetch(request, env, call));
    context.waitUntil(ended); // if its caller hung up, what wasm holds for it would be held for ever
    const made = await ended;
    forget();
    const response = made ?? keepHttps(request, module.broken(request, call.id)); // made here, as a response belongs to the request that made it
    response.headers.set("x-request-id", call.id);
    return response;
  }

  async function consume(batch, env) {
    const before = turn;
    let end = () => {};
    turn = new Promise((resolve) => {
      end = resolve;
    });
    await soon(before, TURN_MS);
    try {
      consumer ??= consumerOf(startConsumer());
      if (!(await consumer.deliver(batch, env))) batch.retryAll({ delaySeconds: AGAIN_SECONDS });
    } finally {
      end();
    }
  }

  return startConsumer ? { fetch: answer, queue: consume } : { fetch: answer };
}

/** Waits for a promise, and so long at most. */
function soon(promise, milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** What a request has beside it; the module sees it in place of the platform's context. */
class Call {
  #request;
  #context;
  #id;

  constructor(request, context) {
    this.#request = request;
    this.#context = context;
  }

  /** The ID of the request: the platform's, else a random one. */
  get id() {
    this.#id ??= idOf(this.#request);
    return this.#id;
  }

  /** Who asks, where Cloudflare Access protects the Worker. */
  get access() {
    return this.#context.access;
  }
}

function consumerOf({ queue, instance }) {
  const { call, recover } = callsOf("consumer", instance);
  /** Whether a batch was consumed: not if the instance broke. */
  async function deliver(batch, env) {
    const { ended, forget } = call(() => queue(batch, env).then(() => true));
    const isConsumed = await ended;
    forget();
    return isConsumed;
  }
  return { deliver, recover };
}

/** The calls of an instance of the module. `name` is for the log. */
function callsOf(name, instance) {
  const waiting = new Map(); // by number: a set of functions would hash each
  let served = instance();
  let last = 0;

  function recover() {
    const before = served;
    served = instance();
    if (served === before) return;
    console.error(
      JSON.stringify({ cause: `the ${name} broke and starts anew`, waiting: waiting.size }),
    );
    for (const answer of waiting.values()) answer();
    waiting.clear();
  }

  /** Calls a handler. `ended` becomes its outcome, or undefined if the instance broke. */
  function call(handle) {
    recover();
    last += 1;
    const number = last;
    const ended = new Promise((resolve) => {
      const fail = () => resolve(recover());
      waiting.set(number, resolve);
      try {
        handle().then(resolve, fail);
      } catch {
        fail();
      }
    });
    // Calls that the platform drops leave their entries: the oldest of so many waits no more.
    if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value);
    return { ended, forget: () => waiting.delete(number) };
  }

  return { call, recover };
}

/** Behind another platform, callers could write anything into `CF-Ray`. */
function idOf(request) {
  try {
    const ray = request.headers.get("cf-ray");
    return /^[0-9a-fA-F]{16}-[A-Z]{3}$/.test(ray) ? ray : crypto.randomUUID();
  } catch {
    return crypto.randomUUID();
  }
}

const LOOPBACK = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** Asks browsers for HTTPS from then on, as `keep_https` of `src/http/response.rs` does in all other answers. */
function keepHttps(request, response) {
  try {
    const { protocol, hostname } = new URL(request.url);
    if (protocol === "https:" && !LOOPBACK.test(hostname))
      response.headers.set("strict-transport-security", "max-age=31536000");
  } catch {} // a request without an address gets the answer as it is
  return response;
}

/** Whether the request is posted. If reading the method throws, so that the module fails on it, it counts as posted. */
export function changes(request) {
  try {
    return request.method === "POST";
  } catch {
    return true;
  }
}
