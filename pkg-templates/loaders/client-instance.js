/** In the package's main entry, the module also holds the client, whose imports the validator never calls. */
import { compile } from "#module";

export function instantiate() {
  const module = compile(),
    imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => {};
  }
  return new WebAssembly.Instance(module, imports).exports;
}
