/* For builds that compile nothing: the platform compiles the WebAssembly, or the rules are plain JavaScript. */
import type { Rules } from "../validate/exports.ts";

export async function compileAhead(): Promise<void> {}

export function assertAllowed(): void {}

/** Always rejects: if this build's rules cannot run, there are no other rules to load. */
export const loadRules = (): Promise<Rules> =>
  Promise.reject(new Error("the rules can't run, and this build has no other rules"));
