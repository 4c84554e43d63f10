/** Maximum number of waiting calls that are remembered: far more than an isolate serves at once. */
const MAX_WAITING = 10_000;

/** Longest wait for a message that is delivered alone, in milliseconds. The platform may have ended that delivery without notice. */
const TURN_MS = 60_000;
/** How long new messages wait after the instance broke, and how often they check, in milliseconds. */
const SOON_MS = 200;
const LOOK_MS = 20;
/** Seconds until the next delivery of a message that broke its instance. */
const AGAIN_SECONDS = 60;
/** Deadlines after an instance broke, in milliseconds: for the answer to the instance's request by the mail service or the adapter, and then for writing the marker to Workers KV. */
const SEND_MS = 15_000;
const WRITE_MS = 15_000;

/**
 * A wasm module. `name` is for the log. `instance` returns the number of the instance, after starting a new one if the
 * last one broke. `broken` makes the answer to a request whose instance broke. `queue` and `scheduled` share the instance
 * with requests.
 * @typedef {(request: Request, env: object, call: Call) => Promise<Response>} Fetch
 * @typedef {(request: Request, env: object, context: object) => Promise<Response>} Handler
 * @typedef {{name: string, fetch: Fetch, instance: () => number, broken: (request: Request, id: string) => Response}} Module
 * @typedef {{retryAll: (options: {delaySeconds: number}) => void}} Batch
 * @typedef {{queue: (batch: Batch, env: object) => Promise<void>, scheduled: (env: object) => Promise<void>}} Background
 * @typedef {(batch: Batch, env: object) => Promise<void>} TakeBatch
 * @typedef {(controller: object, env: object) => Promise<unknown>} Scheduled
 * A message of a queue. The consumer calls its `ack` or `retry`.
 * @typedef {{ack: () => void, retry: (options: {delaySeconds: number}) => void}} Message
 * @typedef {(message: Message, queue: string, env: object, sending: Sending) => Promise<void>} Deliver
 * @typedef {(batch: {queue: string, messages: Message[]}, env: object) => Promise<void>} Queue
 * @typedef {() => {deliver: Deliver, instance: () => number}} StartConsumer
 */

/**
 * Makes the module's handlers, which answer in place of a broken instance. After an uncaught exception the `worker` crate
 * starts a new instance at the next call, and the calls of the old one would wait forever. These handlers answer the
 * requests of a broken instance with an error, and restart the deliveries of its messages.
 *
 * Messages have an instance of their own, in which they are delivered concurrently. A message that breaks this
 * instance affects no request. Nor does it use up an attempt of another message, or cause a second notification for it.
 *
 * @type {((module: Module & Background) => {fetch: Handler, queue: TakeBatch, scheduled: Scheduled}) & ((module: Module) => {fetch: Handler}) & ((module: Module, startConsumer: StartConsumer) => {fetch: Handler, queue: Queue})}
 */
export const recovering = /** @type {any} */ (handlersOf);

/** @param {Module} module @param {StartConsumer} [startConsumer] given if there is a queue of e-mails */
function handlersOf(module, startConsumer) {
  const requests = callsOf(module.name, module.instance);
  /** The consumer, from the first message on. @type {ReturnType<typeof consumerOf> | undefined} */
  let consumer;

  const recover = () => {
    requests.recover();
    consumer?.recover();
  };

  // wasm-bindgen-futures runs all tasks in microtasks. In workerd `queueMicrotask` takes 2 µs, and a promise's `then` a
  // tenth of that. Also, an exception is caught here before anything else calls the instance that it broke.
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
    context.waitUntil(call.end(ended)); // otherwise, if the caller hung up, wasm would hold the request's memory forever
    const made = await ended;
    forget();
    const response = made ?? keepHttps(request, module.broken(request, call.id)); // made here, because workerd ties a response to the request that made it
    response.headers.set("x-request-id", call.id);
    return response;
  }

  /**
   * Consumes a batch of messages. Each message gets its own outcome. The batch fails only if a message cannot be
   * acknowledged or retried.
   */
  async function consume({ queue, messages }, env) {
    consumer ??= consumerOf(startConsumer());
    await Promise.all(messages.map((message) => consumer.deliver(message, queue, env)));
  }

  /** Returns true if a handler ended without breaking the instance. */
  async function ends(handle) {
    const { ended, forget } = requests.call(() => handle().then(() => true));
    const isDone = await ended;
    forget();
    return isDone;
  }

  /** Passes a batch to the module, which acknowledges or retries each message, unless its instance breaks. */
  async function take(batch, env) {
    const isDone = await ends(() => module.queue(batch, env));
    if (!isDone) batch.retryAll({ delaySeconds: AGAIN_SECONDS });
  }

  const schedule = (_, env) => ends(() => module.scheduled(env));

  if (startConsumer) return { fetch: answer, queue: consume };
  return module.queue ? { fetch: answer, queue: take, scheduled: schedule } : { fetch: answer };
}

