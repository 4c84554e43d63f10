import { validateBytes } from "impact-pledge/validate";

export const check = (bytes) => validateBytes(bytes);
export { touch } from "./ours.mjs";
