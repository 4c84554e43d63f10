/* In the main entry, the module also contains the client, whose imports the validator never calls. */
import { compile } from "#module";
import type { Exports } from "../validate/wasm.ts";

export function instantiate(): Exports {
  const module = compile(),
    imports: Record<string, Record<string, () => void>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from]![name] = () => {};
  }
  return new WebAssembly.Instance(module, imports).exports as unknown as Exports;
}