/** The context of a request. The module gets it in place of the platform's context. */
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

  /** The ID of the request: the platform's, or a random one if it has none. */
  get id() {
    this.#id ??= idOf(this.#request);
    return this.#id;
  }

  /** Makes the platform continue with a promise after the answer. Call it before the answer. */
  waitUntil(promise) {
    this.#later = Promise.all([this.#later, promise]);
  }

  /**
   * Returns a promise that is fulfilled once the answer is made and all later work has ended. It is a single promise,
   * because the platform takes 5 µs for each.
   */
  end(answered) {
    return answered.then(() => this.#later);
  }

  /** The identity of the caller, if Cloudflare Access protects the Worker. */
  get access() {
    return this.#context.access;
  }
}

/** The state of a notification that is being sent. It outlives the instance that sends it. */
class Sending {
  /** @type {Promise<unknown> | undefined} */
  #sent;
  #mark = async () => {};

  /** @param {string} token identifies the delivery, and stays the same if the delivery restarts */
  constructor(token) {
    this.token = token;
  }

  /**
   * Remembers a notification that is being sent; the module calls this. If the mail service accepts an e-mail, `sent` is
   * fulfilled. If an adapter accepts a message, `sent` is fulfilled with a response of success. The other arguments are
   * for the write of the marker, which must follow then.
   */
  begin(sent, records, name, value, options) {
    this.#sent = sent;
    this.#mark = async () => records.put(name, value, options);
  }

  /**
   * Returns the state of the notification after the instance broke. If it was sent, writes its marker; the message is
   * acknowledged even if that fails.
   * @returns {Promise<"sent" | "unsent" | "unknown">}
   */
  async end() {
    if (typeof this.#sent?.then !== "function") return "unsent";
    const isSent = await outcome(accepted(this.#sent), SEND_MS);
    if (isSent) await outcome(this.#mark(), WRITE_MS);
    if (isSent === undefined) return "unknown";
    return isSent ? "sent" : "unsent";
  }
}

/** Returns a promise that is fulfilled as `sent` is, but rejected for a response that is no success. */
async function accepted(sent) {
  const answer = await sent;
  if (answer instanceof Response && !answer.ok) throw new Error("refused");
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Returns a promise of `true` if `promise` is fulfilled, `false` if it is rejected, `undefined` if it takes longer. */
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
  /**
   * The time until which new messages wait: for the messages of a broken instance, or for a message that is delivered
   * alone.
   */
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

  /** Calls `act` while no other message uses the instance. Concurrent calls of `alone` run one after the other. */
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
   * Delivers a message. Returns "done" if the consumer has acknowledged or retried it, or the state of its notification if the
   * instance broke.
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
   * Delivers a message. If the instance breaks, perhaps because of another message, the message is delivered again alone
   * in a new instance. It is retried later if the new instance also breaks, or if the notification may have been sent.
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

/** Keeps track of the calls that wait for an instance of the module. `name` is for the log. */
function callsOf(name, instance, onBreak = () => {}) {
  const waiting = new Map(); // by number, because a set would have to hash each function
  let served = instance();
  let last = 0;

  function recover() {
    const before = served;
    served = instance();
    if (served === before) return;
    onBreak();
    console.error(
      JSON.stringify({ cause: `the ${name} broke and restarts`, waiting: waiting.size }),
    );
    for (const answer of waiting.values()) answer();
    waiting.clear();
  }

  /** Calls a handler. `ended` resolves to its outcome, or to `undefined` if the instance broke. */
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
    // Calls that the platform drops leave their entries. Above the maximum, the oldest entry is forgotten.
    if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value);
    return { ended, forget: () => waiting.delete(number) };
  }

  return { call, recover };
}

/** Returns the request's ID. `CF-Ray` is checked: outside Cloudflare, callers can set it to anything. */
function idOf(request) {
  try {
    const ray = request.headers.get("cf-ray");
    return /^[0-9a-fA-F]{16}-[A-Z]{3}$/.test(ray) ? ray : crypto.randomUUID();
  } catch {
    return crypto.randomUUID();
  }
}

const LOOPBACK = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** Tells browsers to use HTTPS from now on, as `keep_https` in `src/http/response.rs` does for all other answers. */
function keepHttps(request, response) {
  try {
    const { protocol, hostname } = new URL(request.url);
    if (protocol === "https:" && !LOOPBACK.test(hostname))
      response.headers.set("strict-transport-security", "max-age=31536000");
  } catch {} // a request without a valid URL gets the answer unchanged
  return response;
}

/** Returns whether the request is a POST. If reading the method throws, so that the module fails as well, it counts as one. */
export function changes(request) {
  try {
    return request.method === "POST";
  } catch {
    return true;
  }
}
