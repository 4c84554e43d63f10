/**
 * Runs the service with platform objects that misbehave.
 *
 * Headers of a request choose the objects: `x-ledger` chooses the ledger's queue, and `x-stand-in` most other
 * objects. Until the next request, timers run faster by the factor in `x-speed`. A factor below 1 slows the
 * clock, too, so that no deadline passes during a test. The log still shows the durations that the code has
 * set.
 *
 * The header `x-mail` binds a mail service for requests. A Worker reads this from the first request.
 *
 * A request to `/delivery` delivers a message of the queue. A request to `/taken` returns what the queue and
 * the mail services have received.
 */
// @ts-expect-error a module of the platform's
import { WorkerEntrypoint } from "cloudflare:workers";
import service from "../../build/worker.js";

let speed = 1;
const { now } = Date;
const { setTimeout } = globalThis;
const { IdentityTransformStream } = /** @type {any} */ (globalThis);
const timer = (act, milliseconds) => {
  const isNoted = speed > 1;
  if (isNoted) console.log(JSON.stringify({ timer: milliseconds }));
  const ring = () => {
    if (isNoted) console.log(JSON.stringify({ rings: milliseconds }));
    act();
  };
  return setTimeout(ring, milliseconds / speed);
};
globalThis.setTimeout = /** @type {any} */ (timer);

let slowSince = 0;
/** The number of milliseconds by which the test's clock moves ahead during a delivery. */
let after = 0;
Date.now = () => after + (speed < 1 ? slowSince + (now() - slowSince) * speed : now());
function setSpeed(factor) {
  if (factor < 1 && speed >= 1) slowSince = now();
  speed = factor;
}

const never = () => new Promise(() => {});
const later = () => new Promise((resolve) => setTimeout(resolve, 100));
/** @param {unknown} value @param {object | null} [metadata] */
const found = (value, metadata = null) => Promise.resolve({ value, metadata });
const fail = (thrown) => {
  throw thrown;
};
const exhaustStack = () => 1 + exhaustStack();
const empty = () => new Response("{}").body;
const endless = () => new ReadableStream({ pull: never });

/**
 * Returns a namespace whose records throw when their metadata is read. The service's code does not expect
 * such an error.
 */
const throwing = (what) => ({
  getWithMetadata: () =>
    Promise.resolve({
      value: empty(),
      get metadata() {
        return what();
      },
    }),
});

/**
 * Returns a context that logs each call of `waitUntil`. Unlike the platform's `waitUntil`, this one throws if
 * its argument is not a promise.
 */
const noted = (context, { method, url }) => ({
  waitUntil(promise) {
    if (!(promise instanceof Promise)) throw new Error("nothing is waited for");
    console.log(JSON.stringify({ waitUntil: `${method} ${new URL(url).pathname}` }));
    context.waitUntil(promise);
  },
});

/** Logs that a record of this kind is read or written. */
const note = (call, name, options) =>
  console.log(JSON.stringify({ [call]: name.split(":")[0], options }));

const body = (value) => new Response(JSON.stringify(value)).body;

/**
 * Returns a namespace with a transaction of a month that has ended. `settlement` returns the record that
 * says whether the month was paid.
 */
const paid = (month, settlement) => (kv) => ({
  getWithMetadata: async (name, options) => {
    if (name.startsWith("key:")) return kv.getWithMetadata(name, options);
    const summary = { createdAt: `${month}-30T23:59:59.999Z` };
    const metadata = { mode: "test", unit: "unit_dev", editKey: "", bytes: 15, summary };
    if (name.startsWith("transaction:")) return found(body({ paidAt: null }), metadata);
    note("get", name, options);
    return settlement();
  },
});

