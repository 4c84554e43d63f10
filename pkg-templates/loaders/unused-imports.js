/** In the package's main entry, the module also holds the client, whose imports the validator never calls. */
export function importsOf(module) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => {};
  return imports;
}
