import { requestSchema } from "./zod-schema.mjs";

export const check = (value) => requestSchema.safeParse(value).error?.issues ?? [];
export const touch = (problem) => problem.path.length + problem.message.length;
