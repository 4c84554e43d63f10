/** How the schema libraries name places: lists of steps. An unknown member is named beside the place, not in it. */

const join = (steps) => steps.map((step) => `/${String(step)}`).join("");

export const zodPointer = ({ path, code, keys }) =>
  join(code === "unrecognized_keys" ? [...path, ...keys] : path);
export const stepsPointer = join;
