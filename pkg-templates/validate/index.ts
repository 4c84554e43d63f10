/* `impact-pledge/validate`: the validator alone, for pages. */
export type {
  CreatePledgeTransactionRequest,
  ImpactRequest,
  IssueCode,
  NotificationType,
  PledgeDetailRequest,
  PledgeRequest,
  RecipientRequest,
  TriggerRequest,
} from "../generated/request.ts";
export { createPledgeTransactionSchema, createSchema, safeParse } from "./standard.ts";
export type {
  CreatePledgeTransactionSchema,
  FormTexts,
  Issue,
  IssueMeta,
  JsonSchemaOptions,
  LocalePack,
  Message,
  MessageMap,
  Messages,
  SafeParseResult,
  ValidateOptions,
} from "./types.ts";
export { validate, validateAt, validateBytes } from "./validate.ts";
export { ready } from "./wasm.ts";
