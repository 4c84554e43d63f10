/**
 * The errors of the package. Each has a `name`, and a `code` that distinguishes it where `instanceof` can't: in a
 * process that has loaded the package both as ES module and as CommonJS.
 */

/** What all errors of this package are. By itself: an option or argument that can't be used. */
export class PledgeError extends Error {
  /** @param {string} code @param {string} message @param {object} [details] its properties; undefined ones are left out */
  constructor(code, message, { cause, ...details } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    for (const [name, value] of Object.entries(details)) if (value !== undefined) this[name] = value;
  }
}

/** The request breaks rules of the contract; nothing was sent. */
export class ValidationError extends PledgeError {
  /** @param {import("./validate.js").Issue[]} issues */
  constructor(issues) {
    super("invalid_request", summary(issues), { issues });
  }
}

/** The service answered, but not with a transaction. */
export class ApiError extends PledgeError {
  get requestId() {
    return requestId(this.headers);
  }
}

/** The service did not accept the API key. */
export class AuthenticationError extends ApiError {}

/** The service has no pledge transaction with this ID. */
export class NotFoundError extends ApiError {}

/** There was no answer, or only a part of one. */
export class ConnectionError extends PledgeError {}

/** There was no answer in time. */
export class TimeoutError extends ConnectionError {}

// Written out, because a bundler may shorten the names of classes.
const TYPES = { PledgeError, ValidationError, ApiError, AuthenticationError, NotFoundError, ConnectionError, TimeoutError };
for (const [value, { prototype }] of Object.entries(TYPES)) {
  Object.defineProperty(prototype, "name", { value, configurable: true, writable: true });
}

const SHOWN = 3;

function summary(issues) {
  const shown = issues.slice(0, SHOWN).map(({ pointer, message }) => `${pointer ? `\`${pointer}\`` : "the request"} ${message}`);
  const rest = issues.length - shown.length;
  return `the request is not valid: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

/** The name by which the service's operator can find the request in a log, where the answer has one. */
export function requestId(headers) {
  return headers?.get("x-request-id") ?? headers?.get("cf-ray") ?? undefined;
}
