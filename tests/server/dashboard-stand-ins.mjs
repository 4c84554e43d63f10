/**
 * The dashboard with platform objects that misbehave: the headers `x-access` and `x-kv` of a request say which; without
 * them it has the real ones. `x-speed`: until the next request, timers run so many times as fast.
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

/** What Access says, by name. */
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

/** What a call of KV does, by name; each gets the real namespace. */
const CALLS = {
  throws: () => fail("at once"),
  hangs: never,
  // As workerd says it of over 25 MB.
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

/** A request that the module does not expect: it breaks the instance. */
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
      const [, kind] = new URL(request.url).pathname.split("/"); // what follows can be a unit's ID
      console.log(JSON.stringify({ waitUntil: `/${kind}` }));
      context.waitUntil(promise);
    };
    const own = {
      waitUntil,
      access: isKnown ? ACCESS[access ?? ""] : identity({ email: access }),
    };
    const bindings = of("x-kv") ? { ...env, PLEDGES: namespace(env.PLEDGES, of("x-kv")) } : env;
    return dashboard.fetch(
      of("x-break") ? breaking(request) : request,
      bindings,
      access === null ? { waitUntil, access: context.access } : own,
    );
  },
};
