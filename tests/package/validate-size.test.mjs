/**
 * The size of the package's entries in a page: bytes after esbuild has minified them and brotli has
 * packed them.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const pkg = join(import.meta.dirname, "..", "..", "pkg");

/**
 * The imports, their entry, the most bytes, and how far below it we may come before the budget must
 * be lowered.
 */
const BUDGETS = [
  ["{ validate }", "validate.js", 9_000, 300],
  ["*", "validate.js", 10_700, 300],
  ["{ validate }", "validate/js.js", 11_000, 300],
  ["*", "index.js", 46_000, 5_000],
];

/**
 * How it is used and bundled: each way has other names in the end, and so a few bytes more or less.
 */
const USES = [
  (path) => `export { validate } from ${path};`,
  (path) => `export { validate as check } from ${path};`,
  (path) => `import { validate } from ${path}; console.log(validate({}));`,
];
const WAYS = [
  { format: "esm" },
  { format: "esm", target: "es2022", platform: "browser" },
  { format: "iife", platform: "browser" },
  { format: "esm", target: "es2020", platform: "browser" },
];

async function packedSize(contents, way) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    write: false,
    ...way,
  });
  return brotliCompressSync(outputFiles[0].contents).length;
}

for (const [what, entry, budget, slack] of BUDGETS) {
  test(`export ${what} from ${entry} costs at most ${budget} bytes`, async () => {
    const length = await packedSize(`export ${what} from ${JSON.stringify(join(pkg, entry))};`, {
      format: "esm",
    });
    assert.ok(length <= budget, `${length} bytes`);
    assert.ok(length > budget - slack, `${length} bytes: lower the budget`);
  });
}

test("validate alone costs at most 9,000 bytes, however it is bundled", async () => {
  const path = JSON.stringify(join(pkg, "validate.js"));
  for (const use of USES) {
    for (const way of WAYS) {
      const length = await packedSize(use(path), way);
      assert.ok(length <= 9_000, `${length} bytes: ${use(path)} ${JSON.stringify(way)}`);
    }
  }
});
