/** Most calls that are remembered: far more than an isolate serves at once. */
const MAX_WAITING = 10_000;

/** Longest wait for a message that has the instance for itself, in milliseconds: the platform may have ended its delivery, which never says so. */
const TURN_MS = 60_000;
/** How long new messages wait after the instance broke, and how often they look, in milliseconds. */
const SOON_MS = 200;
const LOOK_MS = 20;
/** Seconds until a message is delivered again that broke its instance. */
const AGAIN_SECONDS = 60;
/** How long a mail service gets to answer after the instance broke that asked it, and then Workers KV to take the marker, in milliseconds. */
const SEND_MS = 10_000;
const WRITE_MS = 15_000;

/**
 * A module of wasm. `name` is for the log; `instance` returns the number of the instance, after starting a new one if the
 * last one broke; `broken` makes the answer to a request whose instance broke. `queue` and `scheduled` run beside requests.
 * @typedef {(request: Request, env: object, call: Call) => Promise<Response>} Fetch
 * @typedef {(request: Request, env: object, context: object) => Promise<Response>} Handler
 * @typedef {{name: string, fetch: Fetch, instance: () => number, broken: (request: Request, id: string) => Response}} Module
 * @typedef {{retryAll: (options: {delaySeconds: number}) => void}} Batch
 * @typedef {{queue: (batch: Batch, env: object) => Promise<void>, scheduled: (env: object) => Promise<void>}} Background
 * @typedef {(batch: Batch, env: object) => Promise<void>} TakeBatch
 * @typedef {(controller: object, env: object) => Promise<unknown>} Scheduled
 * A message of a queue; the consumer calls its `ack` or `retry`.
 * @typedef {{ack: () => void, retry: (options: {delaySeconds: number}) => void}} Message
 * @typedef {(message: Message, queue: string, env: object, sending: Sending) => Promise<void>} Deliver
 * @typedef {(batch: {queue: string, messages: Message[]}, env: object) => Promise<void>} Queue
 * @typedef {() => {deliver: Deliver, instance: () => number}} StartConsumer
 */

/**
 * The module's handlers, which answer for a broken instance of it. After an uncaught exception the `worker` crate starts
 * a new instance at the next call, and what the old one was at would wait for ever: requests hear that, and messages of
 * the queue begin anew.
 *
 * Messages have an instance of their own, in which they run side by side: one that breaks it costs no request anything, and
 * no other message an attempt or a second e-mail.
 *
 * @type {((module: Module & Background) => {fetch: Handler, queue: TakeBatch, scheduled: Scheduled}) & ((module: Module) => {fetch: Handler}) & ((module: Module, startConsumer: StartConsumer) => {fetch: Handler, queue: Queue})}
 */
export const recovering = /** @type {any} */ (handlersOf);

/** @param {Module} module @param {StartConsumer} [startConsumer] where there is a queue */
function handlersOf(module, startConsumer) {
  const requests = callsOf(module.name, module.instance);
  /** Those of the consumer, once there was a message. @type {ReturnType<typeof consumerOf> | undefined} */
  let consumer;

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
    context.waitUntil(call.end(ended)); // if its caller hung up, what wasm holds for it would be held for ever
    const made = await ended;
    forget();
    const response = made ?? keepHttps(request, module.broken(request, call.id)); // made here, as a response belongs to the request that made it
    response.headers.set("x-request-id", call.id);
    return response;
  }

  /** Each message ends by itself, and only one that cannot be given back fails the batch. */
  async function consume({ queue, messages }, env) {
    consumer ??= consumerOf(startConsumer());
    await Promise.all(messages.map((message) => consumer.deliver(message, queue, env)));
  }

  /** Whether a handler ended, and did not break the instance. */
  async function ends(handle) {
    const { ended, forget } = requests.call(() => handle().then(() => true));
    const isDone = await ended;
    forget();
    return isDone;
  }

  /** Its messages have their verdicts, unless the instance broke. */
  async function take(batch, env) {
    const isDone = await ends(() => module.queue(batch, env));
    if (!isDone) batch.retryAll({ delaySeconds: AGAIN_SECONDS });
  }

  const schedule = (_, env) => ends(() => module.scheduled(env));

  if (startConsumer) return { fetch: answer, queue: consume };
  return module.queue ? { fetch: answer, queue: take, scheduled: schedule } : { fetch: answer };
}

