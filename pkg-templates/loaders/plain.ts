/* For builds that compile nothing: the platform compiles the WebAssembly, or the rules are plain JavaScript. */
import type { Rules } from "../validate/exports.ts";

export async function compileAhead(): Promise<void> {}

export function assertAllowed(): void {}

/** Rejects, because this build has no other rules with which to replace those that failed to run. */
export const loadRules = (): Promise<Rules> =>
  Promise.reject(new Error("this build has no other rules"));
