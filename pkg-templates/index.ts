/* `impact-pledge`: the client, and all of `impact-pledge/validate`. */
export type {
  Charge,
  CurrencyCode,
  Impact,
  Notification,
  Pledge,
  PledgeDetail,
  PledgeTransaction,
  Recipient,
  RetrievedPledge,
  RetrievedPledgeTransaction,
  Trigger,
} from "./answers.ts";
export { PledgeClient, responseOf } from "./client.ts";
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  IdempotencyKeyReusedError,
  NotFoundError,
  PledgeError,
  RateLimitError,
  TimeoutError,
  UnprocessableEntityError,
  ValidationError,
} from "./errors.ts";
export type {
  Call,
  CallOptions,
  CreateOptions,
  Fetch,
  FetchInit,
  LogLevel,
  Logger,
  PledgeClientOptions,
  PledgeErrorCode,
  RequestErrorEvent,
  RequestEvent,
  ResponseEvent,
  ResponseInfo,
  RetryEvent,
} from "./types.ts";
export * from "./validate/index.ts";