/** What a request has beside it; the module sees it in place of the platform's context. */
class Call {
  #request;
  #context;
  #id;
  /** @type {Promise<unknown> | undefined} */
  #later;

  constructor(request, context) {
    this.#request = request;
    this.#context = context;
  }

  /** The ID of the request: the platform's, else a random one. */
  get id() {
    this.#id ??= idOf(this.#request);
    return this.#id;
  }

  /** Goes on with a promise after the answer. To be called before that. */
  waitUntil(promise) {
    this.#later = Promise.all([this.#later, promise]);
  }

  /** Ends once the answer is made, and with it what goes on after that. The platform takes 5 µs for each promise that it waits for. */
  end(answered) {
    return answered.then(() => this.#later);
  }

  /** Who asks, where Cloudflare Access protects the Worker. */
  get access() {
    return this.#context.access;
  }
}

/** An e-mail that the mail service has: what is known of it outlives the instance that sent it. */
class Sending {
  /** @type {Promise<unknown> | undefined} */
  #sent;
  #mark = async () => {};

  /** @param {string} token names the delivery, also if it begins anew */
  constructor(token) {
    this.token = token;
  }

  /** For the module: `sent` is fulfilled if the mail service takes the e-mail, and then the marker is to be written. */
  begin(sent, records, name, value, options) {
    this.#sent = sent;
    this.#mark = async () => records.put(name, value, options);
  }

  /**
   * What became of the e-mail of a broken instance. If it was sent, its marker is written: the message is done without
   * that, too.
   * @returns {Promise<"sent" | "unsent" | "unknown">}
   */
  async end() {
    if (typeof this.#sent?.then !== "function") return "unsent";
    const isSent = await outcome(this.#sent, SEND_MS);
    if (isSent) await outcome(this.#mark(), WRITE_MS);
    if (isSent === undefined) return "unknown";
    return isSent ? "sent" : "unsent";
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Whether a promise is fulfilled; `undefined` if it takes longer. */
const outcome = (promise, milliseconds) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const end = (is) => () => {
      clearTimeout(timer);
      resolve(is);
    };
    promise.then(end(true), end(false));
  });

/** @param {ReturnType<StartConsumer>} module */
function consumerOf({ deliver, instance }) {
  /** Until when new messages wait: for those of a broken instance to come forward, or for one that is alone. */
  let calmAt = 0;
  const quietFor = (milliseconds) => {
    calmAt = Date.now() + milliseconds;
  };
  const { call, recover } = callsOf("consumer", instance, () => quietFor(SOON_MS));
  let turn = Promise.resolve();
  let aloneCount = 0;

  async function calm() {
    while (Date.now() < calmAt) await pause(LOOK_MS);
  }

  /** Has the instance for itself, one after the other. */
  async function alone(act) {
    const before = turn;
    let end = () => {};
    turn = new Promise((resolve) => {
      end = () => resolve(undefined);
    });
    aloneCount += 1;
    await outcome(before, TURN_MS);
    quietFor(TURN_MS);
    try {
      return await act();
    } finally {
      aloneCount -= 1;
      if (aloneCount === 0) quietFor(0);
      end();
    }
  }

  /**
   * Delivers a message, which then was given back ("done"), unless the instance broke.
   * @returns {Promise<"done" | "sent" | "unsent" | "unknown">}
   */
  async function attempt(message, queue, env, token) {
    const sending = new Sending(token);
    const { ended, forget } = call(() => deliver(message, queue, env, sending).then(() => true));
    const isDone = await ended;
    forget();
    return isDone ? "done" : sending.end();
  }

  /**
   * Delivers a message. If the instance breaks, perhaps by another message, it has the next one for itself. What breaks
   * that, too, is delivered again later, as is an e-mail that may have been sent.
   */
  async function deliverOrRetry(message, queue, env) {
    const token = crypto.randomUUID();
    const act = () => attempt(message, queue, env, token);
    await calm();
    let end = await act();
    if (end === "unsent") end = await alone(act);
    if (end === "sent") message.ack();
    else if (end !== "done") message.retry({ delaySeconds: AGAIN_SECONDS });
  }

  return { deliver: deliverOrRetry, recover };
}

/** The calls of an instance of the module. `name` is for the log. */
function callsOf(name, instance, onBreak = () => {}) {
  const waiting = new Map(); // by number: a set of functions would hash each
  let served = instance();
  let last = 0;

  function recover() {
    const before = served;
    served = instance();
    if (served === before) return;
    onBreak();
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
