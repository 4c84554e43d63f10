/* The request's schema as Standard Schema and Standard JSON Schema. */
import { jsonSchema } from "../generated/json-schema.ts";
import type { CreatePledgeTransactionRequest } from "../generated/request.ts";
import { readOptions, translated } from "./options.ts";
import { serialize } from "./serialize.ts";
import type {
  CreatePledgeTransactionSchema,
  Issue,
  JsonSchemaOptions,
  SafeParseResult,
  ValidateOptions,
} from "./types.ts";
import { checkText } from "./validate.ts";

/**
 * The schema of a request for libraries that support Standard Schema, such as form and RPC libraries.
 *
 * @example
 * ```js
 * import { createPledgeTransactionSchema } from "impact-pledge/validate";
 *
 * const { issues } = createPledgeTransactionSchema["~standard"].validate({ reference: "order-1" });
 * console.log(issues.map(({ path }) => path.join("."))); // [ 'recipient', 'pledges' ]
 * ```
 */
export const createPledgeTransactionSchema: CreatePledgeTransactionSchema =
  /* @__PURE__ */ createSchema();

/**
 * Returns the schema of {@link createPledgeTransactionSchema} with options. The
 * `libraryOptions` of a call take precedence.
 *
 * @throws {TypeError} if an option does not exist, or `maxIssues` is not a whole number greater than 0.
 *   The schema's `validate` throws the same error for wrong `libraryOptions`
 *
 * @example
 * ```js
 * import { createSchema } from "impact-pledge/validate";
 *
 * const schema = createSchema({ maxIssues: 1, messages: { required: "Please fill this in" } });
 * console.log(schema["~standard"].validate({}).issues[0].message); // Please fill this in
 * ```
 */
export function createSchema(options?: ValidateOptions): CreatePledgeTransactionSchema {
  readOptions(options);
  const validate: Validate = (value, call) =>
    standardValidate(value, { ...options, ...call?.libraryOptions });
  const converter = { input: toJsonSchema, output: toJsonSchema };
  return { "~standard": { version: 1, vendor: "impact-pledge", validate, jsonSchema: converter } };
}

/**
 * Checks a request, and returns `{ data }` if it is valid, else `{ issues }`.
 *
 * Returns exactly what it checked: `data` is the value itself if it is plain data. If the value has getters, `toJSON`, or members
 * that JSON does not have, `data` is the checked JSON, as `JSON.parse` returns it.
 *
 * @throws {TypeError} if an option does not exist, or `maxIssues` is not a whole number greater than 0
 *
 * @example
 * ```js
 * import { safeParse } from "impact-pledge/validate";
 *
 * const { data, issues } = safeParse(JSON.parse('{ "reference": "order-1" }'));
 * console.log(data, issues.map(({ pointer }) => pointer)); // undefined [ '/recipient', '/pledges' ]
 * ```
 */
export function safeParse(value: unknown, options?: ValidateOptions): SafeParseResult {
  const result = standardValidate(value, options);
  return result.issues ? result : { data: result.value };
}

type Validate = CreatePledgeTransactionSchema["~standard"]["validate"];
type Checked =
  | { readonly value: CreatePledgeTransactionRequest; readonly issues?: undefined }
  | { readonly issues: Issue[] };

/**
 * Validates a value, and returns exactly what was checked. For this, it checks the value's JSON instead of the
 * value, although this is slower: a Proxy or a getter could return something else at a second reading.
 */
function standardValidate(value: unknown, options?: ValidateOptions): Checked {
  const text = serialize(value, 0);
  const issues = translated(checkText(text, readOptions(options)), options);
  if (issues.length > 0) return { issues };
  const checked = JSON.parse(text);
  return { value: (isSame(value, checked) ? value : checked) as CreatePledgeTransactionRequest };
}

type Members = Record<PropertyKey, unknown>;

/**
 * Whether a value equals this JSON. The value must have no getters, no class, and no members that JSON does
 * not have.
 */
function isSame(value: unknown, json: unknown): boolean {
  if (typeof json !== "object") return value === json;
  try {
    const keys = Reflect.ownKeys(value as object);
    if (
      Reflect.getPrototypeOf(value as object) !== Reflect.getPrototypeOf(json as object) ||
      keys.length !== Reflect.ownKeys(json as object).length
    )
      return false;
    return keys.every((key) => {
      const own = Reflect.getOwnPropertyDescriptor(value as object, key)!;
      return (
        (own.enumerable || key === "length") &&
        isSame(own.value, (json as Members)[key]) &&
        own.value === (value as Members)[key]
      );
    });
  } catch {
    return false; // a Proxy threw
  }
}

function toJsonSchema({ target }: JsonSchemaOptions): Record<string, unknown> {
  switch (target) {
    case "draft-2020-12":
      return { $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonSchema() };
    case "draft-07":
      return { $schema: "http://json-schema.org/draft-07/schema#", ...jsonSchema() };
    case "openapi-3.0":
      return asOpenApi(jsonSchema());
    default:
      throw new Error(
        `JSON Schema target \`${String(target)}\` is not supported; use draft-2020-12, draft-07 or openapi-3.0`,
      );
  }
}

/**
 * Converts a JSON Schema to the form of OpenAPI 3.0, where `exclusiveMinimum` is a flag beside `minimum` (as
 * in draft 4).
 */
function asOpenApi(schema: Record<string, unknown>): Record<string, unknown> {
  if (typeof schema !== "object" || schema === null) return schema;
  for (const key of Object.keys(schema))
    schema[key] = asOpenApi(schema[key] as Record<string, unknown>);
  if (typeof schema.exclusiveMinimum === "number")
    Object.assign(schema, { minimum: schema.exclusiveMinimum, exclusiveMinimum: true });
  return schema;
}
