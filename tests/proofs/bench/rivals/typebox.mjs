/** TypeBox 1, with its own formats. */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { typeboxSchema } from "./typebox-schema.mjs";

const compiled = Compile(typeboxSchema(Type));

export const check = (value) => (compiled.Check(value) ? [] : compiled.Errors(value));
export const touch = (problem) => problem.instancePath.length + problem.message.length;
