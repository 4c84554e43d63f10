/** Maximum number of waiting calls that are remembered: far more than an isolate serves at once. */
const MAX_WAITING = 10_000;

/**
 * The longest time that other messages wait while one message is delivered alone, in milliseconds. The wait
 * is limited because the platform may end the delivery without notice.
 */
const TURN_MS = 60_000;
/**
 * How long new messages wait after the instance broke (`SOON_MS`), and how often they check whether the wait
 * is over (`LOOK_MS`), in milliseconds.
 */
const SOON_MS = 200;
const LOOK_MS = 20;
/** A message that broke its instance is delivered again after this many seconds. */
const AGAIN_SECONDS = 60;
/**
 * Deadlines after an instance broke, in milliseconds. `SEND_MS` is for the answer to a request that the
 * instance has sent to the mail service or to an adapter. `WRITE_MS` is for writing the marker, which
 * records a sent notification in Workers KV.
 */
const SEND_MS = 15_000;
const WRITE_MS = 15_000;

/**
 * A wasm module.
 *
 * - `name` is for the log.
 * - `instance` returns the number of the current instance. If the current instance broke, it first starts a
 *   new one.
 * - `broken` makes the answer to a request whose instance broke.
 * - `queue` and `scheduled` use the same instance as the requests.
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
 * Makes the Worker's handlers, which call a wasm module. If the module's instance breaks by an uncaught
 * exception, its waiting calls would never end. So the handlers answer the waiting requests with an error, and
 * deliver the waiting messages again. At the next call, the `worker` crate starts a new instance.
 *
 * Messages are delivered concurrently, in an instance of their own. A message that breaks this instance
 * affects no request. The other messages lose no delivery attempt, and no notification is sent twice.
 * @type {((module: Module & Background) => {fetch: Handler, queue: TakeBatch, scheduled: Scheduled}) & ((module: Module) => {fetch: Handler}) & ((module: Module, startConsumer: StartConsumer) => {fetch: Handler, queue: Queue})}
 */
export const recovering = /** @type {any} */ (handlersOf);

/**
 * Makes the handlers of a module.
 * @param {Module} module
 * @param {StartConsumer} [startConsumer] given if the Worker consumes the notification queue in an instance of its own
 */
function handlersOf(module, startConsumer) {
  const requests = callsOf(module.name, module.instance);
  /**
   * The consumer. The first message starts it.
   * @type {ReturnType<typeof consumerOf> | undefined}
   */
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
   * Delivers the messages of a batch. Each message is acknowledged or retried on its own. The batch fails
   * only if a message cannot be acknowledged or retried.
   */
  async function consume({ queue, messages }, env) {
    consumer ??= consumerOf(startConsumer());
    await Promise.all(messages.map((message) => consumer.deliver(message, queue, env)));
  }

  /** Calls a handler. Returns true if it ended without breaking the instance. */
  async function ends(handle) {
    const { ended, forget } = requests.call(() => handle().then(() => true));
    const isDone = await ended;
    forget();
    return isDone;
  }

  /**
   * Passes a batch to the module, which acknowledges or retries each message. If its instance breaks, retries
   * the whole batch.
   */
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

  /** The ID of the request: the platform's ID, or a random ID if the platform gave none. */
  get id() {
    this.#id ??= idOf(this.#request);
    return this.#id;
  }

  /**
   * Keeps the platform running after the answer, until a promise has settled. Call this before the answer.
   */
  waitUntil(promise) {
    this.#later = Promise.all([this.#later, promise]);
  }

  /**
   * Returns a promise that is fulfilled once the answer is made and all later work has ended. A request has
   * only one such promise, because each costs the platform 5 µs.
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
   * Remembers a notification that the module is sending. For an e-mail, `sent` is fulfilled once the mail
   * service accepts it. For a message, `sent` is fulfilled with the adapter's response. The other arguments
   * are for writing the marker, the record that the notification was sent.
   */
  begin(sent, records, name, value, options) {
    this.#sent = sent;
    this.#mark = async () => records.put(name, value, options);
  }

  /**
   * Finds out whether the notification was sent, after the wasm instance broke. If so, writes its marker, which
   * is the record that it was sent. If this write fails, the result is still "sent".
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

/**
 * Waits for the answer of a mail service or an adapter. Throws if `sent` is rejected, or if the answer is a
 * response without success.
 */
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
   * The time until which new messages wait, in milliseconds since 1970. They wait after the instance broke,
   * and while one message is delivered alone.
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
   * Delivers a message. Returns "done" if the consumer has acknowledged or retried it. If the instance broke,
   * returns the state of the message's notification instead.
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
   * Delivers a message. Any message may break the instance that all of them share. If the instance breaks
   * before the notification is sent, delivers the message again, alone in a new instance. If that instance
   * breaks too, or if it is unknown whether the notification was sent, leaves the message to a later retry.
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

/**
 * Keeps track of the calls that wait for an instance of the module. If the instance breaks, ends these calls.
 * `name` is the module's name for the log.
 */
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

/**
 * Returns the request's ID: a valid `CF-Ray` header, or else a random ID. The header is checked, because
 * outside Cloudflare callers can set it to anything.
 */
function idOf(request) {
  try {
    const ray = request.headers.get("cf-ray");
    return /^[0-9a-fA-F]{16}-[A-Z]{3}$/.test(ray) ? ray : crypto.randomUUID();
  } catch {
    return crypto.randomUUID();
  }
}

const LOOPBACK = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** Tells browsers to use HTTPS from now on, as `keep_https` in `src/pledges/http/response.rs` does for all other answers. */
function keepHttps(request, response) {
  try {
    const { protocol, hostname } = new URL(request.url);
    if (protocol === "https:" && !LOOPBACK.test(hostname))
      response.headers.set("strict-transport-security", "max-age=31536000");
  } catch {} // a request without a valid URL gets the answer unchanged
  return response;
}

/** Returns whether the request may change something: it is a POST, or its method cannot be read. */
export function changes(request) {
  try {
    return request.method === "POST";
  } catch {
    return true;
  }
}
