/* Instantiates the validator's WebAssembly, which has no imports. */
import { compile } from "#module";
import type { Exports } from "../validate/exports.ts";

export function instantiate(): Exports {
  const module = compile(); // before `new`, because its error says what to do without WebAssembly
  return new WebAssembly.Instance(module).exports as unknown as Exports;
}
