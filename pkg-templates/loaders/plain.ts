/* For builds that compile nothing: the platform compiles the WebAssembly, or the rules are plain JavaScript. */
import type { Rules } from "../validate/exports.ts";

export async function compileAhead(): Promise<void> {}

export function assertAllowed(): void {}

/** Rejects: this build has only the rules that could not run. */
export const loadRules = (): Promise<Rules> =>
  Promise.reject(new Error("there are no other rules"));
