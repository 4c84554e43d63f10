/**
 * The declarations under several compilers, as each kind of module resolution reads them, exact
 * optional members on and off.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2022",
  lib: ["es2022", "dom", "dom.iterable"],
  types: [],
};
/** By the resolution of modules: as ES modules and CommonJS, and for a bundler. */
const KINDS = [
  { extensions: ["mts", "cts"], module: "node16", moduleResolution: "node16" },
  { extensions: ["ts"], module: "esnext", moduleResolution: "bundler" },
];

const WRONG = `
import { validateAt } from "impact-pledge/validate";
import { bindForm } from "impact-pledge/form";
// @ts-expect-error: declarations that are not found would be of any type, and take it
validateAt(1);
// @ts-expect-error
bindForm(document.body);
`;

async function compile(workspace, compiler) {
  const folder = join(workspace.tools.root, "tests", "types");
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => [name.slice(0, -3), readFileSync(join(folder, name), "utf8")]);
  for (const { extensions, ...resolution } of KINDS) {
    const files = extensions.flatMap((extension) =>
      [...sources, ["wrong", WRONG]].map(([name, source]) => ({
        name: `${name}.${extension}`,
        source,
      })),
    );
    for (const { name, source } of files) workspace.write(name, source);
    for (const exactOptionalPropertyTypes of [true, false]) {
      workspace.write(
        "tsconfig.json",
        JSON.stringify({
          compilerOptions: { ...STRICT, ...resolution, exactOptionalPropertyTypes },
          files: files.map(({ name }) => name),
        }),
      );
      await workspace.node(workspace.tool(compiler, "bin", "tsc"), "--project", ".");
    }
  }
}

const typescript = (version, compiler) => ({
  name: `typescript-${version}`,
  version: (workspace) => workspace.version(compiler).replace(compiler, "typescript"),
  run: (workspace) => compile(workspace, compiler),
});

/**
 * The oldest that is promised, some between, and the newest.
 * @type {import("../main.mjs").Environment[]}
 */
export const environments = [
  ...["5.0", "5.4", "5.9"].map((version) => typescript(version, `typescript-${version}`)),
  typescript(6, "typescript"),
  typescript(7, "typescript-7"),
];
