/** The declarations under three compilers, as each kind of module resolution reads them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const STRICT = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false, noEmit: true, target: "es2022", lib: ["es2022", "dom", "dom.iterable"], types: [] };
const KINDS = {
  "esm.mts": { module: "node16", moduleResolution: "node16" },
  "commonjs.cts": { module: "node16", moduleResolution: "node16" },
  "bundled.ts": { module: "esnext", moduleResolution: "bundler" },
};

const WRONG = `
import { validateAt } from "impact-pledge/validate";
import { bindForm } from "impact-pledge/form";
// @ts-expect-error: declarations that are not found would be of any type, and take it
validateAt(1);
// @ts-expect-error
bindForm(document.body);
`;

async function compile(place, compiler) {
  const source = readFileSync(join(place.tools.root, "tests", "types", "client.ts"), "utf8");
  for (const [file, resolution] of Object.entries(KINDS)) {
    place.write(file, `${source}${WRONG}`);
    place.write("tsconfig.json", JSON.stringify({ compilerOptions: { ...STRICT, ...resolution }, files: [file] }));
    await place.node(place.tool(compiler, "bin", "tsc"), "--project", ".");
  }
}

const typescript = (major, compiler) => ({
  name: `typescript-${major}`,
  version: (place) => place.version(compiler).replace(compiler, "typescript"),
  run: (place) => compile(place, compiler),
});

/** @type {import("../main.mjs").Environment[]} */
export const environments = [typescript(5, "typescript-5"), typescript(6, "typescript"), typescript(7, "typescript-7")];
