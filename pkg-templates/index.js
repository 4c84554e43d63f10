/** `impact-pledge`: the validator and the client. */
export { PledgeClient, responseOf } from "./client.js";
export { ApiError, AuthenticationError, ConnectionError, NotFoundError, PledgeError, TimeoutError, ValidationError } from "./errors.js";
export * from "./validate/index.js";
