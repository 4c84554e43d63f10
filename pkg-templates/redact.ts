/*
 * Redacts the API key in the details of errors. A service may echo what it received, and a caller's `fetch` may throw
 * anything. So errors contain only copies, and refer to no object that was not read here.
 */

const NO_SECRET = 8; // characters: shorter than any key, and likely to occur in other text
export const REDACTED = "[API key]";

/**
 * The limits for copying an error's cause: the number of its values (texts, objects, items of arrays), and
 * the characters of each text.
 */
const MAX_VALUES = 200,
  MAX_TEXT = 10_000;
const MAX_HEADERS = 10_000; // far more than servers send

/**
 * Matches any text that looks like an API key (§5.3). An error may contain the key of another call, or be
 * thrown before the call's own key is known.
 */
const KEYS = /service_sk_(test|live)[\w.~+/=-]{4,}/g;

/** Replaces API keys in a text. */
export type Redact = (text: string) => string;

/**
 * Returns a function that redacts the API key: as plain text, in JSON and in URLs. The function also redacts
 * every other text that looks like a key.
 */
export function redactor(apiKey = ""): Redact {
  if (apiKey.length < NO_SECRET) return withoutKeys;
  let spellings: Set<string> | undefined;
  return (text) => {
    spellings ??= new Set([
      apiKey,
      JSON.stringify(apiKey).slice(1, -1),
      encodeURIComponent(apiKey),
    ]);
    const rest = [...spellings].reduce((rest, one) => rest.replaceAll(one, REDACTED), text);
    return withoutKeys(withoutBeginning(rest, apiKey));
  };
}

const withoutKeys: Redact = (text) => text.replace(KEYS, REDACTED);

/** Redacts an incomplete API key at the end of a text. A text that was cut may end within the key. */
function withoutBeginning(text: string, apiKey: string): string {
  for (let length = Math.min(apiKey.length - 1, text.length); length >= NO_SECRET; length -= 1) {
    if (text.endsWith(apiKey.slice(0, length))) return text.slice(0, -length) + REDACTED;
  }
  return text;
}

/**
 * Returns headers with redacted names and values. If the headers cannot be listed, because they only have a
 * `get`, copies only those that `HELPFUL` names.
 */
export function redactedHeaders(headers: GivenHeaders, redact: Redact): Headers {
  const copy = new (globalThis.Headers ?? Map)();
  for (const [name, value] of entriesOf(headers))
    tryOrUndefined(() =>
      ((copy as Headers).append ?? copy.set).call(copy as Headers, redact(name), redact(value)),
    );
  return copy as Headers;
}

/**
 * The headers of a response. They may be of any class, because the caller's own `fetch` may return anything.
 */
export type GivenHeaders =
  | Iterable<readonly [string, string]>
  | { get(name: string): string | null | undefined };

const HELPFUL = [
  "content-type",
  "cf-ray",
  "idempotent-replayed",
  "location",
  "retry-after",
  "x-request-id",
];

function entriesOf(headers: GivenHeaders): [string, string][] {
  const entries: [string, string][] = [];
  const add = (name: unknown, value: unknown) => entries.push([String(name), String(value)]);
  const isList = tryOrUndefined(() => {
    for (const [name, value] of headers as Iterable<readonly [string, string]>)
      if (add(name, value) >= MAX_HEADERS) break;
    return true;
  });
  if (!isList)
    for (const name of HELPFUL)
      tryOrUndefined(
        () =>
          typeof (headers as Headers).get(name) === "string" &&
          add(name, (headers as Headers).get(name)),
      );
  return entries;
}

/**
 * Returns a copy of a thrown value: errors (name, message, stack, cause and enumerable properties), plain objects and arrays.
 * Leaves out functions, class instances, accessors, cycles, and everything beyond the limits.
 */
export function redactedCause(thrown: unknown, redact: Redact): unknown {
  const copies = new Map<object, unknown>();
  let left = MAX_VALUES;
  return copied(thrown);

  function copied(value: unknown): unknown {
    left -= 1;
    if (left < 0 || typeof value === "function") return undefined;
    if (typeof value === "bigint") return value; // converting a large one to text is slow
    if (typeof value === "object" && value !== null) {
      if (!copies.has(value)) copies.set(value, undefined).set(value, copiedObject(value)); // undefined during the copy, so that cycles end
      return copies.get(value);
    }
    const text = redact(String(value).slice(0, MAX_TEXT));
    return typeof value === "symbol" || typeof value === "string" || text !== String(value)
      ? text
      : value;
  }

  function copiedObject(object: object): unknown {
    if (tryOrUndefined(() => Array.isArray(object))) return copiedItems(object as unknown[]);
    if (typeof tryOrUndefined(() => (object as Error).message) === "string")
      return copiedError(object);
    return tryOrUndefined(() => isPlain(object)) ? withProperties({}, object) : undefined;
  }

  function copiedItems(array: unknown[]): unknown[] {
    const items: unknown[] = [],
      length = tryOrUndefined(() => array.length) ?? 0;
    for (let index = 0; index < length && left > 0; index += 1)
      items.push(copied(tryOrUndefined(() => array[index])));
    return items;
  }

  function copiedError(error: object): Error {
    const copy = new Error();
    delete copy.stack; // its own stack is that of this line
    withProperties(copy, error);
    for (const name of ["name", "message", "stack", "code", "cause", "errors"])
      define(copy, name, copied(tryOrUndefined(() => error[name as never])), false);
    return copy;
  }

  function withProperties(copy: object, object: object): object {
    for (const name of tryOrUndefined(() => Object.keys(object)) ?? []) {
      if (left <= 0) break;
      const value = copied(
        tryOrUndefined(() => Object.getOwnPropertyDescriptor(object, name)!.value),
      );
      define(copy, redact(name.slice(0, MAX_TEXT)), value, true);
    }
    return copy;
  }
}

function define(copy: object, name: string, value: unknown, enumerable: boolean): void {
  if (value !== undefined && !Object.hasOwn(copy, name))
    Object.defineProperty(copy, name, { value, enumerable, configurable: true, writable: true });
}

/** Whether an object is plain, like `{}`, of this or another realm. */
const isPlain = (object: object) =>
  Object.getPrototypeOf(Object.getPrototypeOf(object) ?? Object.prototype) === null;

/** Returns the result of a function, or `undefined` if it throws. */
export function tryOrUndefined<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
