/**
 * The errors of the package, as index.d.ts describes them. Each has a `name`, and a `code` that distinguishes it where
 * `instanceof` can't: in a process that has loaded the package both as ES module and as CommonJS.
 */
export class PledgeError extends Error {
  /** @param {string} code @param {string} message @param {object} [details] its properties; undefined ones are left out */
  constructor(code, message, { cause, ...details } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    for (const [name, value] of Object.entries(details))
      if (value !== undefined) this[name] = value;
  }

  /** What a log may show. */
  toJSON() {
    const { name, code, message, status, error, requestId, retryAfterMs, idempotencyKey, issues } =
      this;
    return {
      name,
      code,
      message,
      status,
      error,
      requestId,
      retryAfterMs,
      idempotencyKey,
      issues: issues?.slice(0, LOGGED),
    };
  }
}

/** Most issues in a log. */
const LOGGED = 20;

export class ValidationError extends PledgeError {
  /** @param {import("./validate.js").Issue[]} issues */
  constructor(issues) {
    super("invalid_request", summary(issues), { issues });
  }
}

export class ApiError extends PledgeError {
  get requestId() {
    return requestId(this.headers);
  }
}

export class AuthenticationError extends ApiError {}
export class NotFoundError extends ApiError {}
export class ConflictError extends ApiError {}
export class UnprocessableEntityError extends ApiError {}
export class RateLimitError extends ApiError {}
export class ConnectionError extends PledgeError {}
export class TimeoutError extends ConnectionError {}

// Written out, because a bundler may shorten the names of classes.
const TYPES = {
  PledgeError,
  ValidationError,
  ApiError,
  AuthenticationError,
  NotFoundError,
  ConflictError,
  UnprocessableEntityError,
  RateLimitError,
  ConnectionError,
  TimeoutError,
};
for (const [value, { prototype }] of Object.entries(TYPES)) {
  Object.defineProperty(prototype, "name", { value, configurable: true, writable: true });
}

const SHOWN = 3;

function summary(issues) {
  const shown = issues
    .slice(0, SHOWN)
    .map(({ pointer, message }) => `${pointer ? `\`${pointer}\`` : "the request"} ${message}`);
  const rest = issues.length - shown.length;
  return `the request is not valid: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

/** The name by which the service's operator can find the request in a log, where the answer has one. */
export function requestId(headers) {
  return headers?.get("x-request-id") ?? headers?.get("cf-ray") ?? undefined;
}
