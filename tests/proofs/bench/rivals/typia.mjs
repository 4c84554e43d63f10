/** typia, whose compiler writes the imported code (see `validate/typia.mjs`). */
import { validate } from "request-by-typia/index.mjs";

export const check = (value) => {
  const result = validate(value);
  return result.success ? [] : result.errors;
};
export const touch = (problem) => problem.path.length + problem.expected.length;
