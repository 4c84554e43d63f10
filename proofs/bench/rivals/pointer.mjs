/**
 * How the schema libraries name values: by a path. An unknown member is named beside the path, not
 * in it.
 */

const join = (steps) => steps.map((step) => `/${String(step)}`).join("");

export const zodPointer = ({ path, code, keys }) =>
  join(code === "unrecognized_keys" ? [...path, ...keys] : path);
export const stepsPointer = join;