/** Misbehaving KV namespaces, by name. Each function gets the real namespace. */
const NAMESPACES = {
  "its calls are noted": (kv) => ({
    getWithMetadata: (name, options) => {
      note("get", name, options);
      return kv.getWithMetadata(name, options);
    },
    put: (name, value, options) => {
      note("put", name, Object.keys(options));
      return kv.put(name, value, options);
    },
  }),
  "KV is slow": (kv) => ({
    getWithMetadata: async (name, options) => {
      note("asked", name);
      await later();
      note("answers", name);
      return kv.getWithMetadata(name, options);
    },
    put: async (...args) => (await later()) ?? kv.put(...args),
  }),
  "get hangs": () => ({ getWithMetadata: never }),
  "value hangs": () => ({ getWithMetadata: () => found(endless()) }),
  "a profile hangs": (kv) => ({
    getWithMetadata: (name, options) =>
      name.startsWith("profile:") ? never() : kv.getWithMetadata(name, options),
    put: (...args) => kv.put(...args),
  }),
  "a profile's value hangs": (kv) => ({
    getWithMetadata: (name, options) =>
      name.startsWith("profile:") ? found(endless()) : kv.getWithMetadata(name, options),
  }),
  "a settlement comes late": paid("2025-10", async () => {
    await later();
    return found(body({ paidAt: "2025-11-05T00:00:00.000Z" }));
  }),
  "a settlement hangs": paid("2025-11", never),
  "a mark is refused": (kv) => ({
    getWithMetadata: (...args) => kv.getWithMetadata(...args),
    put: (name, ...args) =>
      name.startsWith("ledger-unsent:") ? Promise.reject(new Error("no")) : kv.put(name, ...args),
  }),
  "put hangs": (kv) => ({ getWithMetadata: (...args) => kv.getWithMetadata(...args), put: never }),
  "get throws an Error": () => ({ getWithMetadata: () => fail(new Error("at once")) }),
  "get is rejected with a string": () => ({ getWithMetadata: () => Promise.reject("later") }),
  "get is rejected with undefined": () => ({ getWithMetadata: () => Promise.reject() }),
  "value breaks off": () => ({
    getWithMetadata: () => found(new ReadableStream({ pull: () => fail(new Error("broken")) })),
  }),
  "there is none": () => undefined,
  "metadata throws an Error": () => throwing(() => fail(new Error("plain"))),
  "metadata throws undefined": () => throwing(() => fail(undefined)),
  "metadata exhausts the stack": () => throwing(exhaustStack),
  "metadata traps": () => throwing(() => fail(new WebAssembly.RuntimeError("unreachable"))),
};

/** Rate limits by name. */
const LIMITS = {
  "the limit is over": { limit: async () => ({ success: false }) },
  "the limit is no limit": {},
  "the limit answers nothing": { limit: () => undefined },
  "the limit answers undefined": { limit: async () => undefined },
  "the limit answers null": { limit: async () => null },
  "the limit answers {}": { limit: async () => ({}) },
  "the limit's answer throws": {
    limit: async () => ({
      get success() {
        return fail(new Error("plain"));
      },
    }),
  },
};

/**
 * Returns a stream with one chunk that misreports its length. Each read of the chunk's length returns the
 * next value of `lengths`.
 */
const lying = (...lengths) => ({
  getReader: () => ({
    readAtLeast: async () => ({
      value: {
        get length() {
          return lengths.shift();
        },
      },
    }),
  }),
});

// ---- The queue and the mail services ---------------------------------------------------------------

const EMAIL = "ada@example.org";

/** What the queue and the mail services have received. */
const taken = [];
const take = (what) => {
  taken.push(what);
  return { messageId: `<${taken.length}@coffee.example>` };
};

/** A stand-in for a mail service, which the Worker reaches through a service binding. */
export class Mailer extends WorkerEntrypoint {
  async send(mail) {
    return take(mail);
  }
}

const QUEUES = {
  "the queue works": { send: async (message, options) => take({ message, options }) },
  "the queue fails": { send: () => fail(new Error("at once")) },
  "the queue fails later": { send: () => Promise.reject("later") },
  "the queue answers nothing": { send: () => undefined },
  "the queue is none": {},
  "the queue hangs": { send: never },
};

/** Returns an error as a mail service might throw it. Its text contains the recipient's address. */
const about = (code) => Object.assign(new Error(`${EMAIL} is refused`), { code });

