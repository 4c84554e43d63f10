/** Reads the options of `PledgeClient` and its calls: each is checked, and an error names the one that is wrong. */
import { PledgeError } from "./errors.js";
import { quietly } from "./redact.js";

const MAX_TIMEOUT_MS = 2 ** 31 - 1; // what timers take
const MAX_RETRIES = 10;
const text = typed("string", "a string"), flag = typed("boolean", "true or false");

const CLIENT = {
  apiKey: text,
  baseUrl: address,
  unitId: optional(text),
  timeoutMs: optional(whole(1, MAX_TIMEOUT_MS)),
  maxRetries: optional(whole(0, MAX_RETRIES)),
  safeRepeats: optional(flag),
  fetch: optional(fetcher),
  dangerouslyAllowBrowser: optional(flag),
  dangerouslyAllowHttp: optional(flag),
};

const GET = { unitId: CLIENT.unitId, timeoutMs: CLIENT.timeoutMs, signal: optional(abortSignal) };
const CREATE = { ...GET, idempotencyKey: optional(text) };
const DEFAULTS = { timeoutMs: 30_000, maxRetries: 2, safeRepeats: false };

export const clientOptions = (options) => ({ ...DEFAULTS, ...read(CLIENT, options) });
export const createOptions = (options) => read(CREATE, options ?? {});
export const getOptions = (options) => read(GET, options ?? {});

export const invalid = (message, cause) => new PledgeError("invalid_argument", message, { cause });

/** Every option is read once: what is checked is what is used. */
function read(readers, options) {
  if (options === null || typeof options !== "object") throw invalid(`the options must be an object, not ${kindOf(options)}`);
  const names = reading("options", () => Object.keys(options));
  const unknown = names.find((name) => !Object.hasOwn(readers, name));
  if (unknown !== undefined) throw invalid(`\`${unknown}\` is not an option here; the options are ${list(Object.keys(readers))}`);
  const entries = Object.entries(readers).map(([name, reader]) => [name, reader(name, reading(name, () => options[name]))]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function reading(name, get) {
  try {
    return get();
  } catch (cause) {
    throw invalid(`\`${name}\` can't be read`, cause);
  }
}

function optional(reader) {
  return (name, value) => (value === undefined || value === null ? undefined : reader(name, value));
}

function typed(type, what) {
  return (name, value) => {
    if (typeof value === type) return value;
    throw invalid(`\`${name}\` must be ${what}, not ${kindOf(value)}`);
  };
}

function whole(least, most) {
  return (name, value) => {
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw invalid(`\`${name}\` must be a whole number from ${least} to ${most}`);
  };
}

/** Where the service is, without a slash at the end. */
function address(name, value) {
  const url = quietly(() => new URL(value));
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!plain) throw invalid(`\`${name}\` must be an http or https URL without credentials, query and fragment, such as \`https://pledges.example.org\``);
  return url.href.replace(/\/+$/, "");
}

/** A function, or an object that has one: a service binding of a Worker's. */
function fetcher(name, value) {
  if (typeof value === "function") return value;
  if (typeof reading(name, () => value.fetch) === "function") return (input, init) => value.fetch(input, init);
  throw invalid(`\`${name}\` must be a function, or an object with a function \`fetch\``);
}

function abortSignal(name, value) {
  const fits = reading(name, () => typeof value.aborted === "boolean" && typeof value.addEventListener === "function");
  if (!fits) throw invalid(`\`${name}\` must be an AbortSignal`);
  return value;
}

const kindOf = (value) => (value === null ? "null" : Array.isArray(value) ? "an array" : value === undefined ? "undefined" : `of type ${typeof value}`);
const list = (names) => names.map((name) => `\`${name}\``).join(", ");
