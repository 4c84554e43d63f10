/**
 * Runs the dashboard with platform objects that misbehave. The headers `x-access`, `x-kv`, `x-d1` and `x-r2` of a
 * request choose the objects. Without such a header, the real object is used. The header `x-speed` makes timers
 * run this many times as fast, until the next request. The header `x-mail` binds a mail service, which logs e-mails, or throws an
 * error with the header's value as its code. A request to `/batch` delivers a batch of ledger messages. A request to `/cron` runs the cron job.
 */
import dashboard from "../../build/dashboard/worker.js";

let speed = 1;
const { setTimeout } = globalThis;
const timer = (act, milliseconds) => setTimeout(act, milliseconds / speed);
globalThis.setTimeout = /** @type {any} */ (timer);

const never = () => new Promise(() => {});
const fail = (message) => {
  throw new Error(message);
};
const identity = (claims) => ({ aud: "a", getIdentity: async () => claims });

/** Stand-ins for the object that Cloudflare Access passes to a Worker to identify a person. The keys name the cases. */
const ACCESS = {
  "is not there": undefined,
  "knows a service token": identity(undefined),
  "knows null": identity(null),
  "knows no address": identity({ name: "Ada" }),
  "knows an empty address": identity({ email: " " }),
  "knows a number": identity({ email: 7 }),
  "answers without a promise": { getIdentity: () => ({ email: "support@small-hours.example" }) },
  throws: { getIdentity: () => fail("of canary@example.org") },
  refuses: { getIdentity: () => Promise.reject(new Error("of canary@example.org")) },
  hangs: { getIdentity: never },
  "has an address that throws": identity({
    get email() {
      return fail("of canary@example.org");
    },
  }),
};

/** Misbehaving calls of KV, by name. Each function gets the real namespace. */
const CALLS = {
  throws: () => fail("at once"),
  hangs: never,
  // workerd's message for more than 25 MB.
  "takes no 100 names": (kv, names, ...more) =>
    Array.isArray(names)
      ? Promise.reject(new Error("KV GET_BULK failed: 413 Payload Too Large"))
      : kv.get(names, ...more),
};
const ALL = ["get", "getWithMetadata", "list", "put", "delete"];

function namespace(kv, name) {
  const call = CALLS[name];
  const stoodIn = (method) =>
    method === "get" || name !== "takes no 100 names" ? call : undefined;
  const bound =
    (method) =>
    (...args) =>
      (stoodIn(method) ?? (() => kv[method](...args)))(kv, ...args);
  return Object.fromEntries(ALL.map((method) => [method, bound(method)]));
}

/** Returns a call that fails `often` times, and then runs on the real database. */
function failingOnce(text, often = 1) {
  let left = often;
  return (run) => {
    left -= 1;
    return left >= 0 ? Promise.reject(new Error(`D1_ERROR: ${text}`)) : run();
  };
}

/** Misbehaving batch calls of D1, by name. Each function gets the real call. */
const BATCHES = {
  throws: () => () => fail("at once"),
  hangs: () => never,
  "is overloaded": () => failingOnce("D1 DB is overloaded. Requests queued for too long.", 1_000),
  "is busy twice": () => failingOnce("database is locked: SQLITE_BUSY", 2),
  "is busy thrice": () => failingOnce("database is locked: SQLITE_BUSY", 3),
  "loses an answer": () => {
    let isLost = false;
    return async (run) => {
      const answers = await run();
      if (isLost) return answers;
      isLost = true;
      return fail("D1_ERROR: Network connection lost.");
    };
  },
  "loses all answers": () => async (run) => {
    await run();
    return fail("D1_ERROR: Network connection lost.");
  },
  "has no tables": () => failingOnce("no such table: transactions: SQLITE_ERROR", 1_000),
  "answers nothing": () => async () => undefined,
  "answers null": () => async () => [null],
  "answers numbers": () => async () => [{ results: [{ a: 1 }] }],
};

/** Returns a database that logs each batch, so that tests can count the batches. */
function database(d1, name) {
  if (name === "is not there") return undefined;
  const batch = BATCHES[name]();
  return {
    prepare: (sql) => d1.prepare(sql),
    batch(statements) {
      console.log(JSON.stringify({ d1: name }));
      return batch(() => d1.batch(statements));
    },
  };
}

/**
 * Delivers the request's bodies as a batch of the queue. A body that is an object is delivered as JSON. Answers
 * with the outcome of each message: `acked`, or the seconds until its retry.
 */
async function take(request, env) {
  const verdicts = {};
  const verdict = (at, is) => {
    verdicts[at] ??= is;
  };
  const bodies = await request.json();
  const messages = bodies.map((body, at) => ({
    body: typeof body === "object" ? JSON.stringify(body) : body,
    get attempts() {
      return body === "poison" ? fail("plain") : 1; // it breaks the instance
    },
    ack: () => verdict(at, "acked"),
    retry: ({ delaySeconds }) => verdict(at, delaySeconds),
  }));
  const retryAll = ({ delaySeconds }) => {
    for (const at of bodies.keys()) verdict(at, delaySeconds);
  };
  await dashboard.queue(/** @type {any} */ ({ messages, retryAll }), env);
  return Response.json(bodies.map((_, at) => verdicts[at] ?? null));
}

/** Returns a binding of a mail service. `how` is `sends`, or the code of its error. */
const mailService = (how) => ({
  async send(mail) {
    console.log(JSON.stringify({ mail }));
    if (how !== "sends") throw Object.assign(new Error("of canary@example.org"), { code: how });
    return { messageId: "<1@small-hours.example>" };
  },
});

async function cron(env) {
  await dashboard.scheduled({ cron: "*/5 * * * *" }, env);
  return new Response("done");
}

/** Returns a request that breaks the Worker's instance when the Worker handles the request. */
const breaking = ({ url, headers }) => ({
  url,
  headers,
  get method() {
    return fail("plain");
  },
});

export default {
  ...dashboard,
  fetch(request, env, context) {
    const of = (name) => request.headers.get(name);
    speed = Number(of("x-speed") ?? 1);
    const access = of("x-access");
    const isKnown = access === null || access in ACCESS;
    const waitUntil = (promise) => {
      if (!(promise instanceof Promise)) throw new Error("nothing is waited for");
      const [, kind] = new URL(request.url).pathname.split("/"); // the rest can be a unit's ID
      console.log(JSON.stringify({ waitUntil: `/${kind}` }));
      context.waitUntil(promise);
    };
    const own = {
      waitUntil,
      access: isKnown ? ACCESS[access ?? ""] : identity({ email: access }),
    };
    const bindings = { ...env };
    if (of("x-kv")) bindings.PLEDGES = namespace(env.PLEDGES, of("x-kv"));
    if (of("x-d1")) bindings.LEDGER_DB = database(env.LEDGER_DB, of("x-d1"));
    if (of("x-r2")) bindings.PICTURES = { put: CALLS[of("x-r2")] };
    if (of("x-mail")) bindings.EMAIL = mailService(of("x-mail"));
    if (request.url.endsWith("/batch")) return take(request, bindings);
    if (request.url.endsWith("/cron")) return cron(bindings);
    return dashboard.fetch(
      of("x-break") ? breaking(request) : request,
      bindings,
      access === null ? { waitUntil, access: context.access } : own,
    );
  },
};
