/** The package as a user imports it. */
import { validate } from "impact-pledge/validate";

export const check = (value) => validate(value);
export const touch = (problem) => problem.path.length + problem.message.length;
