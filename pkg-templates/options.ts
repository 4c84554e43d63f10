/* Reads and checks the options of `PledgeClient` and its calls. Errors name the invalid option. */
import { PledgeError } from "./errors.ts";
import { LEVELS } from "./events.ts";
import { suggest, list } from "./suggest.ts";
import { tryOrUndefined, redactedCause, redactor } from "./redact.ts";
import type { Fetch, LogLevel, Logger, PledgeClientOptions } from "./types.ts";

/**
 * Checks an option's value and returns it in normalised form. If the value is invalid, throws an error that
 * names the option.
 */
export type Reader<T> = (name: string, value: unknown) => T;

type Value<R> = R extends Reader<infer T> ? T : never;

/** The options that a set of readers returns, by name. Options that the caller did not set are missing. */
export type Read<Readers> = {
  readonly [N in keyof Readers as undefined extends Value<Readers[N]> ? never : N]: Value<
    Readers[N]
  >;
} & {
  readonly [N in keyof Readers as undefined extends Value<Readers[N]> ? N : never]?: Exclude<
    Value<Readers[N]>,
    undefined
  >;
};

const MAX_TIMEOUT_MS = 2 ** 31 - 1; // the limit of timers
const MAX_RETRIES = 10;
const text = typed<string>("string", "a string"),
  flag = typed<boolean>("boolean", "true or false");

/** Headers of requests that `fetch` sets itself (https://fetch.spec.whatwg.org/#forbidden-request-header) or refuses. */
const RESERVED =
  /^(accept-(charset|encoding)|access-control-request-.*|connection|cookie2?|date|dnt|expect|keep-alive|origin|proxy-.*|referer|sec-.*|set-cookie|te|trailer|transfer-encoding|upgrade|via)$/;

/** Options of the client and of each call. */
const SHARED = {
  unitId: optional(text),
  timeoutMs: optional(whole(1, MAX_TIMEOUT_MS)),
  deadlineMs: optional(whole(1, MAX_TIMEOUT_MS)),
  maxRetries: optional(whole(0, MAX_RETRIES)),
  headers: optional(headersBut(RESERVED)),
};
const hook = optional(typed<(event: unknown) => unknown>("function", "a function"));
const CLIENT = {
  apiKey: textOrFunction,
  baseUrl: address,
  ...SHARED,
  retryCreates: optional(flag),
  fetch: optional(fetcher),
  appInfo: optional(appInfo),
  onRequest: hook,
  onResponse: hook,
  onError: hook,
  onRetry: hook,
  logger: optional(logger),
  logLevel: optional(oneOf(LEVELS)),
  dangerouslyAllowBrowser: optional(flag),
  dangerouslyAllowHttp: optional(flag),
};

const GET = { ...SHARED, signal: optional(abortSignal) };
const CREATE = { ...GET, idempotencyKey: optional(text) };
const DEFAULTS = {
  timeoutMs: 30_000,
  maxRetries: 2,
  logLevel: "off" as LogLevel,
};

export { list };
/**
 * The options of a call, completed with those of its client. `apiKey` is the key itself, even if the option
 * is a function.
 */
