/** The package without WebAssembly. */
import { validate } from "impact-pledge/validate/js";

export const check = (value) => validate(value);
export { touch } from "./ours.mjs";
