/** `impact-pledge`: the validator and the client. */
export { PledgeClient, responseOf } from "./client.js";
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PledgeError,
  RateLimitError,
  TimeoutError,
  UnprocessableEntityError,
  ValidationError,
} from "./errors.js";
export * from "./validate/index.js";
