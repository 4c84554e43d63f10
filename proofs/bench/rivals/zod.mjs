import { requestSchema } from "./zod-schema.mjs";
import { zodPointer } from "./pointer.mjs";

export const check = (value) => requestSchema.safeParse(value).error?.issues ?? [];
export const pointer = zodPointer;
export const touch = (problem) => problem.path.length + problem.message.length;
