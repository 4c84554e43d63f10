/* Where there is nothing to compile: WebAssembly that the platform compiles, and the entries of plain JavaScript. */
import type { Rules } from "../validate/wasm.ts";

export async function compileAhead(): Promise<void> {}

export function assertAllowed(): void {}

/** Rejects, as there are no other rules than those that could not run. */
export const loadRules = (): Promise<Rules> =>
  Promise.reject(new Error("there are no other rules"));
