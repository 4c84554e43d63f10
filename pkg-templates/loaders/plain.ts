/* For builds that compile nothing: the platform compiles the WebAssembly, or the rules are plain JavaScript. */
import type { Rules } from "../validate/exports.ts";

export async function compileAhead(): Promise<void> {}

export function assertAllowed(): void {}

/** Rejects: this build has only one set of rules, and no others to try after they failed to run. */
export const loadRules = (): Promise<Rules> =>
  Promise.reject(new Error("this build has no other rules"));
