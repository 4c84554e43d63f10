import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { requestSchema } from "./schema.mjs";

const ajv = new Ajv({ allErrors: true });
addFormats(ajv, { mode: "full", formats: ["email", "uri", "date-time"] });
const valid = ajv.compile(requestSchema);

export const check = (value) => (valid(value) ? [] : valid.errors);
export const touch = (problem) => problem.instancePath.length + problem.message.length;
