/** The libraries know the request's type by the schema, under a strict compiler. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { packed } from "../package/packed.mjs";

const root = join(import.meta.dirname, "..", "..");
const project = await packed();

for (const exactOptionalPropertyTypes of [true, false]) {
  test(`the type of a request comes through, exact optional members ${exactOptionalPropertyTypes ? "on" : "off"}`, () => {
    const paths = {
      "impact-pledge/*": [join(project.folder, "node_modules", "impact-pledge", "*.d.ts")],
    };
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes,
      noEmit: true,
      skipLibCheck: true,
      target: "es2022",
      lib: ["es2022", "dom", "dom.iterable"],
      module: "esnext",
      moduleResolution: "bundler",
      types: [],
      paths,
    };
    const config = join(project.folder, "tsconfig.consumers.json");
    writeFileSync(
      config,
      JSON.stringify({ compilerOptions, files: [join(import.meta.dirname, "types.ts")] }),
    );
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(root, "node_modules", "typescript", "bin", "tsc"), "--project", config],
      { encoding: "utf8" },
    );
    assert.equal(status, 0, stdout);
  });
}
