/* For builds that compile nothing: the platform compiles the WebAssembly, or the rules are plain JavaScript. */
import type { Rules } from "../validate/exports.ts";

export async function compileAhead(): Promise<void> {}

export function assertAllowed(): void {}

/** Rejects. This build contains only one set of rules, and those could not run. */
export const loadRules = (): Promise<Rules> =>
  Promise.reject(new Error("this build has no other rules"));
