/** The request's schema for whoever speaks Standard Schema or Standard JSON Schema. */
import { jsonSchema } from "../generated/json-schema.js";
import { validate } from "./validate.js";

export const createPledgeTransactionSchema = /* @__PURE__ */ schema();

function schema() {
  const converter = { input: toJsonSchema, output: toJsonSchema };
  return { "~standard": { version: 1, vendor: "impact-pledge", validate: standardValidate, jsonSchema: converter } };
}

function standardValidate(value) {
  const issues = validate(value);
  return issues.length > 0 ? { issues } : { value };
}

function toJsonSchema({ target }) {
  switch (target) {
    case "draft-2020-12":
      return { $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonSchema() };
    case "draft-07":
      return { $schema: "http://json-schema.org/draft-07/schema#", ...jsonSchema() };
    case "openapi-3.0":
      return asOpenApi(jsonSchema());
    default:
      throw new Error(`JSON Schema target \`${String(target)}\` is not supported; use draft-2020-12, draft-07 or openapi-3.0`);
  }
}

/** OpenAPI 3.0 says `exclusiveMinimum` as draft 4 did: a flag beside `minimum`. */
function asOpenApi(schema) {
  if (typeof schema !== "object" || schema === null) return schema;
  for (const key of Object.keys(schema)) schema[key] = asOpenApi(schema[key]);
  if (typeof schema.exclusiveMinimum === "number") Object.assign(schema, { minimum: schema.exclusiveMinimum, exclusiveMinimum: true });
  return schema;
}
