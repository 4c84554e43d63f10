/** Bundlers: what they make must run in a page that forbids eval, and where they can, in Node. */
const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title><script type="module" src="./SCRIPT"></script></head><body></body></html>
`;

const html = (script) => HTML.replace("SCRIPT", script);

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  {
    name: "vite-dev",
    version: (place) => place.version("vite"),
    async run(place) {
      place.copy();
      place.write("index.html", html("page.mjs"));
      const origin = await place.start((port) => [
        place.tool("vite", "bin", "vite.js"),
        "--host",
        "127.0.0.1",
        "--port",
        String(port),
        "--strictPort",
      ]);
      await place.mustShow(`${origin}/`);
    },
  },
  {
    name: "vite-build",
    version: (place) => place.version("vite"),
    async run(place) {
      place.copy();
      place.write("index.html", html("page.mjs"));
      await place.node(place.tool("vite", "bin", "vite.js"), "build");
      await place.mustShow(`${await place.serve("dist")}/`);
    },
  },
  {
    name: "webpack",
    version: (place) => place.version("webpack"),
    run: (place) =>
      bundle(place, {
        page: [
          place.tool("webpack-cli", "bin", "cli.js"),
          "./page.mjs",
          "--mode",
          "production",
          "--output-path",
          "dist",
          "--output-filename",
          "page.js",
        ],
        node: [
          place.tool("webpack-cli", "bin", "cli.js"),
          "./console.mjs",
          "--mode",
          "production",
          "--target",
          "node",
          "--output-path",
          "dist",
          "--output-filename",
          "console.cjs",
        ],
      }),
  },
  {
    name: "esbuild",
    version: (place) => place.version("esbuild"),
    run: (place) =>
      bundle(place, {
        page: [
          place.tool("esbuild", "bin", "esbuild"),
          "page.mjs",
          "--bundle",
          "--minify",
          "--format=esm",
          "--outfile=dist/page.js",
        ],
        node: [
          place.tool("esbuild", "bin", "esbuild"),
          "console.cjs",
          "--bundle",
          "--minify",
          "--platform=node",
          "--outfile=dist/console.cjs",
        ],
      }),
  },
  {
    name: "rollup",
    version: (place) => place.version("rollup"),
    run: (place) =>
      bundle(place, {
        page: [
          place.tool("rollup", "dist", "bin", "rollup"),
          "page.mjs",
          "--plugin",
          "node-resolve",
          "--format",
          "es",
          "--file",
          "dist/page.js",
        ],
        node: [
          place.tool("rollup", "dist", "bin", "rollup"),
          "console.mjs",
          "--plugin",
          "node-resolve",
          "--format",
          "es",
          "--file",
          "dist/console.mjs",
        ],
      }),
  },
];

async function bundle(place, { page, node }) {
  place.copy();
  await place.node(...page);
  await place.node(...node);
  place.write("dist/index.html", html("page.js"));
  await place.mustShow(`${await place.serve("dist")}/`);
  await place.mustPrint(
    process.execPath,
    `dist/${node.at(-1).includes(".mjs") ? "console.mjs" : "console.cjs"}`,
  );
}
