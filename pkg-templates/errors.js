/**
 * The errors of the package. Each has a `name`, and a `code` that distinguishes it where `instanceof` can't: in a
 * process that has loaded the package both as ES module and as CommonJS.
 */

/** What all errors of this package are. By itself: an option or argument that can't be used. */
export class PledgeError extends Error {
  /** @param {string} code @param {string} message @param {ErrorOptions} [options] */
  constructor(code, message, options) {
    super(message, options);
    this.code = code;
  }
}

/** The request breaks rules of the contract; nothing was sent. */
export class ValidationError extends PledgeError {
  /** @param {import("./validate.js").Issue[]} issues */
  constructor(issues) {
    super("invalid_request", summary(issues));
    this.issues = issues;
  }
}

/** The service answered, but not with a transaction. */
export class ApiError extends PledgeError {
  /** @param {string} code @param {string} message @param {{status: number, error?: string, body: string, headers: Headers, idempotencyKey?: string}} answer */
  constructor(code, message, { status, error, body, headers, idempotencyKey }) {
    super(code, message);
    this.status = status;
    if (error !== undefined) this.error = error;
    this.body = body;
    this.headers = headers;
    if (idempotencyKey !== undefined) this.idempotencyKey = idempotencyKey;
  }

  get requestId() {
    return requestId(this.headers);
  }
}

/** The service did not accept the API key. */
export class AuthenticationError extends ApiError {}

/** The service has no pledge transaction with this ID. */
export class NotFoundError extends ApiError {}

/** There was no answer, or only a part of one. */
export class ConnectionError extends PledgeError {
  /** @param {string} code @param {string} message @param {ErrorOptions & {idempotencyKey?: string}} [options] */
  constructor(code, message, { idempotencyKey, ...options } = {}) {
    super(code, message, options);
    if (idempotencyKey !== undefined) this.idempotencyKey = idempotencyKey;
  }
}

/** There was no answer in time. */
export class TimeoutError extends ConnectionError {}

const NAMES = { PledgeError, ValidationError, ApiError, AuthenticationError, NotFoundError, ConnectionError, TimeoutError };

// Written out, because a bundler may shorten the names of classes.
for (const [name, type] of Object.entries(NAMES)) {
  Object.defineProperty(type.prototype, "name", { value: name, configurable: true, writable: true });
}

const SHOWN = 3;

function summary(issues) {
  const shown = issues.slice(0, SHOWN).map(({ pointer, message }) => `${pointer === "" ? "the request" : `\`${pointer}\``} ${message}`);
  const rest = issues.length - shown.length;
  return `the request is not valid: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

/** The name by which the service's operator can find the request in a log, where the answer has one. */
export function requestId(headers) {
  return headers?.get("x-request-id") ?? headers?.get("cf-ray") ?? undefined;
}
