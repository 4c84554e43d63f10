/** The request's schema for whoever speaks Standard Schema or Standard JSON Schema. */
import { jsonSchema } from "../generated/json-schema.js";
import { mostOf, translated } from "./options.js";
import { serialize } from "./serialize.js";
import { checkText } from "./validate.js";

export const createPledgeTransactionSchema = /* @__PURE__ */ createSchema();

/** The same with options, which those of a call replace. */
export function createSchema(options) {
  const validate = (value, call) =>
    standardValidate(value, { ...options, ...call?.libraryOptions });
  const converter = { input: toJsonSchema, output: toJsonSchema };
  return { "~standard": { version: 1, vendor: "impact-pledge", validate, jsonSchema: converter } };
}

/**
 * Serializes each value: what is checked must be what is returned. The walk is faster, but keeps nothing to compare with,
 * and a Proxy or a getter that it read may return something else to the next reader.
 */
function standardValidate(value, options) {
  const text = serialize(value, 0);
  const issues = translated(checkText(text, mostOf(options)), options);
  if (issues.length > 0) return { issues };
  const checked = JSON.parse(text);
  return { value: isSame(value, checked) ? value : checked };
}

/** Whether a value is this JSON when it is read again: not with getters, a class, or members that JSON has not. */
function isSame(value, json) {
  if (typeof json !== "object") return value === json;
  try {
    const keys = Reflect.ownKeys(value);
    if (
      Reflect.getPrototypeOf(value) !== Reflect.getPrototypeOf(json) ||
      keys.length !== Reflect.ownKeys(json).length
    )
      return false;
    return keys.every((key) => {
      const own = Reflect.getOwnPropertyDescriptor(value, key);
      return (
        (own.enumerable || key === "length") &&
        isSame(own.value, json[key]) &&
        own.value === value[key]
      );
    });
  } catch {
    return false; // a Proxy threw
  }
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
      throw new Error(
        `JSON Schema target \`${String(target)}\` is not supported; use draft-2020-12, draft-07 or openapi-3.0`,
      );
  }
}

/** OpenAPI 3.0 says `exclusiveMinimum` as draft 4 did: a flag beside `minimum`. */
function asOpenApi(schema) {
  if (typeof schema !== "object" || schema === null) return schema;
  for (const key of Object.keys(schema)) schema[key] = asOpenApi(schema[key]);
  if (typeof schema.exclusiveMinimum === "number")
    Object.assign(schema, { minimum: schema.exclusiveMinimum, exclusiveMinimum: true });
  return schema;
}
