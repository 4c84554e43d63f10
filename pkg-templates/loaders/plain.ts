/* For builds that compile nothing: the platform compiles the WebAssembly, or the rules are plain JavaScript. */
import type { Rules } from "../validate/exports.ts";

export async function compileAhead(): Promise<void> {}

export function assertAllowed(): void {}

/** Rejects, because this build contains no rules other than those that could not run. */
export const loadRules = (): Promise<Rules> =>
  Promise.reject(new Error("there are no other rules"));