const MAILERS = {
  "mail is sent": (mailer) => mailer,
  "mail is sent later": (mailer) => ({
    send: async (mail) => (await later()) ?? mailer.send(mail),
  }),
  "mail is sent, without an ID": () => ({ send: async (mail) => void take(mail) }),
  "mail is refused": () => ({ send: () => fail(about("E_RECIPIENT_SUPPRESSED")) }),
  "mail fails": () => ({ send: () => Promise.reject(about("E_INTERNAL_SERVER_ERROR")) }),
  "mail's code is an address": () => ({ send: () => Promise.reject(about(EMAIL)) }),
  "mail's code throws": () => ({
    send: () =>
      Promise.reject({
        get code() {
          return fail(about());
        },
      }),
  }),
  "mail fails with a text": () => ({ send: () => fail(EMAIL) }),
  "mail answers nothing": () => ({ send: () => undefined }),
  "mail is none": () => ({}),
  "mail hangs": () => ({ send: never }),
  "mail's quota is used up": () => ({
    send: () => Promise.reject(about("E_DAILY_LIMIT_EXCEEDED")),
  }),
  "mail is sent after its instance broke": (mailer, poison) => ({
    send: async (mail) => (await poison()) ?? mailer.send(mail),
  }),
  "mail hangs after its instance broke": (_, poison) => ({
    send: async () => (await poison()) ?? never(),
  }),
};

const answer = (status, name, headers = {}) =>
  Response.json({ name, message: `${EMAIL} is refused` }, { status, headers });
const sent = () => Response.json({ id: "4ef2" });

/** Answers of the mail service Resend, by name. Requests get them in order. */
const RESENDS = {
  "Resend sends": [sent],
  "Resend is busy for a second": [
    () => answer(429, "rate_limit_exceeded", { "retry-after": "1" }),
    sent,
  ],
  "Resend is busy until tomorrow": [
    () => answer(429, "daily_quota_exceeded", { "retry-after": "40000" }),
  ],
  "Resend has it in hand": [() => answer(409, "concurrent_idempotent_requests")],
  "Resend has sent it before": [() => answer(409, "invalid_idempotent_request")],
  "Resend refuses": [() => answer(422, "validation_error")],
  "Resend answers HTML": [() => new Response(`<p>${EMAIL}`, { status: 502 })],
  "Resend redirects": [() => Response.redirect("https://elsewhere.example/", 307)],
  "Resend's answer stalls": [() => new Response(new IdentityTransformStream().readable)],
  "Resend's answer never ends": [() => new Response(spaces(), { status: 500 })],
  "Resend hangs": [never],
  "Resend cannot be reached": [() => Promise.reject(new Error(EMAIL))],
};

/** A stream of spaces. */
function spaces() {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const write = () => writer.write(new Uint8Array(65_536).fill(32)).then(write, () => {});
  write();
  return readable;
}

let answers = [];
/**
 * The adapter of a messaging service: an HTTP server that the test runs.
 * @type {{fetch: typeof fetch} | undefined}
 */
let adapter;
globalThis.fetch = async (request) => {
  if (adapter) return adapter.fetch(request);
  const { url, redirect, headers } = request;
  take({ url, redirect, key: headers.get("idempotency-key"), mail: await request.json() });
  return answers.length > 1 ? answers.shift()() : answers[0]();
};

/**
 * Misbehaving adapters of messaging services, by name, for a service binding. Each function gets the real
 * adapter.
 */
const ADAPTERS = {
  "the instance breaks while the adapter answers": (real, poison) => ({
    fetch: async (request) => (await poison()) ?? real.fetch(request),
  }),
  "the adapter is none": () => ({}),
  "the adapter answers nothing": () => ({ fetch: () => undefined }),
  "the adapter answers no response": () => ({ fetch: async () => ({ status: 200 }) }),
};

/**
 * The names of the records that deliveries have written. Tests need them, because workerd's KV service
 * cannot list records.
 */
const names = new Set();

