/** What `impact-pledge/validate` costs a page: bytes after esbuild has minified it and brotli has packed it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const entry = join(import.meta.dirname, "..", "..", "pkg", "validate.js");

/** Held where they are. We aim at 9,000. */
const BUDGETS = [
  ["{ validate }", 11_500],
  ["*", 12_800],
];

for (const [what, budget] of BUDGETS) {
  test(`export ${what} costs at most ${budget} bytes`, async () => {
    const contents = `export ${what} from ${JSON.stringify(entry)};`;
    const { outputFiles } = await build({ stdin: { contents, resolveDir: import.meta.dirname }, bundle: true, minify: true, format: "esm", write: false });
    const { length } = brotliCompressSync(outputFiles[0].contents);
    assert.ok(length <= budget, `${length} bytes`);
    assert.ok(length > budget - 600, `${length} bytes: lower the budget`);
  });
}
