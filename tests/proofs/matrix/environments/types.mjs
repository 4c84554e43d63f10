/**
 * Compiles tests of the type declarations with several versions of TypeScript, in every kind of module
 * resolution. All strict flags are set. `exactOptionalPropertyTypes` is tested both on and off. The DOM's
 * types are present for pages, and absent for servers.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { strictFlags } from "../../../support/strict-flags.mjs";

/**
 * The kinds of module resolution: ES modules, CommonJS, and a bundler. Only CommonJS is compiled without
 * `verbatimModuleSyntax`, because its output has no `import` to keep.
 */
const KINDS = [
  { extension: "mts", module: "node16", moduleResolution: "node16", verbatimModuleSyntax: true },
  { extension: "cts", module: "node16", moduleResolution: "node16" },
  { extension: "ts", module: "esnext", moduleResolution: "bundler", verbatimModuleSyntax: true },
];
/** The type libraries (`lib`) that TypeScript uses for each folder in `tests/types`. */
const LIBRARIES = { ".": ["es2022", "dom", "dom.iterable"], server: ["es2022"] };

const WRONG = `
import { validateAt } from "impact-pledge/validate";
import { bindForm } from "impact-pledge/form";
// @ts-expect-error: declarations that are not found would be of any type, and take it
validateAt(1);
// @ts-expect-error
bindForm(document.body);
`;

function sourcesIn(workspace, part) {
  const folder = join(workspace.tools.root, "tests", "types", part);
  const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  return names.map((name) => [name.slice(0, -3), readFileSync(join(folder, name), "utf8")]);
}

/** Checks the package's types for React Hook Form. Ignores errors in React Hook Form's own declarations. */
async function compileUseForm(workspace, flags, compiler) {
  const file = join(workspace.tools.root, "tests", "consumers", "use-form.ts");
  workspace.write("use-form.ts", readFileSync(file, "utf8"));
  for (const exactOptionalPropertyTypes of [true, false]) {
    const compilerOptions = {
      ...flags,
      lib: LIBRARIES["."],
      module: "esnext",
      moduleResolution: "bundler",
      skipLibCheck: true,
      exactOptionalPropertyTypes,
    };
    workspace.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["use-form.ts"] }));
    await workspace.node(`${compiler}/bin/tsc --project .`);
  }
}

async function compile(workspace, version, compiler) {
  const flags = strictFlags(version);
  await compileUseForm(workspace, flags, compiler);
  for (const [part, lib] of Object.entries(LIBRARIES)) {
    const sources = [...sourcesIn(workspace, part), ["wrong", WRONG]];
    for (const { extension, ...resolution } of KINDS) {
      const files = sources.map(([name, source]) => [`${part}/${name}.${extension}`, source]);
      for (const [name, source] of files) workspace.write(name, source);
      for (const exactOptionalPropertyTypes of [true, false]) {
        const compilerOptions = { ...flags, lib, ...resolution, exactOptionalPropertyTypes };
        workspace.write(
          "tsconfig.json",
          JSON.stringify({ compilerOptions, files: files.map(([name]) => name) }),
        );
        await workspace.node(`${compiler}/bin/tsc --project .`);
      }
    }
  }
}

const typescript = (version, compiler) => ({
  name: `typescript-${version}`,
  version: (workspace) => workspace.version(compiler).replace(compiler, "typescript"),
  run: (workspace) => compile(workspace, Number(version), compiler),
});

/**
 * The environments: the oldest supported compiler, some between, and the newest.
 * @type {import("../main.mjs").Environment[]}
 */
export const environments = [
  ...["5.0", "5.4", "5.9"].map((version) => typescript(version, `typescript-${version}`)),
  typescript(6, "typescript"),
  typescript(7, "typescript-7"),
];
