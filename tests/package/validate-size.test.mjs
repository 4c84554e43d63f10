/** What the package's entries cost a page: bytes after esbuild has minified them and brotli has packed them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const pkg = join(import.meta.dirname, "..", "..", "pkg");

/** What is imported from which entry, the most bytes, and how far below we may come before the budget must follow. */
const BUDGETS = [
  ["{ validate }", "validate.js", 9_000, 300],
  ["*", "validate.js", 10_400, 300],
  ["*", "form.js", 15_000, 3_000],
  ["*", "index.js", 45_000, 5_000],
];

for (const [what, entry, budget, slack] of BUDGETS) {
  test(`export ${what} from ${entry} costs at most ${budget} bytes`, async () => {
    const contents = `export ${what} from ${JSON.stringify(join(pkg, entry))};`;
    const { outputFiles } = await build({ stdin: { contents, resolveDir: import.meta.dirname }, bundle: true, minify: true, format: "esm", write: false });
    const { length } = brotliCompressSync(outputFiles[0].contents);
    assert.ok(length <= budget, `${length} bytes`);
    assert.ok(length > budget - slack, `${length} bytes: lower the budget`);
  });
}
