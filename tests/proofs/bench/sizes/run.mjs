/** `bench:sizes`: measures the bytes of each library in an application that imports it as documented. */
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";

const RIVALS = join(import.meta.dirname, "..", "rivals");

/**
 * The imports of each library in an application, by what the application uses it for. Our package comes
 * first. The report shows the size of the full zod in another section.
 */
export const USES = {
  "a client of a service": {
    "impact-pledge": 'export { PledgeClient } from "impact-pledge";',
    "all of impact-pledge": 'export * from "impact-pledge";',
    "stripe-node": 'export { default } from "stripe";',
    openai: 'export { default } from "openai";',
  },
  "a check of a value": {
    "impact-pledge": 'export { validate } from "impact-pledge";',
    "all of impact-pledge": 'export * from "impact-pledge/validate";',
    "zod/mini": 'export { check } from "./zod-mini.mjs";',
  },
};

/** @returns {Promise<{use: string, name: string, minified: number, brotli: number}[]>} */
export function run() {
  const rows = Object.entries(USES).flatMap(([use, libraries]) =>
    Object.entries(libraries).map(([name, contents]) => ({ use, name, contents })),
  );
  return Promise.all(
    rows.map(async ({ contents, ...row }) => ({ ...row, ...(await sizesOf(contents)) })),
  );
}

/**
 * Returns the sizes of this code as one bundled file. The bundle contains no modules of Node, so it runs in
 * a page and in a Worker.
 */
async function sizesOf(contents) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: RIVALS },
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "esm",
    target: "es2022",
    platform: "browser",
    conditions: ["worker"],
    write: false,
    logLevel: "error",
  });
  const [{ contents: bytes }] = outputFiles;
  return { minified: bytes.length, brotli: brotliCompressSync(bytes).length };
}
