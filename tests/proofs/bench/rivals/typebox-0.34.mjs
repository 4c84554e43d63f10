/** TypeBox 0.34. It has no formats of its own, so it gets those of ajv-formats. */
import { FormatRegistry, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { typeboxSchema } from "./typebox-schema.mjs";

FormatRegistry.Set("email", (text) => fullFormats.email.test(text));
FormatRegistry.Set("uri", fullFormats.uri);
FormatRegistry.Set("date-time", fullFormats["date-time"].validate);

const compiled = TypeCompiler.Compile(typeboxSchema(Type));

export const check = (value) => (compiled.Check(value) ? [] : [...compiled.Errors(value)]);
export const touch = (problem) => problem.path.length + problem.message.length;
