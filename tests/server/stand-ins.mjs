/**
 * The service with platform objects that misbehave: which ones, the header `x-stand-in` of a request says. `x-speed`:
 * until the next request, timers run so many times as fast, and the log has their times as they were set.
 */
import service from "../../build/worker.js";

let speed = 1;
const { setTimeout } = globalThis;
const timer = (act, milliseconds) => {
  if (speed > 1) console.log(JSON.stringify({ timer: milliseconds }));
  return setTimeout(act, milliseconds / speed);
};
globalThis.setTimeout = /** @type {any} */ (timer);

const never = () => new Promise(() => {});
const later = () => new Promise((resolve) => setTimeout(resolve, 100));
const found = (value, metadata = null) => Promise.resolve({ value, metadata });
const fail = (thrown) => {
  throw thrown;
};
const exhaustStack = () => 1 + exhaustStack();
const empty = () => new Response("{}").body;
const endless = () => new ReadableStream({ pull: never });

/** A record whose metadata throws when it is read, which no code of the service's expects. */
const throwing = (what) => ({
  getWithMetadata: () =>
    Promise.resolve({
      value: empty(),
      get metadata() {
        return what();
      },
    }),
});

/** Says in the log what is to end though its caller hangs up. */
const noted = (context, { url }) => ({
  waitUntil(promise) {
    console.log(JSON.stringify({ waitUntil: new URL(url).pathname.split("/")[1] }));
    context.waitUntil(promise);
  },
});

/** Says in the log which record is meant, by its kind. */
const note = (call, name, options) =>
  console.log(JSON.stringify({ [call]: name.split(":")[0], options }));

/** Namespaces of KV by their names; each has what it needs of the real one. */
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
    getWithMetadata: async (...args) => (await later()) ?? kv.getWithMetadata(...args),
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

/** Rate limits by their names. */
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

/** A stream whose one piece is longer each time that it is asked. */
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

function without(headers, name) {
  const rest = new Headers(headers);
  rest.delete(name);
  return rest;
}

/** Requests that stand in for the real one. */
const REQUESTS = {
  // No vector of Rust's on wasm32 may have 2 GiB: the module panics, and then traps.
  "body makes it panic": ({ url, method, headers }) => ({
    url,
    method,
    headers: without(headers, "content-length"),
    body: lying(1, 2 ** 31),
  }),
  "method throws an Error": ({ url, headers }) => ({
    url,
    headers,
    get method() {
      return fail(new Error("plain"));
    },
  }),
};

export default {
  fetch(request, env, context) {
    speed = Number(request.headers.get("x-speed") ?? 1);
    const name = request.headers.get("x-stand-in");
    const PLEDGES = name in NAMESPACES ? NAMESPACES[name](env.PLEDGES) : env.PLEDGES;
    const stoodIn = { ...env, PLEDGES, REFUSED_KEYS: LIMITS[name] };
    const ours = name === "its calls are noted" ? noted(context, request) : context;
    return service.fetch(REQUESTS[name]?.(request) ?? request, stoodIn, ours);
  },
};
