/** Reads the options of `PledgeClient` and its calls: each is checked, and an error names the one that is wrong. */
import { PledgeError } from "./errors.js";
import { LEVELS } from "./events.js";
import { suggest, list } from "./suggest.js";
import { quietly } from "./redact.js";

const MAX_TIMEOUT_MS = 2 ** 31 - 1; // what timers take
const MAX_RETRIES = 10;
const text = typed("string", "a string"),
  flag = typed("boolean", "true or false");

/** Of the client, and of each call. */
const SHARED = {
  unitId: optional(text),
  timeoutMs: optional(whole(1, MAX_TIMEOUT_MS)),
  deadlineMs: optional(whole(1, MAX_TIMEOUT_MS)),
  maxRetries: optional(whole(0, MAX_RETRIES)),
  headers: optional(moreHeaders),
};
const hook = optional(typed("function", "a function"));
const CLIENT = {
  apiKey: textOrFunction,
  baseUrl: address,
  ...SHARED,
  safeRepeats: optional(flag),
  fetch: optional(fetcher),
  appInfo: optional(appInfo),
  onRequest: hook,
  onResponse: hook,
  onRetry: hook,
  logger: optional(logger),
  logLevel: optional(oneOf(LEVELS)),
  dangerouslyAllowBrowser: optional(flag),
  dangerouslyAllowHttp: optional(flag),
};

const GET = { ...SHARED, signal: optional(abortSignal) };
const CREATE = { ...GET, idempotencyKey: optional(text) };
const DEFAULTS = { timeoutMs: 30_000, maxRetries: 2, safeRepeats: false, logLevel: "off" };

export { list };
export const clientOptions = (options) => ({ ...DEFAULTS, ...read(CLIENT, options) });
export const createOptions = (options) => read(CREATE, options ?? {});
export const getOptions = (options) => read(GET, options ?? {});

export const invalid = (message, cause) => new PledgeError("invalid_argument", message, { cause });

/** Every option is read once: what is checked is what is used. */
export function read(readers, options) {
  if (options === null || typeof options !== "object")
    throw invalid(`the options must be an object, not ${kindOf(options)}`);
  const names = reading("options", () => Object.keys(options));
  const unknown = names.find((name) => !Object.hasOwn(readers, name));
  if (unknown !== undefined)
    throw invalid(
      `\`${unknown}\` is not an option here; ${suggest(unknown, Object.keys(readers))}`,
    );
  const entries = Object.entries(readers).map(([name, reader]) => [
    name,
    reader(
      name,
      reading(name, () => options[name]),
    ),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function reading(name, get) {
  try {
    return get();
  } catch (cause) {
    throw invalid(`\`${name}\` can't be read`, cause);
  }
}

export function optional(reader) {
  return (name, value) => (value === undefined || value === null ? undefined : reader(name, value));
}

function typed(type, what) {
  return (name, value) => {
    if (typeof value === type) return value;
    throw invalid(`\`${name}\` must be ${what}, not ${kindOf(value)}`);
  };
}

export function oneOf(values) {
  return (name, value) => {
    if (values.includes(value)) return value;
    throw invalid(`\`${name}\` must be one of ${list(values)}`);
  };
}

function textOrFunction(name, value) {
  if (typeof value === "string" || typeof value === "function") return value;
  throw invalid(`\`${name}\` must be a string, or a function that gives one, not ${kindOf(value)}`);
}

export function whole(least, most) {
  return (name, value) => {
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw invalid(`\`${name}\` must be a whole number from ${least} to ${most}`);
  };
}

/** Where the service is, without a slash at the end. */
function address(name, value) {
  const url = quietly(() => new URL(value));
  const plain =
    url &&
    /^https?:$/.test(url.protocol) &&
    !url.username &&
    !url.password &&
    !url.search &&
    !url.hash;
  if (!plain)
    throw invalid(
      `\`${name}\` must be an http or https URL without credentials, query and fragment, such as \`https://pledges.example.org\``,
    );
  return url.href.replace(/\/+$/, "");
}

/** A function, or an object that has one: a service binding of a Worker's. */
function fetcher(name, value) {
  if (typeof value === "function") return value;
  if (typeof reading(name, () => value.fetch) === "function")
    return (input, init) => value.fetch(input, init);
  throw invalid(`\`${name}\` must be a function, or an object with a function \`fetch\``);
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,100}$/,
  HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8000}$/;
const MAX_HEADERS = 100;
/** Headers that something else decides, and what. */
const OWN_HEADERS = {
  authorization: "apiKey",
  "x-service-unit-id": "unitId",
  "idempotency-key": "idempotencyKey",
  "user-agent": "appInfo",
  "content-type": "",
  "content-length": "",
  host: "baseUrl",
};

/** Headers by their lower-case names, of an object or of `Headers`. */
export function moreHeaders(name, value) {
  const entries =
    typeof value === "object" &&
    reading(name, () =>
      Array.from(
        typeof value[Symbol.iterator] === "function" ? value : Object.entries(value),
        ([header, text]) => [header, text],
      ),
    );
  if (!entries || entries.length > MAX_HEADERS)
    throw invalid(`\`${name}\` must be an object of at most ${MAX_HEADERS} texts, or \`Headers\``);
  return Object.fromEntries(entries.map((entry) => headerOf(name, entry)));
}

function headerOf(option, [name, value]) {
  if (
    typeof name !== "string" ||
    !TOKEN.test(name) ||
    typeof value !== "string" ||
    !HEADER_VALUE.test(value)
  )
    throw invalid(`\`${option}\` has a name or value that no header can have`);
  const key = name.toLowerCase();
  if (Object.hasOwn(OWN_HEADERS, key))
    throw invalid(
      `\`${option}\` can't set \`${key}\`${OWN_HEADERS[key] && `: that is what \`${OWN_HEADERS[key]}\` is for`}`,
    );
  return [key, value.trim()];
}

const COMMENT = /^[\x21-\x27\x2a-\x5b\x5d-\x7e]{1,200}$/;

/** What a `User-Agent` says of the application: a product, its version, and a comment (RFC 9110, 10.1.5). */
function appInfo(option, value) {
  const { name, version, url } = reading(option, () => ({
    name: value.name,
    version: value.version,
    url: value.url,
  }));
  const isGood =
    TOKEN.test(name) &&
    typeof name === "string" &&
    [
      [version, TOKEN],
      [url, COMMENT],
    ].every(
      ([part, pattern]) => part === undefined || (typeof part === "string" && pattern.test(part)),
    );
  if (!isGood)
    throw invalid(
      `\`${option}\` must have a \`name\`, and may have a \`version\` and a \`url\`: ASCII without blanks`,
    );
  return { name, version, url };
}

function logger(name, value) {
  const fits = reading(name, () =>
    LEVELS.slice(1).every((level) => typeof value[level] === "function"),
  );
  if (!fits)
    throw invalid(
      `\`${name}\` must have the functions ${list(LEVELS.slice(1))}, as \`console\` has`,
    );
  return value;
}

function abortSignal(name, value) {
  const fits = reading(
    name,
    () => typeof value.aborted === "boolean" && typeof value.addEventListener === "function",
  );
  if (!fits) throw invalid(`\`${name}\` must be an AbortSignal`);
  return value;
}

function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : `of type ${typeof value}`;
}