/** Delivers a message that makes the receiving WebAssembly instance fail, so that it cannot be used again. */
async function poison(queue, env) {
  const body = {
    id: `ptran_${"a".repeat(42)}`,
    createdAt: "2026-11-21T01:02:03.000Z",
    round: 1,
    service: "Email",
  };
  const messages = [{ body, attempts: 1, ack: () => {}, retry: () => {} }];
  await service.queue({ queue, messages }, { ...env, PLEDGES: NAMESPACES["metadata traps"]() });
}

/** Delivers a message, and answers with its outcome. */
async function deliver(request, env, context, name) {
  answers = [...(RESENDS[name] ?? [])];
  const { queue, body, attempts, apiKey, variables, bound = [], ...more } = await request.json();
  adapter = env.ADAPTER;
  after = more.after ?? 0;
  const stoodIn = ADAPTERS[name]?.(env.ADAPTER, () => poison(queue, env)) ?? env.ADAPTER;
  const delivery = {};
  const retry = (options) => void Object.assign(delivery, { retry: options });
  const ack = () => void Object.assign(delivery, { ack: true });
  const bindings = {
    PUBLIC_ORIGIN: "https://pledges.example",
    MAIL_FROM: "pledges@coffee.example",
    EMAIL: MAILERS[name]?.(context.exports.Mailer, () => poison(queue, env)),
    RESEND_API_KEY: name in RESENDS ? (apiKey ?? "re_key") : undefined,
    PLEDGES: { ...NAMESPACES[name]?.(env.PLEDGES) },
    ...variables,
    ...Object.fromEntries(bound.map((binding) => [binding, stoodIn])),
  };
  bindings.PLEDGES.getWithMetadata ??= (...args) => env.PLEDGES.getWithMetadata(...args);
  bindings.PLEDGES.put ??= (name, ...args) => {
    names.add(name);
    return env.PLEDGES.put(name, ...args);
  };
  bindings.PLEDGES.list = async ({ prefix }) => ({
    keys: [...names].filter((name) => name.startsWith(prefix)).map((name) => ({ name })),
    list_complete: true,
  });
  const batch = { queue, messages: [{ body, attempts, ack, retry }] };
  await service.queue(batch, { ...env, ...bindings });
  adapter = undefined;
  after = 0;
  return Response.json(delivery);
}

function without(headers, name) {
  const rest = new Headers(headers);
  rest.delete(name);
  return rest;
}

/** Stand-ins for the class `Request`, by name. */
const REQUESTS = {
  // A Rust vector on wasm32 must be smaller than 2 GiB: the module panics, then traps.
  "body makes it panic": ({ url, method, headers }) => ({
    url,
    method,
    headers: without(headers, "content-length"),
    body: lying(1, 2 ** 31),
  }),
  "method throws an Error": brokenAt,
  "method throws an Error, by HTTPS": (request) => brokenAt(request, "https://pledges.example/"),
};

function brokenAt({ headers, url: own }, url = own) {
  return {
    url,
    headers,
    get method() {
      return fail(new Error("plain"));
    },
  };
}

export default {
  fetch(request, env, context) {
    setSpeed(Number(request.headers.get("x-speed") ?? 1));
    const name = request.headers.get("x-stand-in");
    const { pathname } = new URL(request.url);
    if (pathname === "/delivery") return deliver(request, env, context, name);
    if (pathname === "/taken") return Response.json(taken.splice(0));
    const PLEDGES = name in NAMESPACES ? NAMESPACES[name](env.PLEDGES) : env.PLEDGES;
    const queues = { NOTIFICATIONS: QUEUES[name], LEDGER: QUEUES[request.headers.get("x-ledger")] };
    const mail = request.headers.has("x-mail") && {
      PUBLIC_ORIGIN: "https://pledges.example",
      MAIL_FROM: "pledges@coffee.example",
      EMAIL: context.exports.Mailer,
    };
    const stoodIn = { ...env, PLEDGES, REFUSED_KEYS: LIMITS[name], ...queues, ...mail };
    const ours = name === "its calls are noted" ? noted(context, request) : context;
    return service.fetch(REQUESTS[name]?.(request) ?? request, stoodIn, ours);
  },
};