export interface CallSettings extends Omit<Settings, "apiKey" | "headers"> {
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The options of a client after they were read. */
export type Settings = ReturnType<typeof clientOptions>;
export const clientOptions = (options: PledgeClientOptions) => ({
  ...DEFAULTS,
  ...read(CLIENT, options),
});
export const createOptions = (given: readonly unknown[]) => read(CREATE, onlyOne(given));
export const getOptions = (given: readonly unknown[]) => read(GET, onlyOne(given));

/**
 * Returns the options of a call. Refuses further arguments, because one of them may be a misplaced idempotency
 * key.
 */
function onlyOne([options, ...more]: readonly unknown[]): unknown {
  if (more.length > 0) throw invalid("pass the options as one object, as the second argument");
  return options ?? {};
}

export const invalid = (message: string, cause?: unknown) =>
  new PledgeError("invalid_argument", redactor()(message), { cause }); // a key may have been passed as any argument

/**
 * Reads each option once, so that the value that was checked is also the one that is used.
 * @param owner the name of the option whose value `options` is; absent for the options of a client or a call
 */
export function read<Readers extends Record<string, Reader<unknown>>>(
  readers: Readers,
  options: unknown,
  owner?: string,
): Read<Readers> {
  const given = objectOf(options, owner && `\`${owner}\``),
    path = owner ? `${owner}.` : "";
  const names = reading(owner ?? "options", () => Object.keys(given));
  const unknown = names.find((name) => !Object.hasOwn(readers, name));
  if (unknown !== undefined)
    throw invalid(
      `\`${path}${unknown}\` is not an option here; ${suggest(unknown, Object.keys(readers))}`,
    );
  const entries = Object.entries(readers).map(([name, reader]) => [
    name,
    reader(
      path + name,
      reading(path + name, () => (given as Record<string, unknown>)[name]),
    ),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Read<Readers>;
}

/** Merges two sets of options. If both sets have an option, the value in `others` takes precedence. */
export function merged<T extends object>(options: T, others: unknown): T {
  const given = objectOf(others ?? {});
  return reading("options", () => ({ ...options, ...given }));
}

function objectOf(options: unknown, what = "the options"): object {
  if (options !== null && typeof options === "object") return options;
  throw invalid(`${what} must be an object, not ${kindOf(options)}`);
}

function reading<T>(name: string, get: () => T): T {
  try {
    return get();
  } catch (cause) {
    throw invalid(`\`${name}\` can't be read`, redactedCause(cause, redactor()));
  }
}

export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (name, value) => (value === undefined || value === null ? undefined : reader(name, value));
}

function typed<T>(type: string, what: string): Reader<T> {
  return (name, value) => {
    if (typeof value === type) return value as T;
    throw invalid(`\`${name}\` must be ${what}, not ${kindOf(value)}`);
  };
}

export function oneOf<T extends string>(values: readonly T[]): Reader<T> {
  return (name, value) => {
    if (values.includes(value as T)) return value as T;
    throw invalid(`\`${name}\` must be one of ${list(values)}`);
  };
}

function textOrFunction(name: string, value: unknown): PledgeClientOptions["apiKey"] {
  if (typeof value === "string" || typeof value === "function") return value as never;
  throw invalid(
    `\`${name}\` must be a string, or a function that returns one, not ${kindOf(value)}`,
  );
}

export function whole(least: number, most: number): Reader<number> {
  return (name, value) => {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
      return value as number;
    throw invalid(`\`${name}\` must be a whole number from ${least} to ${most}`);
  };
}

/** Reads the base URL; returns it without trailing slashes. */
function address(name: string, value: unknown): string {
  const url = tryOrUndefined(() => new URL(value as string));
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

interface Fetcher {
  fetch: Fetch;
}

/** Reads a `fetch`: a function, or an object with a function `fetch`, such as a service binding of a Worker. */
function fetcher(name: string, value: unknown): Fetch {
  if (typeof value === "function") return value as Fetch;
  if (typeof reading(name, () => (value as Fetcher).fetch) === "function")
    return (input, init) => (value as Fetcher).fetch(input, init);
  throw invalid(`\`${name}\` must be a function, or an object with a function \`fetch\``);
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,100}$/,
  HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8000}$/;
const MAX_HEADERS = 100;
/** Headers that the option `headers` cannot set, and the options that set them. */
const OWN_HEADERS: Record<string, string> = {
  authorization: "apiKey",
  "x-service-unit-id": "unitId",
  "idempotency-key": "idempotencyKey",
  "user-agent": "appInfo",
  "content-type": "",
  "content-length": "",
  host: "baseUrl",
};

type Pairs = Iterable<readonly [unknown, unknown]>;

/** Reads headers from an object or from `Headers`; returns them by lower-case names. */
export function headersBut(reserved: RegExp): Reader<Record<string, string>> {
  return (name, value) => {
    const entries =
      typeof value === "object" &&
      reading(name, () =>
        Array.from(
          typeof (value as Pairs)[Symbol.iterator] === "function"
            ? (value as Pairs)
            : Object.entries(value as object),
          ([header, text]) => [header, text] as const,
        ),
      );
    if (!entries || entries.length > MAX_HEADERS)
      throw invalid(
        `\`${name}\` must be a plain object or a \`Headers\` object, with at most ${MAX_HEADERS} headers`,
      );
    return Object.fromEntries(entries.map((entry) => headerOf(name, entry, reserved)));
  };
}

function headerOf(
  option: string,
  [name, value]: readonly [unknown, unknown],
  reserved: RegExp,
): [string, string] {
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
  if (reserved.test(key))
    throw invalid(`\`${option}\` can't set \`${key}\`: it is reserved for HTTP itself`);
  return [key, value.trim()];
}

const COMMENT = /^[\x21-\x27\x2a-\x5b\x5d-\x7e]{1,200}$/;

/** Reads the application for `User-Agent`: a product, its version, and a comment (RFC 9110, section 10.1.5). */
function appInfo(option: string, value: unknown) {
  const [product, comment] = [TOKEN, COMMENT].map(matching) as [Reader<string>, Reader<string>];
  return read({ name: product, version: optional(product), url: optional(comment) }, value, option);
}

function matching(pattern: RegExp): Reader<string> {
  return (name, value) => {
    if (typeof value === "string" && pattern.test(value)) return value;
    throw invalid(`\`${name}\` must be ASCII without blanks`);
  };
}

function logger(name: string, value: unknown): Logger {
  const fits = reading(name, () =>
    LEVELS.slice(1).every((level) => typeof (value as Logger)[level as never] === "function"),
  );
  if (!fits)
    throw invalid(
      `\`${name}\` must have the functions ${list(LEVELS.slice(1))}, as \`console\` has`,
    );
  return value as Logger;
}

function abortSignal(name: string, value: unknown): AbortSignal {
  const fits = reading(
    name,
    () =>
      typeof (value as AbortSignal).aborted === "boolean" &&
      typeof (value as AbortSignal).addEventListener === "function",
  );
  if (!fits) throw invalid(`\`${name}\` must be an AbortSignal`);
  return value as AbortSignal;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : `of type ${typeof value}`;
}
